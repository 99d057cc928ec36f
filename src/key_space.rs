//! Hash slots, as Redis clusters and kvrocks number them, and the names of a workload's keys. Pure.

/// A key lies in one of so many slots.
pub const SLOTS: u16 = 16384;

/// The slot of a key: of what stands between its first `{` and the next `}`, if that is anything.
///
/// <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags>
pub fn hash_slot(key: &[u8]) -> u16 {
    crc16(tag(key)) % SLOTS
}

fn tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|byte| *byte == b'{') else { return key };
    let inner = &key[open + 1..];
    match inner.iter().position(|byte| *byte == b'}') {
        Some(length) if length > 0 => &inner[..length],
        _ => key,
    }
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| match crc & 0x8000 {
            0 => crc << 1,
            _ => (crc << 1) ^ 0x1021,
        })
    })
}

/// A short hash tag that lies in this slot.
fn tag_in(slot: u16) -> String {
    let tags = (0_u32..).map(|number| format!("t{number}"));
    let mut fitting = tags.filter(|tag| hash_slot(tag.as_bytes()) == slot % SLOTS);
    fitting.next().expect("every slot has tags")
}

/// What the keys of a workload, which are numbers in its operations, are called in the store.
///
/// Key `n` is `{tag}n`, where its tag, and so its slot, is one of a few in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpace {
    tags: Vec<(u16, String)>,
}

impl KeySpace {
    /// Keys in these slots.
    pub fn of_slots(slots: impl IntoIterator<Item = u16>) -> KeySpace {
        let tags: Vec<_> = slots.into_iter().map(|slot| (slot, tag_in(slot))).collect();
        assert!(!tags.is_empty(), "keys need a slot");
        KeySpace { tags }
    }

    /// Keys in so many slots, wherever those are.
    pub fn spread(count: usize) -> KeySpace {
        let tags = (1..=count.max(1)).map(|number| format!("s{number}"));
        KeySpace { tags: tags.map(|tag| (hash_slot(tag.as_bytes()), tag)).collect() }
    }

    fn tag(&self, key: i64) -> &(u16, String) {
        &self.tags[key.rem_euclid(self.tags.len() as i64) as usize]
    }

    /// The name of a key in the store.
    pub fn name(&self, key: i64) -> String {
        format!("{{{}}}{key}", self.tag(key).1)
    }

    /// The name of something that belongs to a key and lies in the same slot.
    pub fn part(&self, key: i64, part: &str) -> String {
        format!("{{{}}}{key}:{part}", self.tag(key).1)
    }

    pub fn slot(&self, key: i64) -> u16 {
        self.tag(key).0
    }

    /// All slots in use.
    pub fn slots(&self) -> impl Iterator<Item = u16> {
        self.tags.iter().map(|(slot, _)| *slot)
    }

    /// The name of the `number`-th key of other data in a slot in use.
    pub fn filler(&self, slot: u16, number: u32) -> Option<String> {
        let (_, tag) = self.tags.iter().find(|(one, _)| *one == slot)?;
        Some(format!("{{{tag}}}filler{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots as kvrocks 2.10.1 told them (`CLUSTER KEYSLOT`, and `MOVED` on these keys).
    #[test]
    fn slots_are_those_of_the_real_server() {
        for (key, slot) in [
            ("{a}b", 15495),
            ("k2", 449),
            ("{k2}c", 449),
            ("k0", 8579),
            ("{t21117}k0", 5000),
            ("{t196}k0", 5001),
        ] {
            assert_eq!(hash_slot(key.as_bytes()), slot, "{key}");
        }
        assert_eq!(hash_slot(b"123456789"), 0x31c3 % SLOTS);
    }

    #[test]
    fn only_a_first_tag_that_is_not_empty_counts() {
        for (key, same) in
            [("{user}.a", "user"), ("x{user}y", "user"), ("{a}{b}", "a"), ("{{a}}", "{a")]
        {
            assert_eq!(hash_slot(key.as_bytes()), hash_slot(same.as_bytes()), "{key}");
        }
        for whole in ["{}a", "{a", "a}b{", ""] {
            assert_eq!(tag(whole.as_bytes()), whole.as_bytes());
        }
    }

    #[test]
    fn keys_take_turns_in_the_slots_that_were_chosen() {
        let space = KeySpace::of_slots([1000, 3000]);
        assert_eq!(space.slots().collect::<Vec<_>>(), [1000, 3000]);
        for key in 0..6 {
            let expected = [1000, 3000][key as usize % 2];
            assert_eq!(space.slot(key), expected);
            for name in [space.name(key), space.part(key, "lock")] {
                assert_eq!(hash_slot(name.as_bytes()), expected, "{name}");
            }
        }
        let filler = space.filler(3000, 7).expect("a slot in use");
        assert_eq!(hash_slot(filler.as_bytes()), 3000);
        assert_eq!(space.filler(1, 7), None);
        let names: std::collections::BTreeSet<_> = (0..100).map(|key| space.name(key)).collect();
        assert_eq!(names.len(), 100);
    }

    #[test]
    fn spread_keys_lie_in_both_halves() {
        let space = KeySpace::spread(64);
        let low = space.slots().filter(|slot| *slot < 8192).count();
        assert!((20..44).contains(&low), "{low} of 64");
        for slot in [0, 16383] {
            assert_eq!(hash_slot(tag_in(slot).as_bytes()), slot);
        }
    }
}
