//! Any lines packed into frames, whose end is cut off.

#![no_main]

#[path = "../../src/history/read/tests/any_bytes.rs"]
mod any_bytes;

use libfuzzer_sys::fuzz_target;
use stormglass::{history, op};

fuzz_target!(|data: &[u8]| {
    let (cut, lines) = data.split_first().unwrap_or((&0, data));
    let mut encoder = history::FrameEncoder::new().expect("an encoder");
    let (first, second) = lines.split_at(lines.len() / 2);
    let frames = [first, second].map(|lines| encoder.encode(lines).expect("in memory")).concat();
    let end = frames.len().saturating_sub(usize::from(*cut));
    any_bytes::read_in_all_ways(&frames[..end], 64);
});
