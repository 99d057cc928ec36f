//! Both directions of Resp: no panic, bounded memory, no byte left behind.

#![no_main]

mod conversation;

use libfuzzer_sys::fuzz_target;
use stormglass::cluster::Protocol;

fuzz_target!(|data: &[u8]| conversation::read(Protocol::Resp, data));
