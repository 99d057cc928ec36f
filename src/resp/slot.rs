//! Which of the 16384 hash slots a key belongs to, as Redis Cluster says it.

use crc::{CRC_16_XMODEM, Crc};

pub const SLOTS: u16 = 16384;

const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key: that of what stands between the first `{` and the next `}`, if anything does.
pub fn slot_of(key: &[u8]) -> u16 {
    CRC16.checksum(hashed(key)) % SLOTS
}

fn hashed(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|byte| *byte == b'{') else { return key };
    let inner = &key[open + 1..];
    match inner.iter().position(|byte| *byte == b'}') {
        None | Some(0) => key,
        Some(close) => &inner[..close],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_that_kvrocks_gave() {
        // Seen in replies of the real program.
        let seen = [("{a}b", 15495), ("k2", 449), ("k0", 8579), ("{t21117}k1", 5000)];
        for (key, slot) in seen {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
        assert_eq!(slot_of(b"123456789"), 0x31c3);
        assert_eq!(slot_of(b""), 0);
    }

    #[test]
    fn only_a_tag_that_is_not_empty_counts() {
        assert_eq!(slot_of(b"{tag}x"), slot_of(b"tag"));
        assert_eq!(slot_of(b"x{tag}{y}"), slot_of(b"tag"));
        assert_eq!(slot_of(b"{{tag}"), slot_of(b"{tag"));
        assert_ne!(slot_of(b"{}x"), slot_of(b""));
        assert_ne!(slot_of(b"{tag"), slot_of(b"tag"));
    }
}
