//! A disk in memory that knows what was synced, and can fail.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use crate::reference::host::Disk;

#[derive(Clone, Default)]
struct File {
    bytes: Vec<u8>,
    synced: usize,
}

/// It outlives processes; [`MemoryDisk::lose_power`] is what not everything outlives.
#[derive(Default)]
pub struct MemoryDisk {
    files: RefCell<BTreeMap<String, File>>,
    /// Of the next write only so many bytes arrive, and it fails; of a replacement none do.
    short: Cell<Option<usize>>,
    /// The next sync fails.
    deaf: Cell<bool>,
    syncs: Cell<usize>,
}

impl MemoryDisk {
    pub fn new() -> Rc<MemoryDisk> {
        Rc::default()
    }

    /// Another disk with the same files, as they stand.
    pub fn copy(&self) -> Rc<MemoryDisk> {
        Rc::new(MemoryDisk { files: self.files.clone(), ..MemoryDisk::default() })
    }

    pub fn names(&self) -> Vec<String> {
        self.files.borrow().keys().cloned().collect()
    }

    pub fn length(&self, file: &str) -> usize {
        self.files.borrow().get(file).map_or(0, |file| file.bytes.len())
    }

    /// Cuts a file off behind so many bytes.
    pub fn cut(&self, file: &str, length: usize) {
        if let Some(file) = self.files.borrow_mut().get_mut(file) {
            file.bytes.truncate(length);
        }
    }

    /// Turns over one bit.
    pub fn flip(&self, file: &str, at: usize) {
        if let Some(byte) = self.files.borrow_mut().get_mut(file).and_then(|f| f.bytes.get_mut(at))
        {
            *byte ^= 1;
        }
    }

    /// What was not synced is gone.
    pub fn lose_power(&self) {
        for file in self.files.borrow_mut().values_mut() {
            file.bytes.truncate(file.synced);
        }
    }

    pub fn fail_next_write_after(&self, bytes: usize) {
        self.short.set(Some(bytes));
    }

    pub fn fail_next_sync(&self) {
        self.deaf.set(true);
    }

    pub fn syncs(&self) -> usize {
        self.syncs.get()
    }
}

impl Disk for MemoryDisk {
    fn read(&self, file: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.files.borrow().get(file).map(|file| file.bytes.clone()))
    }

    fn append(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let mut files = self.files.borrow_mut();
        let file = files.entry(file.to_owned()).or_default();
        match self.short.take() {
            Some(arrives) => {
                file.bytes.extend_from_slice(&bytes[..arrives.min(bytes.len())]);
                Err(io::ErrorKind::StorageFull.into())
            }
            None => {
                file.bytes.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn sync(&self, file: &str) -> io::Result<()> {
        if self.deaf.take() {
            return Err(io::Error::other("input/output error"));
        }
        self.syncs.set(self.syncs.get() + 1);
        if let Some(file) = self.files.borrow_mut().get_mut(file) {
            file.synced = file.bytes.len();
        }
        Ok(())
    }

    fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        if self.short.take().is_some() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let new = File { bytes: bytes.to_vec(), synced: bytes.len() };
        self.files.borrow_mut().insert(file.to_owned(), new);
        Ok(())
    }
}
