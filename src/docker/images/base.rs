//! A Debian base image made on this machine with debootstrap, where no registry can be reached.
//!
//! It carries the host's apt sources, so it is for this machine alone. It replaces no existing tag.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use bollard::query_parameters::CreateImageOptionsBuilder;
use futures::{Stream, StreamExt, TryStreamExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::Command;

use crate::docker::Progress;
use crate::docker::engine::{Engine, words};
use crate::docker::images::apt::{self, Source};

/// Lines of a failed debootstrap that are shown.
const LOG_LINES: usize = 8;

/// Makes and imports the base image of this tag. The error is a phrase.
pub(super) async fn make(
    engine: &Engine,
    reference: &str,
    progress: Progress<'_>,
) -> Result<(), String> {
    let suite = suite_of(reference)?;
    if let Some(lack) = lacks() {
        return Err(lack);
    }
    let scratch = Scratch::new().map_err(|error| format!("no scratch folder: {error}"))?;
    let sources = host_sources(suite);
    bootstrap(suite, &sources, &scratch.0, progress).await?;
    configure(&scratch.0, &sources).await.map_err(|error| format!("apt's files: {error}"))?;
    progress(&format!("importing {reference}"));
    import(engine, reference, &scratch.0).await
}

fn suite_of(reference: &str) -> Result<&'static str, String> {
    match reference {
        "debian:bookworm-slim" | "debian:bookworm" => Ok("bookworm"),
        _ => Err("only debian:bookworm-slim can be made here".to_owned()),
    }
}

/// What is missing here for making a base image; `None` where nothing is. A phrase.
pub(super) fn lacks() -> Option<String> {
    for program in ["debootstrap", "tar"] {
        if !is_installed(program) {
            return Some(format!(
                "`{program}` is not installed here (as root: apt-get install {program})"
            ));
        }
    }
    // SAFETY: geteuid has no preconditions and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    (!is_root)
        .then(|| "debootstrap needs root (run `stormglass images build` once as root)".to_owned())
}

/// True where a program can be found; the system folders are searched even if `PATH` lacks them.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).any(|folder| folder.join(program).is_file())
}

/// Debian's own sources as this host has them; empty on other distributions.
fn host_sources(suite: &str) -> Vec<Source> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let field = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    if field("ID").as_deref() != Some("debian") {
        return Vec::new();
    }
    let codename = field("VERSION_CODENAME").unwrap_or_default();
    let mut sources = read_sources(Path::new("/etc/apt/sources.list"));
    let parts = std::fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten();
    let mut parts: Vec<PathBuf> = parts.map(|entry| entry.path()).collect();
    parts.sort();
    sources.extend(parts.iter().flat_map(|path| read_sources(path)));
    apt::debian_only(&sources, &codename, suite)
}

fn read_sources(path: &Path) -> Vec<Source> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("sources") => apt::parse_stanzas(&text),
        Some("list") => apt::parse_lines(&text),
        _ => Vec::new(),
    }
}

async fn bootstrap(
    suite: &str,
    sources: &[Source],
    root: &Path,
    progress: Progress<'_>,
) -> Result<(), String> {
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", suite]).arg(root);
    let holds_suite = |source: &&Source| source.suites.iter().any(|name| name == suite);
    command.args(sources.iter().find(holds_suite).map(|source| &source.uris[0]));
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("DEBIAN_FRONTEND", "noninteractive");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("debootstrap: {error}"))?;
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut log = Vec::new();
    while let Some(line) = lines.next_line().await.map_err(|error| error.to_string())? {
        progress(line.trim_start_matches("I: "));
        log.push(line);
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let tail = log[log.len().saturating_sub(LOG_LINES)..].join("\n");
    Err(format!("debootstrap ended with {status}. Its last lines:\n{tail}"))
}

