//! Who looks out for changes of a key: what `WATCH` stands on.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use bytes::Bytes;

use super::Record;

/// One look-out; dropped, it is over.
#[derive(Debug)]
pub struct Watch(Rc<Cell<bool>>);

impl Watch {
    /// True once the key was changed, or named by a write, since.
    pub fn is_touched(&self) -> bool {
        self.0.get()
    }
}

#[derive(Debug, Default)]
pub struct Watches {
    by_key: BTreeMap<Bytes, Vec<Weak<Cell<bool>>>>,
    /// With so many keys, those that nobody watches any more are let go.
    full: usize,
}

impl Watches {
    pub fn add(&mut self, key: &Bytes) -> Watch {
        if self.by_key.len() >= self.full {
            self.by_key.retain(|_, watches| {
                watches.retain(|watch| watch.strong_count() > 0);
                !watches.is_empty()
            });
            self.full = 64 + 2 * self.by_key.len();
        }
        let touched = Rc::new(Cell::new(false));
        let watches = self.by_key.entry(key.clone()).or_default();
        watches.retain(|watch| watch.strong_count() > 0);
        watches.push(Rc::downgrade(&touched));
        Watch(touched)
    }

    pub fn touch(&mut self, key: &[u8]) {
        if let Some(watches) = self.by_key.remove(key) {
            tell(watches);
        }
    }

    pub fn touch_by(&mut self, record: &Record) {
        if self.by_key.is_empty() {
            return;
        }
        match record.key() {
            Some(key) => self.touch(key),
            None => {
                let slots = |key: &Bytes| record.concerns(crate::resp::slot_of(key));
                let keys: Vec<Bytes> =
                    self.by_key.keys().filter(|key| slots(key)).cloned().collect();
                keys.iter().for_each(|key| self.touch(key));
            }
        }
    }
}

fn tell(watches: Vec<Weak<Cell<bool>>>) {
    watches.iter().filter_map(Weak::upgrade).for_each(|touched| touched.set(true));
}
