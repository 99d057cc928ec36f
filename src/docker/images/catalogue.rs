//! The images' build contexts: embedded in the binary, overlaid by `./images` of the current folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};

use crate::docker::archive::Archive;
use crate::docker::images::ImageError;

static EMBEDDED: Dir = include_dir!("$CARGO_MANIFEST_DIR/images");

const OFFICIAL: &str = "# official: ";

/// The files from which one image is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    name: String,
    official: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// The names of all images, sorted.
pub fn names() -> Vec<String> {
    names_in(Path::new("images"))
}

impl Context {
    /// Loads the context of this name.
    pub fn load(name: &str) -> Result<Context, ImageError> {
        Context::load_over(name, Path::new("images"))
    }

    fn load_over(name: &str, local: &Path) -> Result<Context, ImageError> {
        let known = names_in(local);
        if !known.iter().any(|other| other == name) {
            return Err(ImageError::Unknown { name: name.to_owned(), known: known.join(", ") });
        }
        let mut files = embedded_files(name);
        read_folder(&local.join(name), Path::new(""), &mut files)?;
        let official = files.get(Path::new("Dockerfile")).and_then(|text| official_of(text));
        let official = official.ok_or_else(|| ImageError::NoOfficial { name: name.to_owned() })?;
        Ok(Context { name: name.to_owned(), official, files })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The real image, as a registry knows it.
    pub fn official(&self) -> &str {
        &self.official
    }

    /// The tag of an image built from exactly these files.
    pub fn tag(&self) -> String {
        let mut hash = Sha256::new();
        for (path, content) in &self.files {
            let path = path.to_string_lossy();
            hash.update((path.len() as u64).to_le_bytes());
            hash.update(path.as_bytes());
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(content);
        }
        let digest = hash.finalize();
        let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        format!("stormglass/{}:{short}", self.name)
    }

    /// The images that the Dockerfile builds on.
    pub(super) fn bases(&self) -> BTreeSet<String> {
        let dockerfile = self.files.get(Path::new("Dockerfile")).map(Vec::as_slice);
        String::from_utf8_lossy(dockerfile.unwrap_or_default())
            .lines()
            .filter_map(|line| line.strip_prefix("FROM ")?.split_whitespace().next())
            .map(str::to_owned)
            .collect()
    }

    /// Whether there is anything to build: a Dockerfile that names only the real image builds nothing.
    pub fn is_built_here(&self) -> bool {
        !self.bases().is_empty()
    }

    /// A file of the folder, which must be text.
    pub fn text(&self, file: &str) -> Result<String, String> {
        let path = format!("images/{}/{file}", self.name);
        let bytes =
            self.files.get(Path::new(file)).ok_or_else(|| format!("{path} is not there"))?;
        String::from_utf8(bytes.clone()).map_err(|error| format!("{path}: {error}"))
    }

    /// The context as the engine wants it.
    pub(super) fn to_tar(&self) -> Vec<u8> {
        let mut archive = Archive::new();
        for (path, content) in &self.files {
            let mode = if content.starts_with(b"#!") { 0o755 } else { 0o644 };
            archive.add(&path.to_string_lossy(), mode, content);
        }
        archive.into_bytes()
    }
}

fn names_in(local: &Path) -> Vec<String> {
    let embedded = EMBEDDED.dirs().filter_map(|dir| Some(dir.path().file_name()?.to_owned()));
    let local = std::fs::read_dir(local).into_iter().flatten().flatten();
    let local = local.filter(|entry| entry.path().join("Dockerfile").is_file());
    let all: BTreeSet<_> = embedded.chain(local.map(|entry| entry.file_name())).collect();
    all.into_iter().filter_map(|name| name.into_string().ok()).collect()
}

fn embedded_files(name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders: Vec<&Dir> = EMBEDDED.get_dir(name).into_iter().collect();
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        for file in folder.files() {
            let path = file.path().strip_prefix(name).unwrap_or(file.path());
            files.insert(path.to_owned(), file.contents().to_vec());
        }
    }
    files
}

