//! The orchestrator's side of a run's agent: starts its container, asks it, keeps its lease, ends it.
//!
//! It knows containers and the protocol, not what a fault is for. Dropping it ends the agent's input,
//! upon which the agent heals everything and its container goes.

mod connection;
mod plan;
mod tapping;
mod traffic;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bollard::Docker;
use bollard::errors::Error as EngineError;
use bollard::query_parameters::{
    CreateContainerOptionsBuilder, InspectContainerOptions, RemoveContainerOptionsBuilder,
    StartContainerOptions,
};
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::agent::protocol::{
    Answer, Cause, ClockReport, ClockTrial, Command, Enrollment, Greeting, Healed, Heard, Offsets,
    ProbeReport, ProcessFacts, Resident, Table, Tally,
};
use crate::cluster::{Ability, FaultId, Link, Manner, Observed};
use crate::op::NodeName;
use connection::{Connection, Question};
pub use plan::AgentPlan;

/// The label that every container of a run carries.
pub const RUN_LABEL: &str = "stormglass.run";

const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const END_WITHIN: Duration = Duration::from_secs(10);
const REMOVAL_POLL: Duration = Duration::from_millis(20);

/// What an agent says unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It took everything back: what is recorded as in force no longer is.
    Healed(Healed),
    /// A line of its standard error, or one that it could not read.
    Said(String),
    /// It cannot be talked to any more, and why.
    Lost(String),
}

/// A running agent.
pub struct Agent {
    docker: Docker,
    container: String,
    greeting: Greeting,
    questions: mpsc::UnboundedSender<Question>,
    notices: Mutex<mpsc::UnboundedReceiver<Notice>>,
    sightings: Mutex<mpsc::UnboundedReceiver<Observed>>,
}

impl Agent {
    /// Starts the container, attaches to it and hears what it can do.
    pub async fn start(docker: &Docker, plan: &AgentPlan) -> anyhow::Result<Agent> {
        let options = CreateContainerOptionsBuilder::default().name(&plan.container).build();
        let created = docker
            .create_container(Some(options), plan.body())
            .await
            .with_context(|| format!("create the agent's container {}", plan.container))?;
        match Agent::open(docker, plan, &created.id).await {
            Ok(agent) => Ok(agent),
            Err(error) => {
                // The first error is the one to tell.
                let _ = remove(docker, &created.id).await;
                Err(error).with_context(|| format!("start agent {}", plan.container))
            }
        }
    }

    async fn open(docker: &Docker, plan: &AgentPlan, id: &str) -> anyhow::Result<Agent> {
        let Connection { questions, notices, sightings } =
            connection::open(docker.clone(), id.to_owned(), plan.heartbeat).await?;
        docker.start_container(id, None::<StartContainerOptions>).await.context("start it")?;
        let answer = ask(&questions, Command::Hello, ANSWER_WITHIN).await?;
        let Answer::Hello { greeting } = answer else { return unexpected("hello", &answer) };
        let ours = env!("CARGO_PKG_VERSION");
        ensure!(
            greeting.version == ours,
            "image {} has version {}, expected our own, {ours}",
            plan.image,
            greeting.version
        );
        Ok(Agent {
            docker: docker.clone(),
            container: id.to_owned(),
            greeting,
            questions,
            notices: Mutex::new(notices),
            sightings: Mutex::new(sightings),
        })
    }

    /// What it said of itself and its kernel.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// The id of its container.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// The next thing it says unasked; `None` once all is said.
    pub async fn notice(&self) -> Option<Notice> {
        self.notices.lock().await.recv().await
    }

    /// Makes nodes known by name, so that they can be cut and probed.
    pub async fn enroll(&self, nodes: Vec<Enrollment>) -> anyhow::Result<()> {
        match self.ask(Command::Enroll { nodes }).await? {
            Answer::Enroll => Ok(()),
            answer => unexpected("enroll", &answer),
        }
    }

    /// Drops or refuses what goes over these links; the tables as the kernel then shows them.
    pub async fn cut(
        &self,
        fault: FaultId,
        links: BTreeSet<Link>,
        manner: Manner,
    ) -> anyhow::Result<Vec<Table>> {
        match self.ask(Command::Cut { fault, links, manner }).await? {
            Answer::Cut { tables } => Ok(tables),
            answer => unexpected("cut", &answer),
        }
    }

