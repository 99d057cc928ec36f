//! Any bytes as the value of an operation in EDN.

#![no_main]

#[path = "../../src/history/read/tests/any_bytes.rs"]
mod any_bytes;

use libfuzzer_sys::fuzz_target;
use stormglass::{history, op};

const BEFORE: &[u8] = b"{:type :ok, :process 0, :f :read, :value ";

fuzz_target!(|data: &[u8]| any_bytes::read_in_all_ways(&[BEFORE, data].concat(), 64));