fn read_folder(
    folder: &Path,
    below: &Path,
    files: &mut BTreeMap<PathBuf, Vec<u8>>,
) -> Result<(), ImageError> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(|cause| unreadable(folder, &cause))? {
        let entry = entry.map_err(|cause| unreadable(folder, &cause))?;
        let (path, below) = (entry.path(), below.join(entry.file_name()));
        if path.is_dir() {
            read_folder(&path, &below, files)?;
        } else {
            let content = std::fs::read(&path).map_err(|cause| unreadable(&path, &cause))?;
            files.insert(below, content);
        }
    }
    Ok(())
}

fn unreadable(path: &Path, cause: &std::io::Error) -> ImageError {
    ImageError::Unreadable { path: path.display().to_string(), cause: cause.to_string() }
}

fn official_of(dockerfile: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(dockerfile);
    let reference = text.lines().next()?.strip_prefix(OFFICIAL)?.trim();
    (!reference.is_empty()).then(|| reference.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> PathBuf {
        PathBuf::from("/nonexistent")
    }

    #[test]
    fn zookeeper_is_embedded_whole() {
        let context = Context::load_over("zookeeper", &nowhere()).expect("embedded");
        assert_eq!(context.official(), "zookeeper:3.9");
        assert_eq!(context.bases().into_iter().collect::<Vec<_>>(), ["debian:bookworm-slim"]);
        let paths: Vec<_> = context.files.keys().map(|path| path.to_string_lossy()).collect();
        assert_eq!(paths, ["Dockerfile", "docker-entrypoint.sh", "zkServer.sh"]);
    }

    #[test]
    fn images_of_servers_that_we_stand_in_for_are_not_built() {
        for (name, official, file) in [
            ("kvrocks", "apache/kvrocks:2.10.1", "kvrocks.conf"),
            ("controller", "apache/kvrocks-controller:1.2.0", "config.yaml"),
        ] {
            let context = Context::load_over(name, &nowhere()).expect("embedded");
            assert_eq!((context.official(), context.is_built_here()), (official, false));
            assert!(context.text(file).is_ok_and(|text| text.starts_with("# ")));
            let missing = context.text("none").expect_err("not there");
            assert_eq!(missing, format!("images/{name}/none is not there"));
        }
        assert!(Context::load_over("zookeeper", &nowhere()).is_ok_and(|one| one.is_built_here()));
    }

    #[test]
    fn the_tag_follows_the_content() {
        let context = Context::load_over("zookeeper", &nowhere()).expect("embedded");
        let mut changed = context.clone();
        changed.files.insert("extra".into(), b"more".to_vec());
        assert!(context.tag().starts_with("stormglass/zookeeper:"));
        assert_eq!(context.tag(), context.clone().tag());
        assert_ne!(context.tag(), changed.tag());
    }

    #[test]
    fn scripts_are_executable_in_the_context() {
        let context = Context::load_over("zookeeper", &nowhere()).expect("embedded");
        let tar = context.to_tar();
        let mut archive = tar::Archive::new(tar.as_slice());
        let modes: BTreeMap<_, _> = archive
            .entries()
            .expect("a tar")
            .map(|entry| entry.expect("an entry"))
            .map(|entry| (entry.path().expect("a path").into_owned(), entry.header().mode()))
            .map(|(path, mode)| (path.display().to_string(), mode.expect("a mode")))
            .collect();
        assert_eq!(modes["zkServer.sh"], 0o755);
        assert_eq!(modes["Dockerfile"], 0o644);
    }

    #[test]
    fn files_of_the_current_folder_win() {
        let folder = std::env::temp_dir().join(format!("stormglass-images-{}", std::process::id()));
        let image = folder.join("zookeeper");
        std::fs::create_dir_all(&image).expect("a folder");
        std::fs::write(image.join("Dockerfile"), "# official: mine:1\nFROM scratch\n")
            .expect("written");
        let context = Context::load_over("zookeeper", &folder).expect("overlaid");
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(context.official(), "mine:1");
        assert!(context.files.contains_key(Path::new("zkServer.sh")));
    }

    #[test]
    fn an_unknown_name_lists_the_known() {
        let error = Context::load_over("zookeper", &nowhere()).expect_err("a typo").to_string();
        assert!(
            error.contains("`zookeper`")
                && error.contains("one of: controller, kvrocks, zookeeper"),
            "{error}"
        );
    }
}
