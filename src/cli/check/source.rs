//! Where a history's bytes come from: a file, or a pipe, which can be read only once and is put aside first.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A history that can be read again and again.
pub struct Source {
    /// As it was named.
    pub name: String,
    pub path: PathBuf,
    /// Keeps what came through a pipe.
    _kept: Option<File>,
}

impl Source {
    /// `-` is the standard input.
    pub fn open(named: &Path) -> Result<Source, String> {
        let name = named.display().to_string();
        let wrong = |error: io::Error| {
            format!("cannot read {name}: {error}; expected a history, check the path")
        };
        if named == Path::new("-") {
            let kept = keep(&mut io::stdin().lock()).map_err(wrong)?;
            return Ok(Source::kept("standard input".to_owned(), kept));
        }
        if std::fs::metadata(named).map_err(wrong)?.is_file() {
            return Ok(Source { name, path: named.to_owned(), _kept: None });
        }
        let kept = File::open(named).and_then(|mut pipe| keep(&mut pipe)).map_err(wrong)?;
        Ok(Source::kept(name, kept))
    }

    fn kept(name: String, file: File) -> Source {
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        Source { name, path, _kept: Some(file) }
    }
}

/// Most that is kept of a pipe, in bytes: a device that never ends is no history.
const MOST: u64 = 64 << 30;

/// Copies all of it into a file that has no name and goes with this process.
fn keep(pipe: &mut dyn io::Read) -> io::Result<File> {
    use std::io::Read;
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("stormglass-history-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    let copied = io::copy(&mut pipe.take(MOST), &mut file)?;
    match copied < MOST {
        true => Ok(file),
        false => Err(io::Error::other(format!("it has more than {} GiB", MOST >> 30))),
    }
}
