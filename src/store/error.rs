//! Why a file or folder of the results cannot be had, and what to do.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {doing} {}: {error}; {}", path.display(), advice(error.kind()))]
    Io { doing: &'static str, path: PathBuf, error: io::Error },
    #[error(
        "cannot make `{name}` in {}: expected a name below that folder, without `..`; rename it",
        folder.display()
    )]
    Name { folder: PathBuf, name: String },
    #[error(
        "{}: line {line}: expected an entry of a fault ledger: {why}; \
         `stormglass down` removes what the run made in the engine",
        path.display()
    )]
    Ledger { path: PathBuf, line: usize, why: String },
}

impl StoreError {
    pub(super) fn new(doing: &'static str, path: &Path, error: io::Error) -> StoreError {
        StoreError::Io { doing, path: path.into(), error }
    }

    pub(super) fn name(folder: &Path, name: &str) -> StoreError {
        StoreError::Name { folder: folder.into(), name: name.into() }
    }
}

fn advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "make the folder writable for this user, or run in another folder"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space on that disk",
        ErrorKind::NotFound => "check the path",
        ErrorKind::AlreadyExists | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
            "something else has that name: move it away, or run in another folder"
        }
        _ => "run in another folder, or see to that disk",
    }
}
