//! Netlink's encoding: messages that hold attributes that hold attributes. Pure bytes, no socket.
//!
//! Decoding takes whatever the kernel sends and skips what it does not understand; it never panics.

const NESTED: u16 = 0x8000;
const TYPE_MASK: u16 = 0x3fff;
const HEADER_LENGTH: usize = 4;

/// Attributes in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    bytes: Vec<u8>,
}

impl Attributes {
    pub fn new() -> Attributes {
        Attributes::default()
    }

    pub fn bytes(mut self, kind: u16, value: &[u8]) -> Attributes {
        let length = HEADER_LENGTH + value.len();
        debug_assert!(length <= usize::from(u16::MAX), "attribute of {length} bytes");
        self.bytes.extend((length as u16).to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(value);
        pad(&mut self.bytes);
        self
    }

    /// Text as the kernel wants it, with a closing zero.
    pub fn text(self, kind: u16, value: &str) -> Attributes {
        let mut bytes = value.as_bytes().to_vec();
        bytes.push(0);
        self.bytes(kind, &bytes)
    }

    /// nf_tables numbers are big-endian, whatever the machine.
    pub fn number(self, kind: u16, value: u32) -> Attributes {
        self.bytes(kind, &value.to_be_bytes())
    }

    /// Numbers of all but netfilter are the machine's own.
    pub fn native(self, kind: u16, value: u32) -> Attributes {
        self.bytes(kind, &value.to_ne_bytes())
    }

    pub fn nested(self, kind: u16, inner: Attributes) -> Attributes {
        self.bytes(kind | NESTED, &inner.bytes)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Pads to the four bytes that netlink aligns everything to.
pub fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// The attributes in these bytes, up to the first that is cut short.
pub fn decode(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(take(rest, 0)?));
        let kind = u16::from_ne_bytes(take(rest, 2)?) & TYPE_MASK;
        let value = rest.get(HEADER_LENGTH..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The first attribute of this kind.
pub fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    decode(bytes).find(|(found, _)| *found == kind).map(|(_, value)| value)
}

/// The attribute found by following these kinds inwards.
pub fn dig<'a>(bytes: &'a [u8], path: &[u16]) -> Option<&'a [u8]> {
    path.iter().try_fold(bytes, |inner, kind| find(inner, *kind))
}

pub fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.strip_suffix(&[0]).unwrap_or(value)).into_owned()
}

pub fn number(value: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(value.try_into().ok()?))
}

pub fn native(value: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(value.try_into().ok()?))
}

pub fn long_number(value: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(value.try_into().ok()?))
}

/// `N` bytes at an offset, if they are there.
pub fn take<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let inner = Attributes::new().number(1, 7).bytes(2, &[1, 2, 3]);
        let bytes = Attributes::new().text(1, "sg").nested(4, inner).number(5, 9);
        let bytes = bytes.as_bytes();
        assert_eq!(find(bytes, 1).map(text).as_deref(), Some("sg"));
        assert_eq!(dig(bytes, &[4, 1]).and_then(number), Some(7));
        assert_eq!(dig(bytes, &[4, 2]), Some(&[1u8, 2, 3][..]));
        assert_eq!(find(bytes, 5).and_then(number), Some(9));
        assert_eq!(find(bytes, 6), None);
        assert_eq!(bytes.len() % 4, 0);
    }

    #[test]
    fn bytes_cut_anywhere_are_read_as_far_as_they_go() {
        let whole = Attributes::new().text(1, "table").number(2, 3);
        for length in 0..whole.as_bytes().len() {
            let read = decode(&whole.as_bytes()[..length]).count();
            assert_eq!(read, usize::from(length >= 10), "of {length} bytes");
        }
    }

    #[test]
    fn a_length_below_the_header_ends_the_reading() {
        assert_eq!(decode(&[0, 0, 1, 0, 8, 0, 1, 0]).count(), 0);
        assert_eq!(decode(&[3, 0, 1, 0]).count(), 0);
    }
}
