//! The results folder of a run: `results/<workload>/<time>-s<seed>/`, and the files in it.
//!
//! Effects, but no decisions: what stands in the files is made elsewhere.

mod error;
mod history_writer;
mod ledger;

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

pub use error::StoreError;
pub use history_writer::HistoryWriter;
pub use ledger::{Ledger, LedgerEntry, LedgerReading, read_ledger};

use crate::history::{self, Recording};

/// The recorded history, in every results folder.
pub const HISTORY: &str = "history.jsonl.zst";

/// Faults written ahead, in the results folder of a run that has any.
pub const LEDGER: &str = "ledger.jsonl";

/// The name of the links to the newest run.
const LATEST: &str = "latest";

/// One run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// Makes the folder and points `latest` and `<workload>/latest` at it; leaves nothing if it cannot.
    ///
    /// A second run of the same workload, moment and seed gets a number at the end of its name.
    pub fn create(
        root: &Path,
        workload: &str,
        time: Timestamp,
        seed: u64,
    ) -> Result<Store, StoreError> {
        let family = join(root, workload)?;
        make_folder(&family)?;
        let name = format!("{}-s{seed}", time.strftime("%Y%m%dT%H%M%S%.3fZ"));
        let path = make_fresh_folder(&family, &name)?;
        let linked = link_latest(root, &path).and_then(|()| link_latest(&family, &path));
        if let Err(error) = linked {
            remove_empty(&path, root);
            return Err(error);
        }
        Ok(Store { path })
    }

    /// Takes back a folder in which nothing has been written, with the links to it.
    pub fn abandon(self, root: &Path) {
        remove_empty(&self.path, root);
    }

    /// The folder of an earlier run.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let metadata = fs::metadata(path).map_err(|error| StoreError::new("open", path, error))?;
        if !metadata.is_dir() {
            return Err(StoreError::new("open", path, ErrorKind::NotADirectory.into()));
        }
        Ok(Store { path: path.into() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file of the run, in one step: readers see all of it or the one before.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = join(&self.path, name)?;
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let unfinished = with_suffix(&path, ".unfinished");
        let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|error| {
            let _ = fs::remove_file(&unfinished);
            StoreError::new("write", &path, error)
        })
    }

    /// Begins the run's history.
    pub fn history_writer(&self) -> Result<HistoryWriter, StoreError> {
        HistoryWriter::create(&self.path.join(HISTORY))
    }

    /// Begins the run's ledger of faults.
    pub fn ledger(&self) -> Result<Ledger, StoreError> {
        Ledger::create(&self.path.join(LEDGER))
    }

    /// Reads the run's history as far as it was written.
    pub fn read_history(&self) -> anyhow::Result<Recording> {
        let path = self.path.join(HISTORY);
        let bytes = fs::read(&path).map_err(|error| StoreError::new("read", &path, error))?;
        Ok(history::read(&bytes, &path.display().to_string())?)
    }

    /// Faults of the run that have not been undone for sure; none where there is no ledger.
    pub fn read_ledger(&self) -> Result<LedgerReading, StoreError> {
        let path = self.path.join(LEDGER);
        match fs::read(&path) {
            Ok(bytes) => read_ledger(&bytes, &path),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(LedgerReading::default()),
            Err(error) => Err(StoreError::new("read", &path, error)),
        }
    }
}

/// A path below a folder; names come from scenarios and nodes and must not lead out of it.
fn join(folder: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !is_below {
        return Err(StoreError::name(folder, name));
    }
    Ok(folder.join(name))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(|error| StoreError::new("make the folder", path, error))
}

fn make_fresh_folder(family: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let mut path = family.join(name);
    let mut number = 1;
    loop {
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                number += 1;
                path = family.join(format!("{name}-{number}"));
            }
            Err(error) => return Err(StoreError::new("make the folder", &path, error)),
        }
    }
}

/// Removes the folder and those above it, below `root`, as far as they are empty.
fn remove_empty(path: &Path, root: &Path) {
    let mut folder = Some(path);
    while let Some(path) = folder.filter(|path| *path != root && fs::remove_dir(path).is_ok()) {
        folder = path.parent();
    }
}

/// Points `folder/latest` at the run, relatively, so that results can be moved.
fn link_latest(folder: &Path, run: &Path) -> Result<(), StoreError> {
    let link = folder.join(LATEST);
    let target = run.strip_prefix(folder).unwrap_or(run);
    let unfinished = folder.join(format!(".{LATEST}-{}", std::process::id()));
    // Left by a process of the same id that was killed at this point.
    let _ = fs::remove_file(&unfinished);
    let linked = std::os::unix::fs::symlink(target, &unfinished)
        .and_then(|()| fs::rename(&unfinished, &link));
    linked.map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        StoreError::new("link", &link, error)
    })
}

#[cfg(test)]
mod tests;
