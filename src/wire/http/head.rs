//! An HTTP/1 message's head: where it ends, its first line, and what its fields say of the body.

use super::body::Body;

/// Where the head ends that begins at 0; what is before `from` was looked at already.
pub fn end(bytes: &[u8], from: usize) -> Option<usize> {
    // Empty lines before the first line are to be passed over.
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte))?;
    let first = from.saturating_sub(2).max(start);
    (first..bytes.len()).find_map(|index| match bytes[index..] {
        [b'\n', b'\n', ..] => Some(index + 2),
        [b'\n', b'\r', b'\n', ..] => Some(index + 3),
        _ => None,
    })
}

pub struct Head<'a> {
    /// Its words: method, target and version, or version, status and reason.
    pub first_line: Vec<&'a [u8]>,
    fields: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Head<'a> {
    pub fn parse(bytes: &'a [u8]) -> Option<Head<'a>> {
        let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.find(|line| !line.is_empty())?;
        let fields = lines.take_while(|line| !line.is_empty()).map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
        });
        let first_line = first.split(|byte| *byte == b' ').collect();
        Some(Head { first_line, fields: fields.collect::<Option<Vec<_>>>()? })
    }

    pub fn status(&self) -> Option<u16> {
        let [version, status, ..] = self.first_line[..] else { return None };
        let is_status = version.starts_with(b"HTTP/1.") && status.len() == 3;
        number(status).filter(|_| is_status).and_then(|status| status.try_into().ok())
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let is_named = |field: &&[u8]| field.eq_ignore_ascii_case(name.as_bytes());
        self.fields.iter().filter(move |(field, _)| is_named(field)).map(|(_, value)| *value)
    }

    /// What the fields say of the body: `Some(None)` nothing, `None` what cannot be.
    pub fn body(&self) -> Option<Option<Body>> {
        let codings = self.all("transfer-encoding");
        let mut codings = codings.flat_map(|value| value.split(|byte| *byte == b','));
        if codings.any(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked")) {
            return Some(Some(Body::chunked()));
        }
        let mut lengths = self.all("content-length");
        let Some(first) = lengths.next() else { return Some(None) };
        let length = number(first)?;
        lengths.all(|other| other == first).then_some(Some(Body::Length(length)))
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
}
