//! Any bytes after the first line of a history of sessions.

#![no_main]

#[path = "../../src/history/read/tests/any_bytes.rs"]
mod any_bytes;

use libfuzzer_sys::fuzz_target;
use stormglass::{history, op};

const BEFORE: &[u8] = b"w 1 1\n";

fuzz_target!(|data: &[u8]| any_bytes::read_in_all_ways(&[BEFORE, data].concat(), 64));
