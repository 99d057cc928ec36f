//! An HTTP/1 message's body, counted to its end and not kept.

/// A line with a chunk's length, or of a trailer.
const LONGEST_LINE: usize = 8 * 1024;
const LONGEST_CHUNK: u64 = u64::MAX / 4;

pub enum Body {
    /// So many bytes are left.
    Length(u64),
    Chunked(Chunked),
    /// As long as the connection.
    ToTheEnd,
}

pub struct Chunked {
    at: At,
    line: Vec<u8>,
}

enum At {
    Size,
    /// What is left of a chunk with its line end.
    Data(u64),
    Trailer,
}

impl Body {
    pub fn chunked() -> Body {
        Body::Chunked(Chunked { at: At::Size, line: Vec::new() })
    }

    /// Takes what belongs to the body; whether it is over then, `None` where it cannot be read.
    pub fn pass(&mut self, bytes: &[u8]) -> (usize, Option<bool>) {
        match self {
            Body::Length(left) => {
                let taken = take(left, bytes.len());
                (taken, Some(*left == 0))
            }
            Body::Chunked(chunked) => chunked.pass(bytes),
            Body::ToTheEnd => (bytes.len(), Some(false)),
        }
    }
}

fn take(left: &mut u64, available: usize) -> usize {
    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(available);
    *left -= taken as u64;
    taken
}

impl Chunked {
    fn pass(&mut self, bytes: &[u8]) -> (usize, Option<bool>) {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            if let At::Data(left) = &mut self.at {
                at += take(left, rest.len());
                if *left == 0 {
                    self.at = At::Size;
                }
                continue;
            }
            let end = rest.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(rest.len(), |end| end + 1);
            self.line.extend(&rest[..taken.min(LONGEST_LINE + 1)]);
            at += taken;
            if self.line.len() > LONGEST_LINE {
                return (at, None);
            }
            match end.map(|_| self.take_line()) {
                Some(Some(true)) => return (at, Some(true)),
                Some(None) => return (at, None),
                Some(Some(false)) | None => {}
            }
        }
        (at, Some(false))
    }

    /// Whether the body is over with this line.
    fn take_line(&mut self) -> Option<bool> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii();
        if matches!(self.at, At::Trailer) {
            return Some(line.is_empty());
        }
        let size = line.split(|byte| *byte == b';').next()?.trim_ascii_end();
        let is_hex = !size.is_empty() && size.iter().all(u8::is_ascii_hexdigit);
        let size = is_hex.then(|| std::str::from_utf8(size).ok())??;
        match u64::from_str_radix(size, 16).ok().filter(|size| *size <= LONGEST_CHUNK)? {
            0 => self.at = At::Trailer,
            size => self.at = At::Data(size + 2),
        }
        Some(false)
    }
}
