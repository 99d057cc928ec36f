//! The binary as its users meet it: a process in a folder of its own, and what it said.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub const EXECUTABLE: &str = env!("CARGO_BIN_EXE_stormglass");

/// The user whom nothing belongs to.
const NOBODY: &str = "65534";

/// A folder to run in, removed at the end.
pub struct Folder {
    path: PathBuf,
    environment: Vec<(String, String)>,
}

/// What a process said, with this folder's path as `[folder]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stormglass-binary-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a fresh folder");
        Folder { path, environment: Vec::new() }
    }

    /// Sets a variable for every process from here on.
    pub fn with(mut self, name: &str, value: &str) -> Folder {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("written");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file below, by its path, with its bytes; links by where they point.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        self.walk(&self.path, &mut found);
        found
    }

    fn walk(&self, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(&self.path).expect("below").display().to_string();
            if let Ok(target) = fs::read_link(&path) {
                found.insert(name, target.display().to_string().into_bytes());
            } else if path.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                self.walk(&path, found);
            } else {
                // A socket has no bytes.
                found.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }

    /// The binary with these arguments, words with blanks between.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(EXECUTABLE);
        self.prepare(&mut command, arguments.split_whitespace());
        command
    }

    /// The same, run by a user who may do next to nothing; `None` where that cannot be had.
    pub fn command_as_nobody(&self, arguments: &str) -> Option<Command> {
        // The build folder may be closed to others.
        let executable = self.path("stormglass");
        if !executable.exists() {
            fs::copy(EXECUTABLE, &executable).expect("copied");
        }
        let mut command = Command::new("setpriv");
        let user = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
        command.args(user).arg("--clear-groups").arg(&executable);
        let probe = command.arg("--version").output();
        if !probe.is_ok_and(|output| output.status.success()) {
            println!("not run: needs root and setpriv, to run as another user");
            return None;
        }
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
        command.arg("--clear-groups").arg(&executable);
        self.prepare(&mut command, arguments.split_whitespace());
        Some(command)
    }

    fn prepare(&self, command: &mut Command, arguments: impl Iterator<Item = impl AsRef<OsStr>>) {
        command.args(arguments).current_dir(&self.path);
        command.env_remove("DOCKER_HOST").env_remove("COLUMNS");
        command.envs(self.environment.iter().cloned());
    }

    pub fn run(&self, arguments: &str) -> Said {
        self.said(self.command(arguments).output().expect("a process"))
    }

    pub fn said(&self, output: Output) -> Said {
        let path = self.path.display().to_string();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&path, "[folder]");
        Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Waits for a process that was started with its output piped.
    pub fn wait(&self, child: Child) -> Said {
        self.said(child.wait_with_output().expect("an end"))
    }

    /// The one results folder, relative to here.
    pub fn results(&self) -> String {
        let latest = fs::read_link(self.path("results/latest")).expect("a link to the newest run");
        format!("results/{}", latest.display())
    }

    pub fn results_json(&self, results: &str) -> serde_json::Value {
        let text = self.read(&format!("{results}/results.json"));
        serde_json::from_str(&text).expect("JSON")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Sends a signal to a process that was started here.
pub fn signal(child: &Child, number: i32) {
    let pid = i32::try_from(child.id()).expect("a pid");
    // SAFETY: `kill` takes two numbers and touches no memory; the child has not been waited for.
    let sent = unsafe { libc::kill(pid, number) };
    assert_eq!(sent, 0, "the process is there");
}
