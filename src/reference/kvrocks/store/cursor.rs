//! Cursors of `SCAN`: numbers that stand for the last key given out.

use std::collections::VecDeque;

use bytes::Bytes;

/// So many cursors are remembered; an older one starts from the beginning again.
const MOST: usize = 16384;

#[derive(Debug, Default)]
pub struct Cursors {
    last: u64,
    keys: VecDeque<Bytes>,
}

impl Cursors {
    /// A new cursor for what comes behind this key.
    pub fn behind(&mut self, key: Bytes) -> u64 {
        if self.keys.len() == MOST {
            self.keys.pop_front();
        }
        self.keys.push_back(key);
        self.last += 1;
        self.last
    }

    /// The key that a cursor stands for.
    pub fn key(&self, cursor: u64) -> Option<&Bytes> {
        let age = self.last.checked_sub(cursor)?;
        let index = self.keys.len().checked_sub(1 + usize::try_from(age).ok()?)?;
        self.keys.get(index)
    }
}
