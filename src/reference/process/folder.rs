//! A folder of the file system as a server's disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::reference::host::Disk;

/// The files of one process, kept open once they were appended to.
pub struct Folder {
    path: PathBuf,
    open: RefCell<BTreeMap<String, File>>,
}

impl Folder {
    /// Fails where no file can be written.
    pub fn open(path: PathBuf) -> io::Result<Folder> {
        fs::create_dir_all(&path)?;
        let trial = path.join(".writable");
        File::create(&trial)?;
        fs::remove_file(&trial)?;
        Ok(Folder::untried(path))
    }

    pub fn untried(path: PathBuf) -> Folder {
        Folder { path, open: RefCell::default() }
    }

    fn with<T>(&self, file: &str, act: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
        let mut open = self.open.borrow_mut();
        if let Some(file) = open.get_mut(file) {
            return act(file);
        }
        let path = self.path.join(file);
        let is_new = !path.exists();
        let mut opened = OpenOptions::new().append(true).create(true).open(path)?;
        if is_new {
            self.sync_names()?;
        }
        let result = act(&mut opened);
        open.insert(file.to_owned(), opened);
        result
    }

    /// A name is on the disk only once its folder is.
    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

impl Disk for Folder {
    fn read(&self, file: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path.join(file)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn append(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.with(file, |file| file.write_all(bytes))
    }

    fn sync(&self, file: &str) -> io::Result<()> {
        self.with(file, |file| file.sync_data())
    }

    fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let (path, new) = (self.path.join(file), self.path.join(format!("{file}.new")));
        self.open.borrow_mut().remove(file);
        let mut made = File::create(&new)?;
        made.write_all(bytes)?;
        made.sync_all()?;
        fs::rename(new, path)?;
        self.sync_names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("stormglass-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn what_was_appended_and_replaced_is_there_for_the_next_process() {
        let path = scratch("folder");
        let disk = Folder::open(path.clone()).expect("a folder");
        assert_eq!(disk.read("log").expect("no trouble"), None);
        disk.append("log", b"one").expect("room");
        disk.append("log", b"two").expect("room");
        disk.sync("log").expect("a disk");
        assert_eq!(disk.read("log").expect("no trouble").as_deref(), Some(&b"onetwo"[..]));
        disk.replace("log", b"three").expect("room");
        disk.append("log", b"four").expect("room");
        let next = Folder::open(path.clone()).expect("a folder");
        assert_eq!(next.read("log").expect("no trouble").as_deref(), Some(&b"threefour"[..]));
        fs::remove_dir_all(path).expect("ours");
    }

    #[test]
    fn a_folder_that_is_a_file_is_refused() {
        let path = scratch("no-folder");
        fs::write(&path, b"").expect("room");
        assert!(Folder::open(path.clone()).is_err());
        fs::remove_file(path).expect("ours");
    }
}
