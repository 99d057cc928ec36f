//! The page through which a detour is steered: its layout, as bytes. Pure.
//!
//! ```text
//!    0  mark, version
//!   16  where the moved beginnings of clock_gettime and gettimeofday are
//!   32  the slot in force, 0 or 1
//!   64  what was overwritten: three times address, bytes
//!  128  two slots: number, wall {anchor, offset, rate}, monotonic {anchor, offset, rate}, number
//!  256  calls that the agent itself has made
//!  384  calls answered with a shifted reading
//! ```
//!
//! A change writes the slot that is not in force and then puts it in force with a single byte, so the
//! process never waits for a writer, whatever becomes of it. A slot whose two numbers differ is being
//! written; who has read one while it went out of force reads again.

use crate::agent::attribute::take;
use crate::agent::clock::shift::{Shift, Shifts};

pub const PAGE: u64 = 0x1000;
/// The page's layout and the code that reads it, as one version.
const MARK: [u8; 16] = *b"stormglass\0\0\0\0\0\x01";

pub const CLOCK_GETTIME: u64 = 16;
pub const GETTIMEOFDAY: u64 = 24;
pub const IN_FORCE: u64 = 32;
const PATCHES: u64 = 64;
pub const SLOTS: u64 = 128;
pub const SLOT_LENGTH: u64 = 64;
/// Within a slot, and likewise within the two places for counts.
pub const WALL: u64 = 8;
pub const MONOTONIC: u64 = 32;
pub const LAST_NUMBER: u64 = 56;
pub const OWN_CALLS: u64 = 256;
pub const CALLS: u64 = 384;

/// How many functions are detoured.
pub const FUNCTIONS: usize = 3;
const PATCH_LENGTH: u64 = 16;

/// What stood at a function's beginning, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    pub address: u64,
    pub original: u64,
}

/// One of the two slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub number: u64,
    pub shifts: Shifts,
}

/// A control page as read from a process.
#[derive(Clone, Debug)]
pub struct Control {
    bytes: Vec<u8>,
}

impl Control {
    /// `None` where the page is not one of ours, or of another version.
    pub fn parse(bytes: Vec<u8>) -> Option<Control> {
        let ours = bytes.len() as u64 == PAGE && bytes.starts_with(&MARK);
        ours.then_some(Control { bytes })
    }

    /// A page that shifts nothing.
    pub fn new(clock_gettime: u64, gettimeofday: u64, patches: [Patch; FUNCTIONS]) -> Control {
        let mut control = Control { bytes: vec![0; PAGE as usize] };
        control.bytes[..MARK.len()].copy_from_slice(&MARK);
        control.put(CLOCK_GETTIME, clock_gettime);
        control.put(GETTIMEOFDAY, gettimeofday);
        for (place, patch) in (PATCHES..).step_by(PATCH_LENGTH as usize).zip(patches) {
            control.put(place, patch.address);
            control.put(place + 8, patch.original);
        }
        control
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn patches(&self) -> [Patch; FUNCTIONS] {
        std::array::from_fn(|index| {
            let place = PATCHES + index as u64 * PATCH_LENGTH;
            Patch { address: self.get(place), original: self.get(place + 8) }
        })
    }

    /// Where the slot in force is, and where the other.
    pub fn slot_places(&self) -> (u64, u64) {
        match self.bytes[IN_FORCE as usize] & 1 {
            0 => (SLOTS, SLOTS + SLOT_LENGTH),
            _ => (SLOTS + SLOT_LENGTH, SLOTS),
        }
    }

    pub fn in_force(&self) -> Slot {
        let place = self.slot_places().0;
        let shift = |clock| {
            let at = |field| self.get(place + clock + field) as i64;
            Shift { anchor_ns: at(0), offset_ns: at(8), rate: at(16) }
        };
        let shifts = Shifts { wall: shift(WALL), monotonic: shift(MONOTONIC) };
        Slot { number: self.get(place), shifts }
    }

    /// Shifted readings that the process itself has asked for. A few may have gone uncounted where
    /// threads asked at the same time.
    pub fn calls(&self, clock: u64) -> u64 {
        self.get(CALLS + clock).saturating_sub(self.own_calls(clock))
    }

    pub fn own_calls(&self, clock: u64) -> u64 {
        self.get(OWN_CALLS + clock)
    }

    fn get(&self, place: u64) -> u64 {
        take(&self.bytes, place as usize).map(u64::from_le_bytes).unwrap_or_default()
    }

    fn put(&mut self, place: u64, value: u64) {
        let place = place as usize;
        self.bytes[place..place + 8].copy_from_slice(&value.to_le_bytes());
    }
}

impl Slot {
    /// The slot's bytes between its two numbers.
    pub fn body(&self) -> Vec<u8> {
        let Shifts { wall, monotonic } = self.shifts;
        let fields = [wall, monotonic].map(|shift| [shift.anchor_ns, shift.offset_ns, shift.rate]);
        fields.as_flattened().iter().flat_map(|field| field.to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_made() {
        let patch = |number| Patch { address: number, original: number * 3 };
        let patches = [patch(10), patch(20), patch(30)];
        let control = Control::new(1, 2, patches);
        let read = Control::parse(control.bytes().to_vec()).expect("one of ours");
        assert_eq!(read.patches(), patches);
        assert_eq!((read.get(CLOCK_GETTIME), read.get(GETTIMEOFDAY)), (1, 2));
        assert_eq!(read.in_force(), Slot { number: 0, shifts: Shifts::default() });
        assert_eq!((read.calls(WALL), read.calls(MONOTONIC)), (0, 0));
    }

    #[test]
    fn the_slot_in_force_is_the_one_that_is_read() {
        let shift = |number| Shift { anchor_ns: number, offset_ns: number + 1, rate: number + 2 };
        let slot = Slot { number: 9, shifts: Shifts { wall: shift(10), monotonic: shift(20) } };
        let mut control = Control::new(0, 0, [Patch { address: 0, original: 0 }; FUNCTIONS]);
        let (_, other) = control.slot_places();
        control.put(other, slot.number);
        control.bytes[other as usize + 8..][..48].copy_from_slice(&slot.body());
        control.put(other + LAST_NUMBER, slot.number);
        assert_eq!(control.in_force().number, 0);
        control.bytes[IN_FORCE as usize] = 1;
        assert_eq!(control.in_force(), slot);
        assert_eq!(control.slot_places(), (other, SLOTS));
    }

    #[test]
    fn calls_of_the_agent_are_not_the_programs() {
        let mut control = Control::new(0, 0, [Patch { address: 0, original: 0 }; FUNCTIONS]);
        control.put(CALLS + WALL, 12);
        control.put(OWN_CALLS + WALL, 10);
        control.put(OWN_CALLS + MONOTONIC, 1);
        assert_eq!((control.calls(WALL), control.calls(MONOTONIC)), (2, 0));
    }

    #[test]
    fn pages_of_others_and_of_other_versions_are_not_ours() {
        let ours = Control::new(0, 0, [Patch { address: 0, original: 0 }; FUNCTIONS]);
        let mut other = ours.bytes().to_vec();
        other[15] += 1;
        assert!(Control::parse(other).is_none());
        assert!(Control::parse(ours.bytes()[..64].to_vec()).is_none());
        assert!(Control::parse(vec![0; PAGE as usize]).is_none());
    }
}
