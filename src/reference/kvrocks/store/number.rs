//! Numbers in words: how kvrocks reads and writes them.

use super::call::Refusal;

/// A whole number in decimal digits, all of the word.
pub fn integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// An argument that must be a whole number.
pub fn argument(word: &[u8]) -> Result<i64, Refusal> {
    integer(word).ok_or_else(Refusal::not_integer)
}

/// What is wrong with a word that is no whole number, as kvrocks' parser says it.
pub fn parse_error(word: &[u8]) -> &'static str {
    let digits = word.strip_prefix(b"-").or_else(|| word.strip_prefix(b"+")).unwrap_or(word);
    match digits.iter().position(|byte| !byte.is_ascii_digit()) {
        Some(0) => "not started as an integer",
        Some(_) => "encounter non-integer characters",
        None if digits.is_empty() => "not started as an integer",
        None => "Numerical result out of range",
    }
}

/// A number, all of the word; not NaN.
pub fn float(word: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

/// As C's `%.17g` writes it: 17 digits at most, and no zeros behind.
pub fn shortest(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let bare = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..17).contains(&exponent) {
        return bare(&format!("{number:.*}", (16 - exponent).unsigned_abs() as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", bare(mantissa), exponent.unsigned_abs())
}

/// Indexes `start..end` of `length` things, both given ends included and negative ones counted from the
/// end; empty where nothing is between them.
pub fn span(start: i64, stop: i64, length: usize) -> std::ops::Range<usize> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let absolute = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let start = absolute(start).max(0);
    let end = absolute(stop).saturating_add(1).min(length);
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start < end => start..end,
        _ => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_c_writes_them() {
        for (number, text) in [
            (16.5, "16.5"),
            (0.0, "0"),
            (-3.0, "-3"),
            (0.1, "0.10000000000000001"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (0.0001, "0.0001"),
            (1.5e-7, "1.4999999999999999e-07"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(shortest(number), text);
        }
    }

    #[test]
    fn spans_are_those_of_a_list() {
        assert_eq!(span(0, -1, 3), 0..3);
        assert_eq!(span(-2, 100, 3), 1..3);
        assert_eq!(span(-100, 0, 3), 0..1);
        assert_eq!(span(2, 1, 3), 0..0);
        assert_eq!(span(5, 9, 3), 0..0);
        assert_eq!(span(0, -1, 0), 0..0);
        assert_eq!(span(i64::MIN, i64::MAX, 3), 0..3);
    }
}