    /// Takes back exactly that cut; what it dropped, or `None` where it was no longer in force.
    pub async fn join(&self, fault: FaultId) -> anyhow::Result<Option<Tally>> {
        match self.ask(Command::Join { fault }).await? {
            Answer::Join { tally } => Ok(tally),
            answer => unexpected("join", &answer),
        }
    }

    /// Removes all tables of the run, also those that an agent before this one left behind.
    pub async fn heal(&self) -> anyhow::Result<Healed> {
        match self.ask(Command::Heal).await? {
            Answer::Heal { healed } => Ok(healed),
            answer => unexpected("heal", &answer),
        }
    }

    /// What each cut in force has dropped so far.
    pub async fn counters(&self) -> anyhow::Result<Vec<Tally>> {
        match self.ask(Command::Counters).await? {
            Answer::Counters { tallies } => Ok(tallies),
            answer => unexpected("counters", &answer),
        }
    }

    /// Sends a packet over each link and sees whether it comes out.
    ///
    /// It returns as soon as every packet has arrived or was counted by our tables, or at the bound.
    pub async fn probe(
        &self,
        links: BTreeSet<Link>,
        bound: Duration,
    ) -> anyhow::Result<ProbeReport> {
        let command = Command::Probe { links, bound_ms: bound.as_millis() as u64 };
        match ask(&self.questions, command, bound + ANSWER_WITHIN).await? {
            Answer::Probe { report } => Ok(report),
            answer => unexpected("probe", &answer),
        }
    }

    /// Asks the service at a port of a node, from within the node's own network.
    ///
    /// It hears up to `enough` bytes, and waits for no longer than the bound.
    pub async fn ask_service(
        &self,
        node: NodeName,
        port: u16,
        send: &str,
        enough: usize,
        bound: Duration,
    ) -> anyhow::Result<Heard> {
        let (send, bound_ms) = (send.to_owned(), bound.as_millis() as u64);
        let command = Command::Ask { node, port, send, enough, bound_ms };
        match ask(&self.questions, command, bound + ANSWER_WITHIN).await? {
            Answer::Ask { heard } => Ok(heard),
            answer => unexpected("ask", &answer),
        }
    }

    /// Where anything listens in a node's network, our interposers apart.
    pub async fn listening(&self, node: NodeName) -> anyhow::Result<BTreeSet<SocketAddr>> {
        match self.ask(Command::Listening { node }).await? {
            Answer::Listening { at } => Ok(at),
            answer => unexpected("listening", &answer),
        }
    }

    /// The run's tables as the kernel shows them.
    pub async fn status(&self) -> anyhow::Result<Vec<Table>> {
        match self.ask(Command::Status).await? {
            Answer::Status { tables } => Ok(tables),
            answer => unexpected("status", &answer),
        }
    }

    /// What this kernel lets us do, each tried on something of the agent's own.
    pub async fn abilities(&self) -> anyhow::Result<Vec<Ability>> {
        match self.ask(Command::Abilities).await? {
            Answer::Abilities { abilities } => Ok(abilities),
            answer => unexpected("abilities", &answer),
        }
    }

    /// What the host's kernel says of a process; `None` where there is none.
    pub async fn process(&self, pid: u32) -> anyhow::Result<Option<ProcessFacts>> {
        match self.ask(Command::Process { pid }).await? {
            Answer::Process { process } => Ok(process),
            answer => unexpected("process", &answer),
        }
    }

    /// The processes of the container whose first process this is, by pid; none where it is gone.
    pub async fn census(&self, first: u32) -> anyhow::Result<Vec<Resident>> {
        match self.ask(Command::Census { first }).await? {
            Answer::Census { residents } => Ok(residents),
            answer => unexpected("census", &answer),
        }
    }

    /// Sends a signal to a process of that container; false where it is gone by now.
    pub async fn signal(
        &self,
        first: u32,
        process: &Resident,
        signal: i32,
    ) -> anyhow::Result<bool> {
        let (pid, start_ticks) = (process.pid, process.facts.start_ticks);
        match self.ask(Command::Signal { first, pid, start_ticks, signal }).await? {
            Answer::Signal { sent } => Ok(sent),
            answer => unexpected("signal", &answer),
        }
    }

