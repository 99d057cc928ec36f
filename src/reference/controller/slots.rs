//! Ranges of hash slots as the controller writes them: `100` or `0-8191`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The last hash slot.
pub const LAST_SLOT: u16 = 16383;

/// From a slot to a slot, both within.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SlotRange {
    pub start: u16,
    pub stop: u16,
}

impl SlotRange {
    pub fn overlaps(self, other: SlotRange) -> bool {
        self.start <= other.stop && other.start <= self.stop
    }
}

/// Equal shares for so many shards; the last one takes what is left over.
pub fn shares(shards: usize) -> Vec<SlotRange> {
    let shards = u16::try_from(shards).unwrap_or(LAST_SLOT).clamp(1, LAST_SLOT);
    let size = (LAST_SLOT + 1) / shards;
    let stop = |index| if index == shards - 1 { LAST_SLOT } else { (index + 1) * size - 1 };
    (0..shards).map(|index| SlotRange { start: index * size, stop: stop(index) }).collect()
}

/// The ranges with one more, sorted, neighbours joined.
pub fn with(ranges: &[SlotRange], more: SlotRange) -> Vec<SlotRange> {
    let mut all = ranges.to_vec();
    all.push(more);
    all.sort();
    let mut joined: Vec<SlotRange> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.stop.saturating_add(1) => {
                last.stop = last.stop.max(range.stop);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// The ranges without these slots.
pub fn without(ranges: &[SlotRange], less: SlotRange) -> Vec<SlotRange> {
    let mut left = Vec::new();
    for range in ranges {
        if !range.overlaps(less) {
            left.push(*range);
            continue;
        }
        if range.start < less.start {
            left.push(SlotRange { stop: less.start - 1, ..*range });
        }
        if range.stop > less.stop {
            left.push(SlotRange { start: less.stop + 1, ..*range });
        }
    }
    left
}

impl fmt::Display for SlotRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start == self.stop {
            true => write!(f, "{}", self.start),
            false => write!(f, "{}-{}", self.start, self.stop),
        }
    }
}

impl From<SlotRange> for String {
    fn from(range: SlotRange) -> String {
        range.to_string()
    }
}

/// The error is in the real one's words: clients see it.
impl FromStr for SlotRange {
    type Err = String;

    fn from_str(text: &str) -> Result<SlotRange, String> {
        let (start, stop) = text.split_once('-').unwrap_or((text, text));
        let (start, stop) = (number(start)?, number(stop)?);
        if start > stop {
            return Err("start slot id greater than stop slot id".to_owned());
        }
        let slot = |number| u16::try_from(number).ok().filter(|slot| *slot <= LAST_SLOT);
        match (slot(start), slot(stop)) {
            (Some(start), Some(stop)) => Ok(SlotRange { start, stop }),
            _ => Err("slot id was out of range, should be between 0 and 16383".to_owned()),
        }
    }
}

impl TryFrom<String> for SlotRange {
    type Error = String;

    fn try_from(text: String) -> Result<SlotRange, String> {
        text.parse()
    }
}

fn number(text: &str) -> Result<i64, String> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    text.parse::<i64>().map_err(|error| {
        let why = match error.kind() {
            NegOverflow | PosOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.Atoi: parsing {text:?}: {why}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn range(text: &str) -> SlotRange {
        text.parse().expect("a range")
    }

    fn text(ranges: &[SlotRange]) -> String {
        ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn a_range_is_read_as_it_is_written_and_refused_in_the_real_ones_words() {
        for good in ["0", "100", "0-16383", "8000-8010"] {
            assert_eq!(range(good).to_string(), good);
        }
        assert_eq!(range("7-7").to_string(), "7");
        for (bad, why) in [
            ("abc", "strconv.Atoi: parsing \"abc\": invalid syntax"),
            ("", "strconv.Atoi: parsing \"\": invalid syntax"),
            ("-5", "strconv.Atoi: parsing \"\": invalid syntax"),
            ("99999999999999999999", "value out of range"),
            ("16384", "between 0 and 16383"),
            ("0-70000", "between 0 and 16383"),
            ("5-4", "start slot id greater than stop slot id"),
        ] {
            let error = bad.parse::<SlotRange>().expect_err(bad);
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_slot_moves_from_one_shard_to_the_other() {
        assert_eq!(text(&without(&[range("0-8191")], range("110"))), "0-109,111-8191");
        assert_eq!(text(&without(&[range("0-3"), range("5-9")], range("2-6"))), "0-1,7-9");
        assert_eq!(text(&without(&[range("4")], range("4"))), "");
        assert_eq!(
            text(&with(&[range("110"), range("8192-16383")], range("111"))),
            "110-111,8192-16383"
        );
        assert_eq!(text(&with(&[], range("16000-16010"))), "16000-16010");
    }

    #[test]
    fn shares_cover_all_slots_once() {
        assert_eq!(text(&shares(2)), "0-8191,8192-16383");
        assert_eq!(text(&shares(3)), "0-5460,5461-10921,10922-16383");
        assert_eq!(text(&shares(0)), "0-16383");
    }

    #[test]
    fn adding_and_taking_are_those_of_sets() {
        let mut rng = Rng::from_seed(11);
        let (mut ranges, mut set) = (Vec::new(), std::collections::BTreeSet::new());
        for _ in 0..500 {
            let start = rng.below(40) as u16;
            let one = SlotRange { start, stop: start + rng.below(6) as u16 };
            let slots = one.start..=one.stop;
            if rng.chance(0.5) {
                ranges = with(&ranges, one);
                set.extend(slots);
            } else {
                ranges = without(&ranges, one);
                set.retain(|slot| !slots.contains(slot));
            }
            let found: Vec<u16> = ranges.iter().flat_map(|one| one.start..=one.stop).collect();
            assert_eq!(found, set.iter().copied().collect::<Vec<_>>());
            assert!(ranges.windows(2).all(|two| two[0].stop < two[1].start));
        }
    }
}
