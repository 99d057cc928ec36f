//! Our executable as a guest in another image, to supervise what that image runs.
//!
//! It brings its own loader and libraries and is started by them, so it neither needs nor changes
//! anything of the image.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use bytes::Bytes;

use super::{Parts, elf, libraries};

const EXECUTABLE: &str = "/stormglass/stormglass";
const LOADER: &str = "/stormglass/loader";
const LIBRARIES: &str = "/stormglass/libraries";

/// What is put into a container, and what it then runs first.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// A tar to be unpacked at `/`.
    pub files: Bytes,
    /// The command and the first of its arguments: those of what is supervised follow.
    pub command: Vec<String>,
}

impl Supervisor {
    /// Packs this executable.
    pub async fn pack(executable: &Path) -> anyhow::Result<Supervisor> {
        let executable = executable.to_owned();
        tokio::task::spawn_blocking(move || pack(&executable)).await?
    }
}

fn pack(executable: &Path) -> anyhow::Result<Supervisor> {
    let (parts, command) = plan(executable)?;
    let mut tar = tar::Builder::new(Vec::new());
    parts.append_to(&mut tar)?;
    Ok(Supervisor { files: tar.into_inner()?.into(), command })
}

fn plan(executable: &Path) -> anyhow::Result<(Parts, Vec<String>)> {
    let context = || format!("pack {}", executable.display());
    let mut files = BTreeMap::from([(EXECUTABLE.to_owned(), executable.to_owned())]);
    let mut command = Vec::new();
    if let Some(interpreter) = elf::interpreter(executable).with_context(context)? {
        for (name, path) in libraries(&interpreter, executable).with_context(context)? {
            files.insert(format!("{LIBRARIES}/{name}"), path);
        }
        files.insert(LOADER.to_owned(), PathBuf::from(interpreter));
        command.extend([LOADER, "--library-path", LIBRARIES]);
    }
    command.extend([EXECUTABLE, "supervise", "--"]);
    Ok((Parts { files }, command.into_iter().map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_comes_with_all_that_starts_it() {
        let ours = std::env::current_exe().expect("our path");
        let (parts, command) = plan(&ours).expect("packed");
        assert!(parts.files.keys().all(|name| name.starts_with("/stormglass/")), "{parts:?}");
        assert!(parts.files.contains_key(&command[0]), "{command:?}");
        assert_eq!(command[command.len() - 3..], [EXECUTABLE, "supervise", "--"]);
        if command[0] == LOADER {
            assert!(parts.files.keys().any(|name| name.starts_with(LIBRARIES)), "{parts:?}");
        }
    }
}
