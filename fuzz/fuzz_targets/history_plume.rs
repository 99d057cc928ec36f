//! Any bytes after the first step of a history that places steps in transactions.

#![no_main]

#[path = "../../src/history/read/tests/any_bytes.rs"]
mod any_bytes;

use libfuzzer_sys::fuzz_target;
use stormglass::{history, op};

const BEFORE: &[u8] = b"w(1,1,0,0)\n";

fuzz_target!(|data: &[u8]| any_bytes::read_in_all_ways(&[BEFORE, data].concat(), 64));
