//! The line to an agent: attached streams, questions matched to answers, and the heartbeat.
//!
//! It lives on a thread of its own with its own runtime, so that the lease is kept even while the
//! orchestrator's own runtime is busy with something else.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, anyhow};
use bollard::Docker;
use bollard::container::{AttachContainerResults, LogOutput};
use bollard::query_parameters::AttachContainerOptionsBuilder;
use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use super::Notice;
use crate::agent::protocol::{Answer, Command, Message, Request};
use crate::cluster::Observed;

/// The id of heartbeats, whose answers nobody awaits.
const HEARTBEAT_ID: u64 = 0;
/// What is told when an agent ends without a word of its own.
const LAST_WORDS: usize = 5;
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);

/// A command and where its answer goes.
pub struct Question {
    pub command: Command,
    pub reply: oneshot::Sender<anyhow::Result<Answer>>,
}

/// Dropping `questions` ends the agent's input.
pub struct Connection {
    pub questions: mpsc::UnboundedSender<Question>,
    pub notices: mpsc::UnboundedReceiver<Notice>,
    /// What the agent's interposers see.
    pub sightings: mpsc::UnboundedReceiver<Observed>,
}

/// Attaches to a container that is created and not yet started.
pub async fn open(
    docker: Docker,
    container: String,
    heartbeat: Duration,
) -> anyhow::Result<Connection> {
    let (questions, asked) = mpsc::unbounded_channel();
    let (notice, notices) = mpsc::unbounded_channel();
    let (sighting, sightings) = mpsc::unbounded_channel();
    let (ready, attached) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let serve = move || {
        runtime.block_on(async move {
            let streams = match attach(&docker, &container).await {
                Ok(streams) => streams,
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            if ready.send(Ok(())).is_ok() {
                Line::new(streams, notice, sighting).serve(asked, heartbeat).await;
            }
        });
    };
    std::thread::Builder::new().name("stormglass-agent".to_owned()).spawn(serve)?;
    attached.await.context("the thread that attaches is gone")??;
    Ok(Connection { questions, notices, sightings })
}

async fn attach(docker: &Docker, container: &str) -> anyhow::Result<AttachContainerResults> {
    let options = AttachContainerOptionsBuilder::default()
        .stdin(true)
        .stdout(true)
        .stderr(true)
        .stream(true)
        .build();
    docker.attach_container(container, Some(options)).await.context("attach to it")
}

struct Line {
    streams: AttachContainerResults,
    notice: mpsc::UnboundedSender<Notice>,
    sighting: mpsc::UnboundedSender<Observed>,
    awaited: BTreeMap<u64, oneshot::Sender<anyhow::Result<Answer>>>,
    last_id: u64,
    /// What has come of lines that are not yet whole.
    output: Vec<u8>,
    errors: Vec<u8>,
    said: Vec<String>,
}

impl Line {
    fn new(
        streams: AttachContainerResults,
        notice: mpsc::UnboundedSender<Notice>,
        sighting: mpsc::UnboundedSender<Observed>,
    ) -> Line {
        Line {
            streams,
            notice,
            sighting,
            awaited: BTreeMap::new(),
            last_id: HEARTBEAT_ID,
            output: Vec::new(),
            errors: Vec::new(),
            said: Vec::new(),
        }
    }

    async fn serve(
        mut self,
        mut questions: mpsc::UnboundedReceiver<Question>,
        heartbeat: Duration,
    ) {
        let mut beat = tokio::time::interval(heartbeat);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asking = true;
        let lost = loop {
            // The heartbeat first: whatever the traffic, the lease is kept.
            let done = tokio::select! {
                biased;
                _ = beat.tick(), if asking => self.send(HEARTBEAT_ID, Command::Heartbeat).await,
                question = questions.recv(), if asking => match question {
                    Some(question) => self.ask(question).await,
                    None => {
                        asking = false;
                        self.streams.input.shutdown().await.context("end the agent's input")
                    }
                },
                output = self.streams.output.next() => match output {
                    Some(Ok(output)) => {
                        self.take(output);
                        Ok(())
                    }
                    Some(Err(error)) => Err(error).context("hear from the agent"),
                    None => Err(anyhow!("the agent ended")),
                },
            };
            if let Err(error) = done {
                self.hear_last_words().await;
                break self.with_last_words(&error);
            }
        };
        for (_, reply) in std::mem::take(&mut self.awaited) {
            let _ = reply.send(Err(anyhow!("{lost}")));
        }
        // Those who do not listen are past caring; so with all notices.
        let _ = self.notice.send(Notice::Lost(lost));
    }

    async fn ask(&mut self, question: Question) -> anyhow::Result<()> {
        self.last_id += 1;
        self.awaited.insert(self.last_id, question.reply);
        self.send(self.last_id, question.command).await
    }

    async fn send(&mut self, id: u64, command: Command) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&Request { id, command })?;
        line.push(b'\n');
        let input = &mut self.streams.input;
        input.write_all(&line).await.context("write to the agent")?;
        input.flush().await.context("write to the agent")
    }

    fn take(&mut self, output: LogOutput) {
        match output {
            LogOutput::StdErr { message } => {
                self.errors.extend(message);
                for line in whole_lines(&mut self.errors) {
                    self.said(line);
                }
            }
            LogOutput::StdOut { message } | LogOutput::Console { message } => {
                self.output.extend(message);
                for line in whole_lines(&mut self.output) {
                    self.hear(line);
                }
            }
            LogOutput::StdIn { .. } => {}
        }
    }

    fn hear(&mut self, line: String) {
        let (id, result) = match serde_json::from_str(&line) {
            Ok(Message::Answer { id, answer }) => (id, Ok(answer)),
            Ok(Message::Failure { id, error }) => (id, Err(anyhow!(error))),
            Ok(Message::Healed { healed }) => {
                let _ = self.notice.send(Notice::Healed(healed));
                return;
            }
            Ok(Message::Seen { concerning, node, message, age_us }) => {
                let (what, message) = (message.request.clone(), Some(message));
                let _ = self.sighting.send(Observed { concerning, node, what, message, age_us });
                return;
            }
            Ok(Message::Garbled { error }) => return self.said(error),
            Err(_) => return self.said(line),
        };
        if let Some(reply) = self.awaited.remove(&id) {
            // Nobody waits any longer for an answer that came too late.
            let _ = reply.send(result);
        }
    }

    fn said(&mut self, line: String) {
        if self.said.len() == LAST_WORDS {
            self.said.remove(0);
        }
        self.said.push(line.clone());
        let _ = self.notice.send(Notice::Said(line));
    }

    /// An agent that cannot be written to may have said why before it went.
    async fn hear_last_words(&mut self) {
        let hear = async {
            while let Some(Ok(output)) = self.streams.output.next().await {
                self.take(output);
            }
        };
        // What is not heard in time is not told.
        let _ = tokio::time::timeout(LAST_WORDS_WITHIN, hear).await;
    }

    fn with_last_words(&self, error: &anyhow::Error) -> String {
        match &self.said[..] {
            [] => format!("{error:#}"),
            said => format!("{error:#}; it said: {}", said.join("; ")),
        }
    }
}

/// Takes the lines that are whole, and leaves the rest.
fn whole_lines(bytes: &mut Vec<u8>) -> Vec<String> {
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
    let rest = bytes.split_off(end + 1);
    let whole = std::mem::replace(bytes, rest);
    String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_when_whole() {
        let mut bytes = b"one\ntwo\nthr".to_vec();
        assert_eq!(whole_lines(&mut bytes), ["one", "two"]);
        assert_eq!(whole_lines(&mut bytes), Vec::<String>::new());
        bytes.extend(b"ee\n");
        assert_eq!(whole_lines(&mut bytes), ["three"]);
        assert!(bytes.is_empty());
    }
}
