//! The results folder of a run: `results/<workload>/<time>-s<seed>/`, and the files in it.
//!
//! Effects, but no decisions: what stands in the files is made elsewhere.

mod error;
mod history_writer;
mod latest;
mod ledger;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

pub use error::StoreError;
pub use history_writer::HistoryWriter;
use latest::LatestLink;
pub use ledger::{Ledger, LedgerEntry, LedgerReading, read_ledger, this_boot};

use crate::history::{self, Recording};

/// The recorded history, in every results folder.
pub const HISTORY: &str = "history.jsonl.zst";

/// Faults written ahead, in the results folder of a run that has any.
pub const LEDGER: &str = "ledger.jsonl";

/// What we did, for people.
const RUN_LOG: &str = "run.log";

/// One run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    path: PathBuf,
    /// How to take the folder back; empty for the folder of an earlier run.
    links: Vec<LatestLink>,
    /// The folders above it that were made for it, outermost first.
    made: Vec<PathBuf>,
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
        let made = missing_folders(&family);
        let name = format!("{}-s{seed}", time.strftime("%Y%m%dT%H%M%S%.3fZ"));
        let path = make_folder(&family).and_then(|()| make_fresh_folder(&family, &name));
        let path = path.inspect_err(|_| remove_empty(&made))?;
        let mut store = Store { path, links: Vec::new(), made };
        match store.link(root).and_then(|()| store.link(&family)) {
            Ok(()) => Ok(store),
            Err(error) => {
                store.abandon();
                Err(error)
            }
        }
    }

    /// Takes the folder back with all that is in it; the links point to where they did before.
    pub fn abandon(self) {
        for link in self.links.iter().rev() {
            link.restore();
        }
        let _ = fs::remove_dir_all(&self.path);
        remove_empty(&self.made);
    }

    fn link(&mut self, folder: &Path) -> Result<(), StoreError> {
        self.links.push(LatestLink::point(folder, &self.path)?);
        Ok(())
    }

    /// The folder of an earlier run.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let metadata = fs::metadata(path).map_err(|error| StoreError::new("open", path, error))?;
        if !metadata.is_dir() {
            return Err(StoreError::new("open", path, ErrorKind::NotADirectory.into()));
        }
        Ok(Store { path: path.into(), links: Vec::new(), made: Vec::new() })
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

    /// Begins the run's log of what we do.
    pub fn run_log(&self) -> Result<File, StoreError> {
        let path = self.path.join(RUN_LOG);
        let file = fs::OpenOptions::new().append(true).create_new(true).open(&path);
        file.map_err(|error| StoreError::new("create", &path, error))
    }

    /// Begins the run's ledger of faults.
    pub fn ledger(&self) -> Result<Ledger, StoreError> {
        Ledger::create(&self.path.join(LEDGER))
    }

    /// Takes up the ledger of a run that was killed.
    pub fn reopen_ledger(&self) -> Result<Ledger, StoreError> {
        Ledger::reopen(&self.path.join(LEDGER))
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

/// The folder and those above it that are not there yet, outermost first.
fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors().take_while(|path| !path.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> =
        above.take_while(|path| !path.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

/// Removes these folders, innermost first, as far as they are empty.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests;
