//! Does what requests ask, one after another, and answers.

mod asking;
mod cuts;
mod links;
mod tapping;

use std::sync::Arc;
use std::time::Duration;

use super::ability;
use super::ask::Question;
use super::census;
use super::probe::Prober;
use super::process;
use super::protocol::{Answer, Cause, Command, Enrollment, Greeting, Message, Request};
use super::session::Session;

/// A probe holds up the requests behind it.
const LONGEST_PROBE: Duration = Duration::from_secs(10);

pub struct Worker<'a> {
    session: &'a Arc<Session>,
    run: &'a str,
    prober: Prober,
}

impl<'a> Worker<'a> {
    pub fn new(session: &'a Arc<Session>, run: &'a str) -> Worker<'a> {
        Worker { session, run, prober: Prober::default() }
    }

    pub fn handle(&mut self, request: Request) {
        let id = request.id;
        let message = match self.answer(id, request.command) {
            Ok(Some(answer)) => Message::Answer { id, answer },
            Ok(None) => return,
            Err(error) => Message::Failure { id, error: format!("{error:#}") },
        };
        self.session.say(&message);
    }

    /// `None` where the answer will be given by somebody else.
    fn answer(&mut self, id: u64, command: Command) -> anyhow::Result<Option<Answer>> {
        Ok(Some(match command {
            Command::Ask { node, port, send, enough, bound_ms } => {
                let question = Question { send, enough };
                self.ask(id, (&node, port), question, bound_ms)?;
                return Ok(None);
            }
            Command::Listening { node } => Answer::Listening { at: self.listening(&node)? },
            Command::Hello => Answer::Hello { greeting: self.greet()? },
            Command::Enroll { nodes } => self.enroll(nodes)?,
            Command::Cut { fault, links, manner } => self.cut(fault, &links, manner)?,
            Command::Join { fault } => self.join(fault)?,
            Command::Sever { links, port } => self.sever(&links, port)?,
            Command::Throttle { fault, links, bytes_per_second } => {
                self.throttle(fault, &links, bytes_per_second)?
            }
            Command::Unthrottle { fault } => self.unthrottle(fault)?,
            Command::Measure { links, bytes_per_second } => {
                self.measure(&links, bytes_per_second)?
            }
            Command::Heal => self.heal(),
            Command::Counters => self.counters()?,
            Command::Probe { links, bound_ms } => self.probe(&links, bound_ms)?,
            Command::ProbePort { links, port, bound_ms } => {
                self.probe_port(&links, port, bound_ms)?
            }
            Command::Tap { taps } => Answer::Tap { taps: self.tap(taps)? },
            Command::Arm { concerning, taps, effect } => self.arm(concerning, taps, &effect)?,
            Command::Disarm { concerning } => {
                Answer::Disarm { spent: self.session.interposers().disarm(concerning)? }
            }
            Command::ProbeTap { tap, with, bound_ms } => self.probe_tap(tap, with, bound_ms)?,
            Command::Status => Answer::Status { tables: self.status()? },
            Command::Abilities => {
                let bridges = self.session.tables().support().clone();
                Answer::Abilities { abilities: ability::try_all(&bridges) }
            }
            Command::Process { pid } => Answer::Process { process: process::facts(pid)? },
            Command::Census { first } => Answer::Census { residents: census::census(first)? },
            Command::Signal { first, pid, start_ticks, signal } => {
                Answer::Signal { sent: census::signal(first, pid, start_ticks, signal)? }
            }
            Command::SkewClock { pid, offsets } => {
                Answer::SkewClock { report: self.session.clocks().skew(pid, offsets)? }
            }
            Command::ReadClock { pid } => {
                Answer::ReadClock { report: self.session.clocks().read(pid)? }
            }
            Command::HealClock { pid } => {
                Answer::HealClock { report: self.session.clocks().heal(pid)? }
            }
            Command::TryClocks => Answer::TryClocks { trial: self.session.clocks().try_out()? },
            Command::Heartbeat => Answer::Heartbeat,
            Command::Bye => {
                self.session.end(Cause::Asked);
                Answer::Bye
            }
        }))
    }

    fn heal(&self) -> Answer {
        let mut healed = self.session.heal(Cause::Asked);
        let (swept, left) = self.sweep_nodes();
        healed.swept.extend(swept);
        healed.left.extend(left);
        Answer::Heal { healed }
    }

    fn greet(&self) -> anyhow::Result<Greeting> {
        Ok(Greeting {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            run: self.run.to_owned(),
            lease_ms: self.session.lease.length().as_millis() as u64,
            tables: self.session.tables().support().clone(),
        })
    }

    fn enroll(&mut self, nodes: Vec<Enrollment>) -> anyhow::Result<Answer> {
        for node in nodes {
            self.prober.enroll(node)?;
        }
        Ok(Answer::Enroll)
    }
}
