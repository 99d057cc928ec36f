//! A program's disk: it outlives the process. No machine crashes here, so nothing that was appended is
//! ever lost.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use crate::reference::host::Disk;

#[derive(Debug, Default)]
pub struct SimDisk {
    files: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl Disk for SimDisk {
    fn read(&self, file: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.files.borrow().get(file).cloned())
    }

    fn append(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let mut files = self.files.borrow_mut();
        match files.get_mut(file) {
            Some(content) => content.extend_from_slice(bytes),
            None => {
                files.insert(file.to_owned(), bytes.to_vec());
            }
        }
        Ok(())
    }

    fn sync(&self, _file: &str) -> io::Result<()> {
        Ok(())
    }

    fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.borrow_mut().insert(file.to_owned(), bytes.to_vec());
        Ok(())
    }
}