/// Gives the base the host's sources, keyrings and proxy, so that `apt-get` works in builds.
async fn configure(root: &Path, sources: &[Source]) -> std::io::Result<()> {
    if !sources.is_empty() {
        let stanzas: Vec<String> = sources.iter().map(Source::to_stanza).collect();
        std::fs::write(root.join("etc/apt/sources.list.d/debian.sources"), stanzas.join("\n"))?;
        std::fs::write(root.join("etc/apt/sources.list"), "")?;
    }
    for keyring in sources.iter().filter_map(|source| source.signed_by.as_deref()) {
        let inside = root.join(keyring.strip_prefix("/").unwrap_or(keyring));
        if !inside.exists() && keyring.exists() {
            std::fs::create_dir_all(inside.parent().unwrap_or(root))?;
            std::fs::copy(keyring, &inside)?;
        }
    }
    if let Ok(dump) = Command::new("apt-config").arg("dump").output().await {
        let settings = apt::transport_settings(&String::from_utf8_lossy(&dump.stdout));
        std::fs::write(root.join("etc/apt/apt.conf.d/90host"), settings)?;
    }
    Ok(())
}

async fn import(engine: &Engine, reference: &str, root: &Path) -> Result<(), String> {
    let (repository, tag) = reference.split_once(':').unwrap_or((reference, "latest"));
    let mut tar = Command::new("tar")
        .arg("-C")
        .arg(root)
        .args(["--numeric-owner", "--exclude=./var/cache/apt/archives/*.deb"])
        .args(["--exclude=./var/lib/apt/lists/*_*", "-c", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("tar: {error}"))?;
    let body = bollard::body_try_stream(chunks(tar.stdout.take().expect("piped")));
    let options = CreateImageOptionsBuilder::new()
        .from_src("-")
        .repo(repository)
        .tag(tag)
        .changes(vec!["LABEL stormglass.base=debootstrap".into(), "CMD [\"bash\"]".into()])
        .build();
    let steps = engine.api().create_image(Some(options), Some(body), None);
    let steps: Vec<_> = steps.try_collect().await.map_err(|error| words(&error))?;
    let failure = steps.into_iter().find_map(|step| step.error_detail?.message);
    let status = tar.wait().await.map_err(|error| format!("tar: {error}"))?;
    match failure {
        Some(message) => Err(format!("the import failed: {message}")),
        None if !status.success() => Err(format!("tar ended with {status}")),
        None => Ok(()),
    }
}

fn chunks(
    reader: impl AsyncRead + Unpin + Send + 'static,
) -> impl Stream<Item = std::io::Result<bytes::Bytes>> + Send + 'static {
    futures::stream::unfold(reader, |mut reader| async move {
        let mut buffer = vec![0; 1 << 16];
        match reader.read(&mut buffer).await {
            Ok(0) => None,
            Ok(length) => {
                buffer.truncate(length);
                Some((Ok(buffer.into()), reader))
            }
            Err(error) => Some((Err(error), reader)),
        }
    })
    .boxed()
}

/// A folder of its own that is removed at the end, whatever happens.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        let path = std::env::temp_dir().join(format!("stormglass-base-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // An interrupted debootstrap leaves /proc and /sys mounted below; those must not be walked.
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        for mount in mounts_below(&mounts, &self.0).into_iter().rev() {
            let Ok(mount) = CString::new(mount) else { return };
            // SAFETY: the argument is a valid C string; the call touches no memory of ours.
            if unsafe { libc::umount2(mount.as_ptr(), libc::MNT_DETACH) } != 0 {
                return;
            }
        }
        // Nothing can be done about a folder that cannot be removed, and the image is made already.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The mount points below a folder, in the order they were mounted.
fn mounts_below(mounts: &str, folder: &Path) -> Vec<String> {
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    points.filter(|point| Path::new(point).starts_with(folder)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mounts_below_the_folder_are_found() {
        let mounts = "proc /proc proc rw 0 0\nproc /tmp/x/proc proc rw 0 0\n\
                      sysfs /tmp/x/sys sysfs rw 0 0\nproc /tmp/xy/proc proc rw 0 0\n";
        assert_eq!(mounts_below(mounts, Path::new("/tmp/x")), ["/tmp/x/proc", "/tmp/x/sys"]);
    }

    #[test]
    fn only_the_known_base_is_made() {
        assert_eq!(suite_of("debian:bookworm-slim"), Ok("bookworm"));
        assert!(suite_of("ubuntu:24.04").is_err());
    }
}
