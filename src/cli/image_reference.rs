//! Whether a text can name an image: told before anything is asked of an engine.

/// `[host[:port]/]name[:tag][@digest]`, as engines read it.
pub fn check(text: &str) -> Result<(), String> {
    let (named, digest) = match text.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (text, None),
    };
    // A colon before the last slash is that of a port.
    let path = named.rfind('/').map_or(0, |slash| slash + 1);
    let (name, tag) = match named[path..].split_once(':') {
        Some((last, tag)) => (&named[..path + last.len()], Some(tag)),
        None => (named, None),
    };
    let parts: Vec<&str> = name.split('/').collect();
    let (host, rest) = match parts.as_slice() {
        [first, rest @ ..] if !rest.is_empty() && is_host(first) => (Some(*first), rest),
        all => (None, all),
    };
    let is_sound = host.is_none_or(|host| !host.starts_with(':'))
        && rest.iter().all(|part| is_part(part))
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    match is_sound {
        true => Ok(()),
        false => Err(format!(
            "expected an image such as apache/kvrocks:2.10.1, its name in small letters and digits, \
             found `{text}`"
        )),
    }
}

fn is_host(part: &str) -> bool {
    let is_plain = part.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c));
    is_plain && (part.contains(['.', ':']) || part == "localhost")
}

fn is_part(part: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let has_ends = part.starts_with(is_end) && part.ends_with(is_end);
    has_ends && part.chars().all(|c| is_end(c) || "._-".contains(c))
}

fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=128).contains(&tag.len())
        && tag.starts_with(is_word)
        && tag.chars().all(|c| is_word(c) || ".-".contains(c))
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        !algorithm.is_empty() && hex.len() >= 32 && hex.chars().all(|c| c.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_are_told_from_other_texts() {
        let digest = "0123456789abcdef".repeat(4);
        for sound in [
            "reference",
            "zookeeper:3.9",
            "apache/kvrocks:2.10.1",
            "localhost:5000/kvrocks",
            "Registry.example.org/team/kvrocks:V2",
            "stormglass/kvrocks_dev:a-b.c",
            &format!("kvrocks@sha256:{digest}"),
            &format!("kvrocks:2@sha256:{digest}"),
            &format!("sha256:{digest}"),
            &digest,
        ] {
            assert_eq!(check(sound), Ok(()), "{sound}");
        }
        for flawed in [
            "",
            "Bad Name",
            "Kvrocks",
            "apache/Kvrocks",
            "kvrocks:",
            "kvrocks:2.10 ",
            "kvrocks:a:b",
            "/kvrocks",
            "apache//kvrocks",
            "kvrocks@sha256:12",
            "-kvrocks",
            "kvrocks:tag/",
        ] {
            assert!(check(flawed).is_err(), "{flawed}");
        }
    }
}
