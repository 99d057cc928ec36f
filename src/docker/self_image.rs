//! The image that agents and hold containers run: our own executable with the loader and libraries it
//! needs, so that it starts whatever the engine's host has, and no registry is asked.
//!
//! It is named by its content and imported once. It never changes or removes an image.

mod elf;
mod supervisor;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use bollard::Docker;
use bollard::errors::Error as EngineError;
use bollard::query_parameters::CreateImageOptionsBuilder;
use futures::TryStreamExt;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

pub use supervisor::Supervisor;

/// The executable to run in containers, where it is not the running one (tests).
pub const EXECUTABLE_VARIABLE: &str = "STORMGLASS_EXE";

/// Where the image holds the executable: the first word of a container's command.
pub const EXECUTABLE: &str = "/stormglass";

const REPOSITORY: &str = "stormglass/agent";
const LIBRARIES: &str = "/stormglass-libraries";
const HASH_LENGTH: usize = 16;

static IMPORTING: Mutex<()> = Mutex::const_new(());

/// Makes sure that the engine has the image of this executable; its name.
pub async fn ensure(docker: &Docker, executable: &Path) -> anyhow::Result<String> {
    let executable = executable.to_owned();
    let parts = Parts::of(&executable)?;
    let (parts, hash) = tokio::task::spawn_blocking(move || {
        let mut hash = Sha256::new();
        parts.write_tar(&mut hash)?;
        anyhow::Ok((parts, format!("{:x}", hash.finalize())))
    })
    .await??;
    let tag = &hash[..HASH_LENGTH];
    let image = format!("{REPOSITORY}:{tag}");
    // Two imports of one content would leave an image without a name.
    let _alone = IMPORTING.lock().await;
    match docker.inspect_image(&image).await {
        Ok(_) => Ok(image),
        Err(EngineError::DockerResponseServerError { status_code: 404, .. }) => {
            import(docker, parts, tag).await.with_context(|| format!("import image {image}"))?;
            Ok(image)
        }
        Err(error) => Err(error).with_context(|| format!("look for image {image}")),
    }
}

/// The running executable, or the one that `STORMGLASS_EXE` names.
pub fn executable() -> PathBuf {
    match std::env::var_os(EXECUTABLE_VARIABLE) {
        Some(path) => path.into(),
        // Unlike the path it was started by, this is there even after a rebuild; by number, because
        // the loader that is asked for its libraries is another process.
        None => format!("/proc/{}/exe", std::process::id()).into(),
    }
}

async fn import(docker: &Docker, parts: Parts, tag: &str) -> anyhow::Result<()> {
    let changes = vec![format!("ENV LD_LIBRARY_PATH={LIBRARIES}"), "WORKDIR /".to_owned()];
    let options = CreateImageOptionsBuilder::default()
        .from_src("-")
        .repo(REPOSITORY)
        .tag(tag)
        .changes(changes)
        .build();
    let tar = tokio::task::spawn_blocking(move || {
        let mut tar = Vec::new();
        parts.write_tar(&mut tar)?;
        anyhow::Ok(tar)
    })
    .await??;
    let body = bollard::body_full(tar.into());
    docker.create_image(Some(options), Some(body), None).try_collect::<Vec<_>>().await?;
    Ok(())
}

/// What goes into the image: path there → file here.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    files: BTreeMap<String, PathBuf>,
}

impl Parts {
    fn of(executable: &Path) -> anyhow::Result<Parts> {
        let context = || format!("make an image of {}", executable.display());
        let mut files = BTreeMap::from([(EXECUTABLE.to_owned(), executable.to_owned())]);
        if let Some(interpreter) = elf::interpreter(executable).with_context(context)? {
            for (name, path) in libraries(&interpreter, executable).with_context(context)? {
                files.insert(format!("{LIBRARIES}/{name}"), path);
            }
            let here = PathBuf::from(&interpreter);
            files.insert(interpreter, here);
        }
        Ok(Parts { files })
    }

    /// The same bytes for the same files, so that the hash names the content.
    fn write_tar(&self, output: impl Write) -> anyhow::Result<()> {
        let mut tar = tar::Builder::new(output);
        let mut temporary = header(tar::EntryType::Directory, 0, 0o1777);
        tar.append_data(&mut temporary, "tmp/", io::empty())?;
        self.append_to(&mut tar)?;
        tar.into_inner()?.flush()?;
        Ok(())
    }

    fn append_to(&self, tar: &mut tar::Builder<impl Write>) -> anyhow::Result<()> {
        for (name, path) in &self.files {
            let context = || format!("read {}", path.display());
            let file = File::open(path).with_context(context)?;
            let length = file.metadata().with_context(context)?.len();
            let mut header = header(tar::EntryType::Regular, length, 0o755);
            let name = name.trim_start_matches('/');
            tar.append_data(&mut header, name, file).with_context(context)?;
        }
        Ok(())
    }
}

fn header(kind: tar::EntryType, length: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(length);
    header.set_mode(mode);
    header
}

/// Asks the executable's own loader what it would load.
fn libraries(interpreter: &str, executable: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let output = Command::new(interpreter)
        .arg("--list")
        .arg(executable)
        .output()
        .with_context(|| format!("run the loader {interpreter}"))?;
    if !output.status.success() {
        bail!("{interpreter} --list: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    parse_list(&String::from_utf8_lossy(&output.stdout))
}

/// Lines like `libc.so.6 => /lib/libc.so.6 (0x…)`; those without an arrow are no files of their own.
fn parse_list(list: &str) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for line in list.lines() {
        let Some((name, target)) = line.trim().split_once(" => ") else { continue };
        let path = target.rsplit_once(" (").map_or(target, |(path, _)| path).trim();
        if !path.starts_with('/') {
            bail!("library {name} is {path}, expected a file; install what the executable needs");
        }
        let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
        found.push((name.into_owned(), path.into()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
