//! A service's output, written to `nodes/<name>/service.log` as it comes, across restarts, and shown to
//! whoever looks out for a line.

mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bollard::container::LogOutput;
use bollard::query_parameters::LogsOptionsBuilder;
use futures::StreamExt;
use tokio::fs::File;
use tokio::io::{AsyncWriteExt, BufWriter};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::docker::engine::{Engine, words};
use crate::op::NodeName;
pub(super) use watch::LogWatch;

/// How long the last lines may take after the container ended.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Follows one container's output until it is stopped.
pub(super) struct LogStream {
    restarted: Arc<Notify>,
    ended: Arc<Notify>,
    task: JoinHandle<std::io::Result<()>>,
}

impl LogStream {
    /// Begins to follow a node's container into `folder/service.log`.
    pub async fn follow(
        engine: &Engine,
        node: NodeName,
        container: &str,
        folder: &Path,
        watch: Arc<LogWatch>,
    ) -> std::io::Result<LogStream> {
        tokio::fs::create_dir_all(folder).await?;
        let path = folder.join("service.log");
        let file = File::create(&path).await?;
        let (restarted, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let follower = Follower {
            engine: engine.clone(),
            node,
            container: container.to_owned(),
            watch,
            file: BufWriter::new(file),
            last: String::new(),
        };
        let task = tokio::spawn(follower.run(restarted.clone(), ended.clone()));
        Ok(LogStream { restarted, ended, task })
    }

    /// Tells that the container was started again.
    pub fn resume(&self) {
        self.restarted.notify_one();
    }

    /// Stops following a container that goes on.
    pub async fn leave(self) {
        self.task.abort();
        // It has just been told to end; how it ended is of no interest.
        let _ = self.task.await;
    }

    /// Takes the last lines of a container that has ended and closes the file.
    pub async fn finish(mut self) {
        self.ended.notify_one();
        if tokio::time::timeout(LAST_LINES, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

struct Follower {
    engine: Engine,
    node: NodeName,
    container: String,
    watch: Arc<LogWatch>,
    file: BufWriter<File>,
    /// The engine's time stamp of the last line written: what a new stream must not repeat.
    last: String,
}

impl Follower {
    async fn run(mut self, restarted: Arc<Notify>, ended: Arc<Notify>) -> std::io::Result<()> {
        loop {
            self.copy().await?;
            self.file.flush().await?;
            tokio::select! {
                biased;
                () = restarted.notified() => {}
                () = ended.notified() => return Ok(()),
            }
        }
    }

    /// Copies lines until the container ends.
    async fn copy(&mut self) -> std::io::Result<()> {
        let options =
            LogsOptionsBuilder::new().follow(true).stdout(true).stderr(true).timestamps(true);
        let options = options.since(self.since()).build();
        let api = self.engine.api().clone();
        let mut lines = std::pin::pin!(api.logs(&self.container, Some(options)));
        let mut is_repeated = !self.last.is_empty();
        while let Some(Ok(line)) = lines.next().await {
            let (time, text) = split(&line);
            if is_repeated && time <= self.last {
                continue;
            }
            is_repeated = false;
            // First those who wait for it, then the disk.
            self.watch.look(self.node, &time, &text);
            self.last = time;
            self.file.write_all(text.as_bytes()).await?;
        }
        Ok(())
    }

    /// The second before the last line, as the engine takes no finer time.
    fn since(&self) -> i32 {
        let time = self.last.parse::<jiff::Timestamp>();
        time.map_or(0, |time| i32::try_from(time.as_second() - 1).unwrap_or(0))
    }
}

/// The engine's time stamp and the line itself. Of a line without one, the time is empty.
fn split(line: &LogOutput) -> (String, String) {
    let text = String::from_utf8_lossy(line.as_ref());
    match text.split_once(' ') {
        Some((time, rest)) => (time.to_owned(), rest.to_owned()),
        None => (String::new(), text.into_owned()),
    }
}

/// The last lines of a container, for an error's text.
pub(super) async fn tail(engine: &Engine, container: &str, lines: usize) -> String {
    let options =
        LogsOptionsBuilder::new().stdout(true).stderr(true).tail(&lines.to_string()).build();
    let collected: Vec<String> = engine
        .api()
        .logs(container, Some(options))
        .map(|line| line.map_or_else(|error| words(&error), |line| line.to_string()))
        .collect()
        .await;
    collected.concat().trim_end().to_owned()
}

/// Where a node's files are kept.
pub(super) fn folder(results: &Path, node: &str) -> PathBuf {
    results.join("nodes").join(node)
}
