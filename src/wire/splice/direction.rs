//! One direction of a connection: bytes that pass, are kept back, or are dropped, message by message.

use super::Deed;
use crate::wire::{Mark, Passed};

#[derive(Default)]
pub struct Direction {
    /// The first bytes of a message that is still to be judged.
    kept: Vec<u8>,
    is_under_way: bool,
    keeps: bool,
    drops: bool,
    /// It is no longer read.
    pub is_opaque: bool,
}

impl Direction {
    /// Begins a message where none is under way and there is anything.
    pub fn begin(&mut self, bytes: &[u8], keeps: bool) {
        if !self.is_under_way && !bytes.is_empty() {
            self.is_under_way = true;
            self.keeps = keeps;
        }
    }

    pub fn take(&mut self, bytes: &[u8], deeds: &mut Vec<Deed>) {
        if self.keeps {
            self.kept.extend(bytes);
        } else if !self.drops {
            pass(deeds, bytes);
        }
    }

    /// Reads what has passed before it was known how to read it.
    pub fn catch_up(&mut self, heard: &[u8], mut read: impl FnMut(&[u8]) -> Passed) {
        let mut rest = heard;
        loop {
            self.begin(rest, false);
            let (taken, mark) = read(rest);
            rest = &rest[taken..];
            match mark {
                None => return,
                Some(Mark::End) => self.end(),
                Some(Mark::Opaque) => {
                    self.is_opaque = true;
                    return;
                }
                Some(Mark::Request(_) | Mark::Reply(_)) => {}
            }
        }
    }

    /// Whether the message under way has been kept back from its first byte on.
    pub fn keeps(&self) -> bool {
        self.keeps
    }

    pub fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Lets the message pass.
    pub fn release(&mut self, deeds: &mut Vec<Deed>) {
        self.keeps = false;
        pass(deeds, &self.kept);
        self.kept = Vec::new();
    }

    /// Lets nothing of the message pass.
    pub fn discard(&mut self) {
        (self.keeps, self.drops) = (false, true);
        self.kept = Vec::new();
    }

    pub fn end(&mut self) {
        (self.is_under_way, self.keeps, self.drops) = (false, false, false);
    }

    /// Reads nothing more: all passes from the first byte of the message under way on.
    pub fn give_up(&mut self, deeds: &mut Vec<Deed>) {
        self.release(deeds);
        self.is_opaque = true;
    }
}

pub fn pass(deeds: &mut Vec<Deed>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    match deeds.last_mut() {
        Some(Deed::Pass(before)) => before.extend(bytes),
        _ => deeds.push(Deed::Pass(bytes.to_vec())),
    }
}
