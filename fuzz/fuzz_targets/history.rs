//! Histories of any bytes, in whatever form they seem to be: no panic, the same in any pieces, and what was
//! read survives being written.

#![no_main]

#[path = "../../src/history/read/tests/any_bytes.rs"]
mod any_bytes;

use libfuzzer_sys::fuzz_target;
use stormglass::{history, op};

fuzz_target!(|data: &[u8]| {
    let (piece, bytes) = data.split_first().unwrap_or((&0, data));
    any_bytes::read_in_all_ways(bytes, usize::from(*piece));
});