    /// Sets how far the clocks of a container's processes are off, and reads them back in each of them.
    ///
    /// `pid` is the container's main process. What they had before is replaced, but a monotonic clock
    /// stays where it is further ahead already. A process that starts a program anew has true clocks.
    pub async fn skew_clock(&self, pid: u32, offsets: Offsets) -> anyhow::Result<ClockReport> {
        match self.ask(Command::SkewClock { pid, offsets }).await? {
            Answer::SkewClock { report } => Ok(report),
            answer => unexpected("skew-clock", &answer),
        }
    }

    /// What the clocks of a container's processes show, as they themselves see it.
    pub async fn read_clock(&self, pid: u32) -> anyhow::Result<ClockReport> {
        match self.ask(Command::ReadClock { pid }).await? {
            Answer::ReadClock { report } => Ok(report),
            answer => unexpected("read-clock", &answer),
        }
    }

    /// Puts the wall clocks of a container's processes right, whoever skewed them, and reads them.
    ///
    /// A monotonic clock that is ahead stays so until its process starts anew.
    pub async fn heal_clock(&self, pid: u32) -> anyhow::Result<ClockReport> {
        match self.ask(Command::HealClock { pid }).await? {
            Answer::HealClock { report } => Ok(report),
            answer => unexpected("heal-clock", &answer),
        }
    }

    /// Skews a clock of the agent's own; an error says why that does not work on its host.
    pub async fn try_clocks(&self) -> anyhow::Result<ClockTrial> {
        match self.ask(Command::TryClocks).await? {
            Answer::TryClocks { trial } => Ok(trial),
            answer => unexpected("try-clocks", &answer),
        }
    }

    async fn ask(&self, command: Command) -> anyhow::Result<Answer> {
        ask(&self.questions, command, ANSWER_WITHIN).await
    }

    /// Ends the agent's input, hears that it healed everything, and waits until its container is gone.
    pub async fn stop(self) -> anyhow::Result<Healed> {
        drop(self.questions);
        let mut notices = self.notices.into_inner();
        let heard = tokio::time::timeout(END_WITHIN, last_heal(&mut notices)).await;
        // It goes by itself; if it hangs, the kernel takes the tables back with it.
        remove(&self.docker, &self.container).await?;
        heard.context("the agent did not end with its input")?
    }
}

async fn last_heal(notices: &mut mpsc::UnboundedReceiver<Notice>) -> anyhow::Result<Healed> {
    let mut said = Vec::new();
    while let Some(notice) = notices.recv().await {
        match notice {
            Notice::Healed(healed) if healed.because == Cause::LeaseExpired => {}
            Notice::Healed(healed) => return Ok(healed),
            Notice::Said(line) | Notice::Lost(line) => said.push(line),
        }
    }
    bail!("the agent ended without saying that it healed; it said: {}", said.join("; "))
}

async fn ask(
    questions: &mpsc::UnboundedSender<Question>,
    command: Command,
    within: Duration,
) -> anyhow::Result<Answer> {
    let (reply, answer) = oneshot::channel();
    let asked = questions.send(Question { command, reply });
    if asked.is_err() {
        bail!("the agent is gone");
    }
    let answer = tokio::time::timeout(within, answer).await;
    let answer = answer.with_context(|| format!("no answer from the agent within {within:?}"))?;
    answer.context("the agent is gone")?
}

fn unexpected<T>(command: &str, answer: &Answer) -> anyhow::Result<T> {
    bail!("the agent answered {command} with {answer:?}")
}

/// Removes a container and waits until the engine no longer knows it.
async fn remove(docker: &Docker, id: &str) -> anyhow::Result<()> {
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    match docker.remove_container(id, Some(options)).await {
        // 409: it is being removed already, which is not yet removed.
        Ok(()) | Err(EngineError::DockerResponseServerError { status_code: 404 | 409, .. }) => {}
        Err(error) => return Err(error).with_context(|| format!("remove container {id}")),
    }
    let gone = async {
        while docker.inspect_container(id, None::<InspectContainerOptions>).await.is_ok() {
            tokio::time::sleep(REMOVAL_POLL).await;
        }
    };
    tokio::time::timeout(END_WITHIN, gone).await.with_context(|| format!("{id} is still there"))
}
