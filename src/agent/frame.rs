//! Netlink frames: a batch of changes to nf_tables, a request to dump them, any other request, and what
//! comes back. No socket.

use super::attribute::{Attributes, pad, take};

pub const ERROR: u16 = 0x2;
pub const DONE: u16 = 0x3;
/// Flags of a change: make it, or add it at the end of a chain.
pub const CREATE: u16 = 0x400;
pub const APPEND: u16 = 0x800;

const SUBSYSTEM_NFTABLES: u16 = 10;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;

const REQUEST: u16 = 0x1;
pub const ACK: u16 = 0x4;
pub const DUMP: u16 = 0x300;
/// Flag of a change: only where there is none yet.
pub const EXCLUSIVE: u16 = 0x200;
/// Flag of a change: in place of what is there.
pub const REPLACE: u16 = 0x100;
const DUMP_INTERRUPTED: u16 = 0x10;

const HEADER_LENGTH: usize = 16;
const FAMILY_HEADER_LENGTH: usize = 4;

/// One change, and what to call it when the kernel refuses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: u16,
    pub flags: u16,
    pub family: u8,
    pub attributes: Attributes,
    pub purpose: String,
}

/// The whole batch as it goes to the kernel; the first change has the sequence after `first`.
pub fn batch(changes: &[Change], first: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_frame(&mut bytes, BATCH_BEGIN, REQUEST, first, 0, SUBSYSTEM_NFTABLES, &[]);
    let mut sequence = first + 1;
    for change in changes {
        let kind = SUBSYSTEM_NFTABLES << 8 | change.kind;
        let flags = REQUEST | ACK | change.flags;
        let attributes = change.attributes.as_bytes();
        put_frame(&mut bytes, kind, flags, sequence, change.family, 0, attributes);
        sequence += 1;
    }
    put_frame(&mut bytes, BATCH_END, REQUEST, sequence, 0, SUBSYSTEM_NFTABLES, &[]);
    bytes
}

/// Asks for all objects of a kind.
pub fn dump(kind: u16, sequence: u32, family: u8, attributes: &Attributes) -> Vec<u8> {
    let kind = SUBSYSTEM_NFTABLES << 8 | kind;
    let mut bytes = Vec::new();
    put_frame(&mut bytes, kind, REQUEST | DUMP, sequence, family, 0, attributes.as_bytes());
    bytes
}

/// A request to a subsystem that is not netfilter; `body` begins with that subsystem's own header.
pub fn plain(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_LENGTH + body.len());
    put_header(&mut bytes, kind, REQUEST | flags, sequence, body.len());
    bytes.extend(body);
    pad(&mut bytes);
    bytes
}

fn put_header(bytes: &mut Vec<u8>, kind: u16, flags: u16, sequence: u32, body_length: usize) {
    let length = HEADER_LENGTH + body_length;
    bytes.extend((length as u32).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    // The port: the kernel fills in ours.
    bytes.extend(0u32.to_ne_bytes());
}

fn put_frame(
    bytes: &mut Vec<u8>,
    kind: u16,
    flags: u16,
    sequence: u32,
    family: u8,
    resource: u16,
    attributes: &[u8],
) {
    put_header(bytes, kind, flags, sequence, FAMILY_HEADER_LENGTH + attributes.len());
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(attributes);
    pad(bytes);
}

/// One message from the kernel.
pub struct Frame<'a> {
    pub kind: u16,
    pub sequence: u32,
    pub body: &'a [u8],
    flags: u16,
}

impl<'a> Frame<'a> {
    pub fn attributes(&self) -> &'a [u8] {
        self.body.get(FAMILY_HEADER_LENGTH..).unwrap_or_default()
    }

    /// The code of an `ERROR` or `DONE` frame; 0 is success.
    pub fn errno(&self) -> i32 {
        -i32::from_ne_bytes(take(self.body, 0).unwrap_or_default())
    }

    /// The tables changed while they were dumped.
    pub fn is_interrupted(&self) -> bool {
        self.flags & DUMP_INTERRUPTED != 0
    }
}

pub fn frames(bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(take(rest, 0)?) as usize;
        let kind = u16::from_ne_bytes(take(rest, 4)?);
        let flags = u16::from_ne_bytes(take(rest, 6)?);
        let sequence = u32::from_ne_bytes(take(rest, 8)?);
        let body = rest.get(HEADER_LENGTH..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Frame { kind, sequence, body, flags })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(purpose: &str) -> Change {
        let attributes = Attributes::new().text(1, "sg_a_f1");
        Change { kind: 0, flags: CREATE, family: 7, attributes, purpose: purpose.to_owned() }
    }

    #[test]
    fn a_batch_is_framed_and_numbered() {
        let bytes = batch(&[change("one"), change("two")], 40);
        let read: Vec<(u16, u32, u16)> =
            frames(&bytes).map(|frame| (frame.kind, frame.sequence, frame.flags)).collect();
        let wanted = REQUEST | ACK | CREATE;
        assert_eq!(
            read,
            [(0x10, 40, REQUEST), (0xa00, 41, wanted), (0xa00, 42, wanted), (0x11, 43, REQUEST)]
        );
    }

    #[test]
    fn a_frame_carries_family_and_attributes() {
        let bytes = batch(&[change("one")], 1);
        let frame = frames(&bytes).nth(1).expect("the change");
        assert_eq!(frame.body[..4], [7, 0, 0, 0]);
        assert_eq!(frame.attributes(), change("one").attributes.as_bytes());
    }

    #[test]
    fn frames_cut_short_end_the_reading() {
        let bytes = batch(&[change("one")], 1);
        for length in 0..bytes.len() {
            assert!(frames(&bytes[..length]).count() < 3, "of {length} bytes");
        }
        assert_eq!(frames(&[0; 64]).count(), 0);
    }
}
