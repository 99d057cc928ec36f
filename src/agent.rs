//! The hand of a run on a Docker host: `stormglass agent`, one container with the host's namespaces.
//!
//! It takes JSON lines on standard input, changes the network as they say, and proves it. It heals
//! everything by itself when its input ends, when nothing is heard for the length of the lease, or
//! when it is told to terminate; the kernel does so when it is killed. It never touches the host's
//! interfaces, clock or settings, nor any table that is not its own run's. It is synchronous: plain
//! threads, so that a deadline is kept whatever else happens. Only interposers, each on a thread of its
//! own, have a runtime.

pub mod protocol;

mod ability;
mod ask;
mod attribute;
mod cap;
mod census;
mod clock;
#[cfg(target_arch = "x86_64")]
mod detour;
#[cfg(not(target_arch = "x86_64"))]
#[path = "agent/no_detour.rs"]
mod detour;
mod fault_table;
mod frame;
mod hold;
mod interposer;
mod lease;
mod live_socket;
mod namespace;
mod netlink;
mod nftables;
mod probe;
mod process;
mod refusal;
mod session;
mod sever;
mod signal;
mod supervise;
mod table_reader;
mod worker;

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

pub use hold::hold;
pub use namespace::within;
pub use process::HOST_CGROUPS;
pub use supervise::{SuperviseArguments, supervise};

use fault_table::FaultTables;
use interposer::Interposers;
use lease::Lease;
use protocol::{Answer, Cause, Command, Message, Request};
use session::Session;
use worker::Worker;

/// How long an orchestrator may be silent.
pub const LEASE: Duration = Duration::from_secs(5);

/// How many things seen may wait to be told.
const MOST_SIGHTINGS: usize = 10_000;

const INFRASTRUCTURE: i32 = 3;

/// The arguments of `stormglass agent`.
#[derive(Clone, Debug, clap::Args)]
pub struct AgentArguments {
    /// The run whose tables it makes and heals
    #[arg(long, value_name = "ID", value_parser = parse_run)]
    run: String,
    /// Heal everything when nothing was heard for so many milliseconds
    #[arg(long, value_name = "MS", default_value_t = LEASE.as_millis() as u64)]
    lease_ms: u64,
}

/// A run's id stands in table names between underscores.
pub fn parse_run(run: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match run.len() {
        1..=64 if run.bytes().all(fits) => Ok(run.to_owned()),
        _ => Err(format!("run {run:?}, expected 1 to 64 of a-z, 0-9 and -")),
    }
}

enum Work {
    Request(Request),
    End,
}

/// Serves until its input ends, it is told to terminate, or to say good-bye; the exit code.
pub fn run(arguments: AgentArguments) -> i32 {
    match serve(&arguments) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("stormglass agent: {error:#}");
            INFRASTRUCTURE
        }
    }
}

fn serve(arguments: &AgentArguments) -> anyhow::Result<()> {
    let signals = [libc::SIGTERM, libc::SIGINT];
    signal::block(&signals)?;
    let tables = FaultTables::open(&arguments.run)?;
    let lease = Lease::new(Duration::from_millis(arguments.lease_ms));
    let (sightings, seen) = mpsc::sync_channel(MOST_SIGHTINGS);
    let interposers = Interposers::new(&arguments.run, sightings);
    let session = Arc::new(Session::new(&arguments.run, tables, interposers, lease));
    let (work, queue) = mpsc::channel();

    spawn("teller", &session, move |session| session.tell(&seen))?;
    spawn("lease", &session, |session| session.watch_lease())?;
    let reader_work = work.clone();
    spawn("reader", &session, move |session| read(session, &reader_work))?;
    spawn("signals", &session, move |session| {
        signal::next(&signals);
        session.end(Cause::Terminated);
        // A closed queue means that the agent is ending already.
        let _ = work.send(Work::End);
    })?;

    let mut worker = Worker::new(&session, &arguments.run);
    while let Ok(Work::Request(request)) = queue.recv() {
        let last = request.command == Command::Bye;
        worker.handle(request);
        if last {
            break;
        }
    }
    Ok(())
}

/// These threads end with the process.
fn spawn(
    name: &str,
    session: &Arc<Session>,
    work: impl FnOnce(&Session) + Send + 'static,
) -> io::Result<()> {
    let session = Arc::clone(session);
    std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&session))?;
    Ok(())
}

/// Every line is a sign of life; heartbeats are answered here, past whatever the worker is at.
fn read(session: &Session, work: &Sender<Work>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        session.lease.extend();
        match serde_json::from_str::<Request>(&line) {
            Ok(Request { id, command: Command::Heartbeat }) => {
                session.say(&Message::Answer { id, answer: Answer::Heartbeat });
            }
            Ok(request) => {
                if work.send(Work::Request(request)).is_err() {
                    return;
                }
            }
            Err(error) => session.say(&Message::Garbled { error: format!("{error}: {line}") }),
        }
    }
    session.end(Cause::EndOfInput);
    let _ = work.send(Work::End);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_would_not_fit_a_table_name_are_refused() {
        for run in ["a", "20261129-1", &"x".repeat(64)] {
            assert_eq!(parse_run(run).as_deref(), Ok(run));
        }
        for run in ["", "A", "a_b", "a b", "é", &"x".repeat(65)] {
            assert!(parse_run(run).is_err(), "{run:?}");
        }
    }
}
