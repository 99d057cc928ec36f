//! The catalogues of workloads, nemeses and images: embedded in the binary; a file of the same name in
//! the current folder wins.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

static WORKLOADS: Dir = include_dir!("$CARGO_MANIFEST_DIR/workloads");
static NEMESES: Dir = include_dir!("$CARGO_MANIFEST_DIR/nemesis");

/// One of the two catalogues of YAML files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Catalog {
    Workloads,
    Nemeses,
}

/// A catalogue file: where it came from and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// `workloads/zookeeper/register.yaml`, with `(built in)` behind it where no file shadows it.
    pub origin: String,
    pub text: String,
}

impl Entry {
    /// The first comment line, by convention a description.
    pub fn description(&self) -> &str {
        self.text.lines().next().and_then(|line| line.strip_prefix('#')).map_or("", str::trim)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("there is no {what} `{name}`{}; `stormglass list {list}` shows all", suggest(.near))]
    Unknown { what: &'static str, list: &'static str, name: String, near: Option<String> },
    #[error("cannot read {}: {error}; expected a file of YAML text, check the path", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
}

fn suggest(near: &Option<String>) -> String {
    near.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

impl Catalog {
    fn folder(self) -> &'static str {
        match self {
            Catalog::Workloads => "workloads",
            Catalog::Nemeses => "nemesis",
        }
    }

    fn embedded(self) -> &'static Dir<'static> {
        match self {
            Catalog::Workloads => &WORKLOADS,
            Catalog::Nemeses => &NEMESES,
        }
    }

    /// All names, sorted: the embedded ones and those of the current folder.
    pub fn names(self) -> Vec<String> {
        let mut names = BTreeSet::new();
        embedded_names(self.embedded(), &mut names);
        local_names(Path::new(self.folder()), Path::new(self.folder()), &mut names);
        names.into_iter().collect()
    }

    /// The file of this name. A name that is a path to a `.yaml` file is read as it stands.
    pub fn load(self, name: &str) -> Result<Entry, CatalogError> {
        let (path, given) = match name.strip_suffix(".yaml") {
            Some(_) => (PathBuf::from(name), true),
            None => (Path::new(self.folder()).join(format!("{name}.yaml")), false),
        };
        let safe =
            given || path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if given || (safe && path.is_file()) {
            let text = std::fs::read_to_string(&path)
                .map_err(|error| CatalogError::Unreadable { path: path.clone(), error })?;
            return Ok(Entry { name: name.into(), origin: path.display().to_string(), text });
        }
        let file = self.embedded().get_file(format!("{name}.yaml"));
        match file.and_then(include_dir::File::contents_utf8) {
            Some(text) => Ok(Entry {
                name: name.into(),
                origin: format!("{}/{name}.yaml (built in)", self.folder()),
                text: text.into(),
            }),
            None => Err(self.unknown(name)),
        }
    }

    fn unknown(self, name: &str) -> CatalogError {
        let (what, list) = match self {
            Catalog::Workloads => ("workload", "workloads"),
            Catalog::Nemeses => ("nemesis", "nemeses"),
        };
        let near = nearest(name, self.names().iter().map(String::as_str)).map(str::to_owned);
        CatalogError::Unknown { what, list, name: name.into(), near }
    }
}

fn embedded_names(dir: &Dir, names: &mut BTreeSet<String>) {
    for file in dir.files() {
        if let Some(name) = file.path().to_str().and_then(|path| path.strip_suffix(".yaml")) {
            names.insert(name.to_owned());
        }
    }
    for inner in dir.dirs() {
        embedded_names(inner, names);
    }
}

fn local_names(root: &Path, folder: &Path, names: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            local_names(root, &path, names);
        } else if let Some(name) = path
            .strip_prefix(root)
            .ok()
            .and_then(Path::to_str)
            .and_then(|path| path.strip_suffix(".yaml"))
        {
            names.insert(name.to_owned());
        }
    }
}

/// The candidate most like `name`, if one is like enough to be a typo of it.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    candidates
        .into_iter()
        .map(|candidate| {
            let whole = strsim::jaro_winkler(name, candidate);
            let tail = strsim::jaro_winkler(&last(name), &last(candidate));
            (whole.max(tail), candidate)
        })
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_says_what_it_is() {
        for catalog in [Catalog::Workloads, Catalog::Nemeses] {
            let names = catalog.names();
            assert!(!names.is_empty());
            for name in names {
                assert!(!catalog.load(&name).unwrap().description().is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn a_typo_suggests_the_near_name() {
        let error = Catalog::Workloads.load("zookeper/register").unwrap_err().to_string();
        assert!(error.contains("did you mean `zookeeper/register`?"), "{error}");
        let error = Catalog::Nemeses.load("partition-halfs").unwrap_err().to_string();
        assert!(error.contains("did you mean `partition-halves`?"), "{error}");
        let error = Catalog::Nemeses.load("xyz").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn a_name_cannot_climb_out_of_the_catalogue() {
        assert!(Catalog::Nemeses.load("../Cargo").is_err());
    }
}
