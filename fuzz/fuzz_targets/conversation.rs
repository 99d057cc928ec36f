//! A conversation from a fuzzer's bytes: who speaks, how much at once, and what.

use stormglass::cluster::Protocol;
use stormglass::wire::{Dialogue, HEAD_BYTES, Mark};

/// Reads both directions; the first byte of each piece says whose it is and how long.
pub fn read(protocol: Protocol, mut data: &[u8]) {
    let mut dialogue = Dialogue::new(protocol);
    let mut is_opaque = [false, false];
    while let Some((control, rest)) = data.split_first() {
        let length = usize::from(control >> 1).min(rest.len());
        let (piece, later) = rest.split_at(length);
        data = later;
        let way = usize::from(control & 1);
        if !is_opaque[way] {
            is_opaque[way] = feed(&mut dialogue, way, piece);
        }
        assert!(dialogue.kept() <= 4 * HEAD_BYTES + 4096, "{} bytes kept", dialogue.kept());
    }
}

fn feed(dialogue: &mut Dialogue, way: usize, piece: &[u8]) -> bool {
    let mut rest = piece;
    loop {
        let (taken, mark) = if way == 0 { dialogue.request(rest) } else { dialogue.reply(rest) };
        rest = &rest[taken..];
        match mark {
            None => {
                assert!(rest.is_empty(), "without a mark all is taken");
                return false;
            }
            Some(Mark::Opaque) => return true,
            Some(Mark::End) => {}
            Some(Mark::Reply(_)) => drop(dialogue.describe_reply()),
            Some(Mark::Request(id)) => {
                drop(dialogue.describe_request());
                // Some requests are doubled and some dropped, as interposers do.
                match id % 5 {
                    0 => dialogue.forget(id),
                    1 => drop(dialogue.repeat(id)),
                    _ => {}
                }
            }
        }
    }
}
