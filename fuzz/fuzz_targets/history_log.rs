//! Any bytes as what stands in a log of Jepsen behind an operation that failed.

#![no_main]

#[path = "../../src/history/read/tests/any_bytes.rs"]
mod any_bytes;

use libfuzzer_sys::fuzz_target;
use stormglass::{history, op};

const BEFORE: &[u8] = b"INFO [12:00] jepsen worker 0 - jepsen.util 0\t:info\t:read\t1\t";

fuzz_target!(|data: &[u8]| any_bytes::read_in_all_ways(&[BEFORE, data].concat(), 64));
