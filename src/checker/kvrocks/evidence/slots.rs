//! Ranges of hash slots as nodes and controllers write them: `0-100,130`.

/// Slots in ascending ranges, both ends included.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::checker) struct Slots(Vec<(u16, u16)>);

impl Slots {
    /// `None` where a part of the text is neither a slot nor a range.
    pub fn parse(text: &str) -> Option<Slots> {
        let parts = text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty());
        let mut ranges = parts.map(range).collect::<Option<Vec<_>>>()?;
        ranges.sort_unstable();
        Some(Slots(ranges))
    }

    pub fn contains(&self, slot: u16) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= slot);
        after.checked_sub(1).is_some_and(|before| slot <= self.0[before].1)
    }

    /// The slot, if it is a single one.
    pub fn single(&self) -> Option<u16> {
        match self.0.as_slice() {
            [(first, last)] if first == last => Some(*first),
            _ => None,
        }
    }
}

fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_slots_are_told_apart_and_nonsense_is_none() {
        let slots = Slots::parse("8192-16383, 130,0-100").expect("slots");
        for (slot, within) in [(0, true), (100, true), (101, false), (130, true), (16383, true)] {
            assert_eq!(slots.contains(slot), within, "{slot}");
        }
        assert_eq!(Slots::parse("130").and_then(|slots| slots.single()), Some(130));
        assert_eq!(slots.single(), None);
        assert_eq!(Slots::parse(""), Some(Slots::default()));
        for nonsense in ["a", "5-3", "1-2-3", "70000"] {
            assert_eq!(Slots::parse(nonsense), None, "{nonsense}");
        }
    }
}
