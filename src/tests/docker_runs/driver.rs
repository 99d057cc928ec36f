//! A run of the binary in the docker world, watched line by line.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, RwLockReadGuard};
use std::time::Duration;

use stormglass::docker::{Engine, RunId, runs};

use crate::binary::{Folder, Said, signal};
use crate::docker_cluster::harness::left_of;
use crate::gate::on_engine;

/// Longer than anything waited for takes.
const PATIENCE: Duration = Duration::from_secs(180);

/// Tests of whole runs take turns: each may have several clusters up at once.
pub fn alone() -> (MutexGuard<'static, ()>, RwLockReadGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    (TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), on_engine())
}

/// A process, the lines it has said on stderr, and the folder it runs in.
pub struct Run {
    pub folder: Folder,
    child: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Run {
    pub fn start(arguments: &str) -> Run {
        Run::start_in(Folder::new(), arguments)
    }

    pub fn start_in(folder: Folder, arguments: &str) -> Run {
        let mut command = folder.command(arguments);
        // Only the tests of addresses set one.
        if let Some(host) = std::env::var_os("DOCKER_HOST") {
            command.env("DOCKER_HOST", host);
        }
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Run { folder, child, lines, heard: Vec::new() }
    }

    /// Waits for a line that begins with these words, or has them in it; false if none came.
    pub fn hears(&mut self, words: &str) -> bool {
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            let is_it = line.contains(words);
            self.heard.push(line);
            if is_it {
                return true;
            }
        }
        false
    }

    pub fn await_line(&mut self, words: &str) {
        assert!(self.hears(words), "no line with `{words}`: {:#?}", self.heard);
    }

    /// The run's id on the engine, which it says first.
    pub fn id(&mut self) -> RunId {
        let named = |line: &String| {
            let id = line.strip_prefix("run ")?.split(':').next()?;
            id.parse().ok()
        };
        if let Some(id) = self.heard.iter().find_map(named) {
            return id;
        }
        self.await_line(": starting ");
        self.heard.iter().find_map(named).expect("an id")
    }

    pub fn signal(&self, number: i32) {
        signal(&self.child, number);
    }

    /// Ends the process where it stands.
    pub fn kill(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("killed");
    }

    pub fn wait(&mut self) -> Said {
        let mut out = String::new();
        let stdout = self.child.stdout.take();
        stdout.expect("piped").read_to_string(&mut out).expect("text");
        let status = self.child.wait().expect("an end");
        self.heard.extend(self.lines.iter());
        Said { code: status.code(), out, err: self.heard.join("\n") }
    }
}

impl Drop for Run {
    /// A test that failed must not leave its cluster.
    fn drop(&mut self) {
        let is_running = self.child.try_wait().is_ok_and(|status| status.is_none());
        if is_running {
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
        if std::thread::panicking() && !self.heard.is_empty() {
            let id = self.id();
            self.folder.run(&format!("down --force --run {id}"));
        }
    }
}

fn with_engine<T>(look: impl AsyncFnOnce(&Engine) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let engine = Engine::connect().await.unwrap_or_else(|error| panic!("{error}"));
        look(&engine).await
    })
}

/// Containers, networks and volumes of a run, by label; empty if there are none.
pub fn everything_of(run: &RunId) -> String {
    with_engine(async |engine| {
        let found = runs(engine).await.expect("listed");
        let ours = found.iter().find(|found| found.run == run.as_str());
        ours.map_or(String::new(), |found| format!("{found:?}"))
    })
}

/// No container, network, volume or packet rule of the run.
pub fn assert_nothing_left(run: &RunId) {
    assert_eq!(everything_of(run), "");
    if let Some(tables) = tables() {
        assert!(!tables.contains(&format!("sg_{run}_")), "{tables}");
    } else {
        let left = with_engine(async |engine| left_of(engine, run).await);
        assert_eq!(left, Vec::<String>::new());
    }
}

/// The kernel's packet rules, where the tool for that is installed.
fn tables() -> Option<String> {
    let output = Command::new("nft").args(["list", "tables"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
