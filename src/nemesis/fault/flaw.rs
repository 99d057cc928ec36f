//! Which fields each kind of fault takes and needs, and what is wrong with a fault that has others.

use super::{Fault, FaultKind, Shape, Traffic};
use std::time::Duration;

use crate::cluster::{Form, Refusal, Toxic};
use crate::duration::Span;
use crate::nemesis::plan::session_id;
use crate::nemesis::target::{Party, TARGETS, Target};

/// A field, and what was expected of it.
pub type Flaw = (&'static str, String);

/// Fields that every kind takes.
const ALWAYS: &str = "after, for, every, jitter, when, pace and weight";

impl FaultKind {
    /// The fields that it takes, apart from those that say when.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            FaultKind::Partition => &["shape", "target", "link", "traffic", "refusal", "port"],
            FaultKind::Kill | FaultKind::Stop | FaultKind::Pause | FaultKind::Crash => &["target"],
            FaultKind::Sever => &["target", "link", "port"],
            FaultKind::Resign => &["target"],
            FaultKind::Throttle => &["target", "link", "bytes_per_second"],
            FaultKind::Message => {
                &["target", "link", "port", "message", "form", "nth", "times", "delay"]
            }
            FaultKind::Toxic => &["target", "link", "port", "toxic"],
            FaultKind::Clock => &["target", "clock", "by"],
            FaultKind::ExpireSession => &["target", "session"],
        }
    }
}

const MICROSECOND: Span = Span(Duration::from_micros(1));

const HOUR: Span = Span(Duration::from_secs(3_600));

/// No clock is set further off, so that no date falls out of what systems can hold.
const TEN_YEARS_NS: u64 = 87_600 * 3_600 * 1_000_000_000;

impl Fault {
    /// What is wrong with the combination of fields, if anything: the field, and what was expected.
    pub fn flaw(&self) -> Option<Flaw> {
        self.check().err()
    }

    fn check(&self) -> Result<(), Flaw> {
        self.check_foreign()?;
        self.check_aim()?;
        match self.fault {
            FaultKind::Partition => self.check_partition(),
            FaultKind::Resign => self.check_resign(),
            FaultKind::Throttle => self.check_throttle(),
            FaultKind::Message => self.check_message(),
            FaultKind::Toxic => self.check_toxic(),
            FaultKind::Clock => self.check_clock(),
            FaultKind::ExpireSession => self.check_session(),
            FaultKind::Kill
            | FaultKind::Stop
            | FaultKind::Pause
            | FaultKind::Crash
            | FaultKind::Sever => Ok(()),
        }?;
        require(self.port != Some(0), "port", || "expected a TCP port from 1 to 65535".into())?;
        self.check_timing()
    }

