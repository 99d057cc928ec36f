//! Slots as commands name them: one, or a range with both ends.

use std::fmt;
use std::ops::RangeInclusive;

use crate::resp::SLOTS;

/// Slots from `first` to `last`, both included; never empty, never beyond the last slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotRange {
    first: u16,
    last: u16,
}

/// Why words name no slots, as kvrocks says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSlots {
    #[error("Invalid slot id: not started as an integer")]
    NotANumber,
    #[error("Invalid slot id: out of numeric range")]
    TooLarge,
    #[error("Invalid slot range")]
    Reversed,
}

impl SlotRange {
    /// `None` where it would be empty or beyond the last slot.
    pub fn new(first: u16, last: u16) -> Option<SlotRange> {
        (first <= last && last < SLOTS).then_some(SlotRange { first, last })
    }

    /// Reads `5000` or `8000-8010`.
    pub fn parse(text: &str) -> Result<SlotRange, NoSlots> {
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (slot(first)?, slot(last)?),
            None => (slot(text)?, slot(text)?),
        };
        SlotRange::new(first, last).ok_or(NoSlots::Reversed)
    }

    pub fn first(self) -> u16 {
        self.first
    }

    pub fn last(self) -> u16 {
        self.last
    }

    pub fn slots(self) -> RangeInclusive<u16> {
        self.first..=self.last
    }

    pub fn contains(self, slot: u16) -> bool {
        self.slots().contains(&slot)
    }
}

impl fmt::Display for SlotRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

fn slot(text: &str) -> Result<u16, NoSlots> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NoSlots::NotANumber);
    }
    text.parse().ok().filter(|slot| *slot < SLOTS).ok_or(NoSlots::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_and_written_as_commands_have_them() {
        for text in ["0", "5000", "8000-8010", "0-16383"] {
            assert_eq!(SlotRange::parse(text).map(|range| range.to_string()), Ok(text.to_owned()));
        }
        for (text, error) in [
            ("abc", NoSlots::NotANumber),
            ("", NoSlots::NotANumber),
            ("-1", NoSlots::NotANumber),
            ("99999", NoSlots::TooLarge),
            ("16384", NoSlots::TooLarge),
            ("9999999999999999999999", NoSlots::TooLarge),
            ("10-5", NoSlots::Reversed),
        ] {
            assert_eq!(SlotRange::parse(text), Err(error), "{text}");
        }
    }
}
