//! Bytes from the wire as text for people: escaped, and cut where long.

/// Characters that a description of a message has at most.
const LONGEST: usize = 160;
/// Bytes of a value that are shown at most.
const LONGEST_VALUE: usize = 60;

/// A value between quotation marks.
pub fn quoted(value: &[u8]) -> String {
    let shown = &value[..value.len().min(LONGEST_VALUE)];
    let text: String = String::from_utf8_lossy(shown).escape_debug().collect();
    if shown.len() == value.len() {
        format!("\"{text}\"")
    } else {
        format!("\"{text}\"… ({} bytes)", value.len())
    }
}

/// A word as it is, without anything that would break a line.
pub fn plain(word: &[u8]) -> String {
    let word = String::from_utf8_lossy(word);
    if word.chars().any(char::is_control) { word.escape_debug().collect() } else { word.into() }
}

pub fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_one_short_line_whatever_the_bytes() {
        assert_eq!(quoted(b"1\n7\""), r#""1\n7\"""#);
        assert_eq!(quoted(&[b'x'; 100]), format!("\"{}\"… (100 bytes)", "x".repeat(60)));
        assert_eq!(plain(b"GET\r"), "GET\\r");
        assert_eq!(plain("/straße".as_bytes()), "/straße");
        assert_eq!(cut("é".repeat(200)).chars().count(), 161);
    }
}
