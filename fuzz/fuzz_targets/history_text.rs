//! Any bytes as the value of a line of Jepsen's `history.txt`.

#![no_main]

#[path = "../../src/history/read/tests/any_bytes.rs"]
mod any_bytes;

use libfuzzer_sys::fuzz_target;
use stormglass::{history, op};

const BEFORE: &[u8] = b"0\t:ok\t:read\t1\n0\t:ok\t:read\t";

fuzz_target!(|data: &[u8]| any_bytes::read_in_all_ways(&[BEFORE, data].concat(), 64));