    /// Fields that are given and that not every kind takes.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let fields = [
            ("shape", self.shape.is_some()),
            ("target", self.target.is_some()),
            ("link", self.link.is_some()),
            ("traffic", self.traffic.is_some()),
            ("refusal", self.refusal.is_some()),
            ("port", self.port.is_some()),
            ("bytes_per_second", self.bytes_per_second.is_some()),
            ("message", self.message.is_some()),
            ("form", self.form.is_some()),
            ("nth", self.nth.is_some()),
            ("times", self.times.is_some()),
            ("delay", self.delay.is_some()),
            ("toxic", self.toxic.is_some()),
            ("clock", self.clock.is_some()),
            ("by", self.by.is_some()),
            ("session", self.session.is_some()),
        ];
        fields.into_iter().filter_map(|(name, given)| given.then_some(name))
    }

    fn check_foreign(&self) -> Result<(), Flaw> {
        let takes = self.fault.fields();
        let Some(foreign) = self.given().find(|name| !takes.contains(name)) else { return Ok(()) };
        let kinds = FaultKind::ALL.into_iter().filter(|kind| kind.fields().contains(&foreign));
        let kinds: Vec<&str> = kinds.map(FaultKind::name).collect();
        let message = format!(
            "{} takes no `{foreign}`, only {} does; it takes {}, and like every fault {ALWAYS}",
            self.fault.name(),
            kinds.join(", "),
            takes.join(", "),
        );
        Err((foreign, message))
    }

    /// Whether it says whom it hits, once.
    fn check_aim(&self) -> Result<(), Flaw> {
        self.check_parties()?;
        let takes_link = self.fault.fields().contains(&"link");
        match (&self.target, &self.link) {
            (Some(Target::Clients), _) => {
                let message = "clients are an end of links only, as in `link: clients<->leader`";
                Err(("target", format!("{message}; {}", no_target())))
            }
            (Some(_), Some(_)) => {
                Err(("link", "expected a `target` or a `link`, found both; leave one out".into()))
            }
            (_, Some(link)) if link.from == Target::Clients && link.to == Target::Clients => Err((
                "link",
                "expected a node at one end at least, such as clients<->leader".into(),
            )),
            (None, None) => match self.fault {
                FaultKind::Partition | FaultKind::Resign => Ok(()),
                _ if takes_link => {
                    let link = "a link such as follower->leader in `link`";
                    Err(("target", format!("{}; or {link}", no_target())))
                }
                _ => Err(("target", no_target())),
            },
            _ => Ok(()),
        }
    }

    /// Nodes of an event need an event that has them.
    fn check_parties(&self) -> Result<(), Flaw> {
        let field = if self.link.is_some() { "link" } else { "target" };
        for party in self.parties() {
            let (has, of) = match (&self.when, party) {
                (None, _) => (false, "a fault that waits for one; expected `when`"),
                (Some(when), Party::Sender | Party::Receiver | Party::Bystander) => {
                    (when.message.is_some(), "a message; expected `when: { message: … }`")
                }
                (Some(when), Party::Seen) => (
                    when.znode.is_none() && when.phase.is_none(),
                    "a log, message, view or outcome, since a znode or a phase is at no node",
                ),
            };
            require(has, field, || format!("`{}` is a node of an event, of {of}", party.name()))?;
        }
        Ok(())
    }

    fn check_partition(&self) -> Result<(), Flaw> {
        let shape = self.shape.ok_or_else(|| {
            let shapes = "halves, isolate, majority-minority, one-way, majorities-ring, bridge, \
                          minority-third, random or link";
            ("shape", format!("a partition needs a shape: {shapes}"))
        })?;
        let needs_target = matches!(shape, Shape::Isolate | Shape::OneWay);
        require(!needs_target || self.target.is_some(), "target", no_target)?;
        let picks = "this shape picks its sides by itself and takes no target";
        require(needs_target || self.target.is_none(), "target", || picks.into())?;
        require(shape != Shape::Link || self.link.is_some(), "link", || {
            "expected a link such as follower->leader or clients<->leader".into()
        })?;
        require(shape == Shape::Link || self.link.is_none(), "link", || {
            "only the shape `link` takes a link".into()
        })?;
        let has_inside = !matches!(shape, Shape::Link | Shape::Bridge | Shape::MajoritiesRing);
        require(has_inside || self.traffic.is_none(), "traffic", || {
            "this shape singles no nodes out, so it cannot cut clients off from them; leave it out"
                .into()
        })?;
        let ends = self.link.as_ref().map(|link| link.ends());
        let meets_clients = matches!(self.traffic, Some(Traffic::Clients | Traffic::All))
            || ends.is_some_and(|ends| ends.contains(&&Target::Clients));
        require(!meets_clients || self.refusal != Some(Refusal::Reset), "refusal", || {
            "links to clients cannot be refused with reset; expected drop".into()
        })
    }

    fn check_resign(&self) -> Result<(), Flaw> {
        let fits = self.target.as_ref().is_none_or(Target::is_leader);
        require(fits, "target", || {
            "only a leader can resign; expected leader (of one role: leader:controller), or nothing"
                .into()
        })
    }

    fn check_throttle(&self) -> Result<(), Flaw> {
        require(self.bytes_per_second.is_some_and(is_some_rate), "bytes_per_second", || {
            "expected how many bytes a second may pass, 1000 to 100000000".into()
        })
    }

    fn check_message(&self) -> Result<(), Flaw> {
        self.check_opener()?;
        let form = self.form.filter(|form| *form != Form::Watch).ok_or_else(|| {
            let forms = "hold, close, delay, duplicate or drop-request";
            ("form", format!("expected what becomes of the message: {forms}"))
        })?;
        require(self.nth != Some(0), "nth", || "matches are counted from 1".into())?;
        let is_late = form == Form::Delay;
        require(!is_late || self.delay.is_some_and(is_some_time), "delay", || {
            "the form `delay` needs how late the reply comes; expected more than 0s".into()
        })?;
        require(is_late || self.delay.is_none(), "delay", || {
            format!("only the form `delay` takes a delay, this is `{}`", form.name())
        })
    }

    fn check_toxic(&self) -> Result<(), Flaw> {
        self.check_opener()?;
        let toxic = self.toxic.ok_or_else(|| {
            let such = "{ toxic: latency, delay: 200ms, jitter: 50ms }";
            ("toxic", format!("expected latency, bandwidth, slicer or reset, such as {such}"))
        })?;
        let lacks = match toxic {
            Toxic::Latency { delay, .. } if !is_some_time(delay) => "a `delay` of more than 0s",
            Toxic::Latency { delay, jitter } if jitter > delay => "a `jitter` of at most `delay`",
            Toxic::Latency { delay, .. } if delay > HOUR => "a `delay` of at most an hour",
            Toxic::Bandwidth { bytes_per_second } if !is_some_rate(bytes_per_second) => {
                "a `bytes_per_second` of 1000 to 100000000"
            }
            Toxic::Slicer { bytes, .. } if !(1..=65_536).contains(&bytes) => {
                "`bytes` of 1 to 65536"
            }
            Toxic::Slicer { pause, .. } if !(MICROSECOND..=HOUR).contains(&pause) => {
                "a `pause` of 1us to an hour"
            }
            _ => return Ok(()),
        };
        Err(("toxic", format!("expected {lacks}")))
    }

    /// An interposer stands where a connection is opened, and clients are who opens theirs.
    fn check_opener(&self) -> Result<(), Flaw> {
        let to_clients = self.link.as_ref().is_some_and(|link| link.to == Target::Clients);
        require(!to_clients, "link", || {
            "clients open their connections; expected clients at the other end, as in clients->leader"
                .into()
        })
    }

    fn check_clock(&self) -> Result<(), Flaw> {
        require(self.by.is_some_and(|by| by.0 != 0), "by", || {
            "expected how far the clock jumps, such as 60s, or -60s to jump back".into()
        })?;
        require(self.by.is_some_and(|by| by.0.unsigned_abs() <= TEN_YEARS_NS), "by", || {
            "expected a jump of at most ten years (87600h), either way".into()
        })
    }

    fn check_session(&self) -> Result<(), Flaw> {
        let is_id = |text: &&str| !text.starts_with('/');
        let wrong = self.session.as_deref().filter(is_id).and_then(|text| session_id(text).err());
        wrong.map_or(Ok(()), |message| Err(("session", message)))
    }
}

fn no_target() -> String {
    format!("expected a target: {TARGETS}")
}

/// Caps outside of these bounds are none that a network shows.
fn is_some_rate(bytes_per_second: u64) -> bool {
    (1_000..=100_000_000).contains(&bytes_per_second)
}

pub(super) fn require(
    holds: bool,
    field: &'static str,
    expected: impl FnOnce() -> String,
) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err((field, expected())) }
}

pub(super) fn is_some_time(span: Span) -> bool {
    span > Span::default()
}
