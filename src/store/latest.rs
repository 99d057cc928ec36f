//! The links to the newest run, and the way back where that run came to nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::StoreError;

const LATEST: &str = "latest";

/// A link `latest` that has been pointed at a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestLink {
    folder: PathBuf,
    target: PathBuf,
    before: Option<PathBuf>,
}

impl LatestLink {
    /// Points `folder/latest` at the run, relatively, so that results can be moved.
    pub fn point(folder: &Path, run: &Path) -> Result<LatestLink, StoreError> {
        let at = folder.join(LATEST);
        let target = run.strip_prefix(folder).unwrap_or(run).to_owned();
        let before = fs::read_link(&at).ok();
        link(folder, &target).map_err(|error| StoreError::new("link", &at, error))?;
        Ok(LatestLink { folder: folder.into(), target, before })
    }

    /// Points the link to where it pointed before, unless another run has taken it over.
    pub fn restore(&self) {
        let at = self.folder.join(LATEST);
        if fs::read_link(&at).is_ok_and(|target| target != self.target) {
            return;
        }
        let before = self.before.as_ref().filter(|before| self.folder.join(before).exists());
        let restored = before.is_some_and(|before| link(&self.folder, before).is_ok());
        if !restored {
            let _ = fs::remove_file(&at);
        }
    }
}

/// Makes or replaces the link in one step.
fn link(folder: &Path, target: &Path) -> io::Result<()> {
    let unfinished = folder.join(format!(".{LATEST}-{}", std::process::id()));
    // Left by a process of the same id that was killed at this point.
    let _ = fs::remove_file(&unfinished);
    let linked = std::os::unix::fs::symlink(target, &unfinished)
        .and_then(|()| fs::rename(&unfinished, folder.join(LATEST)));
    linked.inspect_err(|_| drop(fs::remove_file(&unfinished)))
}
