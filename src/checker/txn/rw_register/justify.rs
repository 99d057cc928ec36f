//! Dependencies and version orders in words.

use super::dependencies::Users;
use super::derived::written_spans;
use super::realtime::{Span, spans};
use super::touches::Touches;
use super::version_order::{Source, VersionCycle, VersionEdge, VersionOrder};
use super::versions::Registers;
use super::words::Cast;
use crate::checker::Anomaly;
use crate::checker::moment::seconds;
use crate::checker::txn::explain::{Justify, Reason};
use crate::checker::txn::graph::rel;
use crate::checker::txn::table::{Moment, NONE};

/// What a dependency was inferred from.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub registers: &'a Registers<'a>,
    pub users: &'a Users,
    pub order: &'a VersionOrder,
    /// What follows besides if the history is what is wanted.
    pub derived: Option<&'a VersionOrder>,
    pub touches: &'a Touches,
}

impl Justify for Evidence<'_> {
    fn justify(&self, from: (u32, &str), to: (u32, &str), kind: u8) -> Reason {
        let found = match kind {
            rel::WR => self.read(from, to),
            rel::WW => self.followed(from, to, |version, txn| self.users.writer(version) == txn),
            rel::RW => {
                self.followed(from, to, |version, txn| self.users.readers(version).contains(&txn))
            }
            _ => None,
        };
        found.unwrap_or_else(|| Reason {
            about: None,
            text: format!("{} comes before {}", from.1, to.1),
        })
    }
}

impl Evidence<'_> {
    fn read(&self, from: (u32, &str), to: (u32, &str)) -> Option<Reason> {
        let versions = self.registers.accesses(to.0).iter().filter(|access| !access.is_write());
        let mut versions = versions.map(|access| access.version());
        let version = versions.find(|version| self.users.writer(*version) == from.0)?;
        let text =
            format!("{} wrote {}, which {} read", from.1, self.registers.told(version), to.1);
        Some(Reason { about: Some(self.about(version)), text })
    }

    /// `from` met a version that a later one of `to` follows.
    fn followed(
        &self,
        from: (u32, &str),
        to: (u32, &str),
        met: impl Fn(u32, u32) -> bool,
    ) -> Option<Reason> {
        let accesses = self.registers.accesses(from.0).iter();
        let versions = accesses.map(|access| access.version()).filter(|v| met(*v, from.0));
        let orders = || [Some(self.order), self.derived].into_iter().flatten();
        let mut edges =
            versions.flat_map(|version| orders().flat_map(move |order| order.after(version)));
        let edge = edges.find(|edge| self.users.writer(edge.to) == to.0)?;
        let verb = if self.users.writer(edge.from) == from.0 { "wrote" } else { "read" };
        let (told, later) = (self.registers.told(edge.from), self.registers.value_text(edge.to));
        let why = self.why(edge);
        let text = format!(
            "{} {verb} {told}, and {} wrote {later} there, which came later, for {why}",
            from.1, to.1
        );
        Some(Reason { about: Some(self.about(edge.to)), text })
    }

    fn about(&self, version: u32) -> (u32, String) {
        (self.registers.key(version), self.registers.value_text(version).into_owned())
    }

    /// Why one version is before another, in words: `x held 1 ...`.
    pub fn why(&self, edge: &VersionEdge) -> String {
        let table = self.registers.table;
        let key = self.registers.key(edge.from);
        let name = table.key_text(key);
        let (one, other) =
            (self.registers.value_text(edge.from), self.registers.value_text(edge.to));
        match edge.source {
            Source::Initial => format!("{name} held {one} at first"),
            Source::Stated => {
                format!("the stated order of transactions puts {name} = {one} before {other}")
            }
            Source::WritesFollowReads => {
                format!("a transaction read {name} = {one} and then wrote {other}")
            }
            Source::OwnRead => self.own_read(edge),
            Source::Process => self.in_process(edge),
            Source::RealTime => self.in_real_time(edge),
            Source::Sequential => self
                .sequential(edge)
                .unwrap_or_else(|| format!("a process met {name} = {one} and later {other}")),
            Source::Linearizable => self.linearizable(edge).unwrap_or_else(|| {
                format!("{name} = {one} was met before a transaction began that met {other}")
            }),
        }
    }

    fn sequential(&self, edge: &VersionEdge) -> Option<String> {
        let key = self.registers.key(edge.from);
        let touches = self.touches.of_key(key);
        let table = self.registers.table;
        let earlier = touches.iter().enumerate().filter(|(_, touch)| touch.last == edge.from);
        for (place, touch) in earlier {
            let process = table.txn(touch.txn).process;
            let mut later = touches[place + 1..].iter();
            let next = later.find(|next| table.txn(next.txn).process == process);
            if next.is_some_and(|next| next.first == edge.to) {
                let (one, other) =
                    (self.registers.value_text(edge.from), self.registers.value_text(edge.to));
                let key = table.key_text(key);
                return Some(format!("process {process} met {key} = {one} and later {other}"));
            }
        }
        None
    }

    fn linearizable(&self, edge: &VersionEdge) -> Option<String> {
        let key = self.registers.key(edge.from);
        let spans = spans(self.registers, self.touches.of_key(key));
        let span = |version: u32| spans.iter().find(|span: &&Span| span.version == version);
        let (one, other) = (span(edge.from)?, span(edge.to)?);
        let (ended, began) =
            (self.registers.table.txn(one.ended), self.registers.table.txn(other.began));
        let time = |moment: Option<Moment>| moment.map_or(String::new(), |m| seconds(m.time));
        Some(format!(
            "process {} met {} and was done at {}, before process {} began at {} what met {}",
            ended.process,
            self.registers.told(edge.from),
            time(ended.completed),
            began.process,
            time(began.invoked),
            self.registers.value_text(edge.to),
        ))
    }

    fn own_read(&self, edge: &VersionEdge) -> String {
        let process = self.registers.table.txn(self.users.writer(edge.to)).process;
        let later = self.registers.value_text(edge.to);
        format!(
            "process {process} had read {} when it wrote {later}",
            self.registers.told(edge.from)
        )
    }

    fn in_process(&self, edge: &VersionEdge) -> String {
        let process = self.registers.table.txn(self.users.writer(edge.to)).process;
        let later = self.registers.value_text(edge.to);
        format!(
            "process {process} had met {} before it wrote {later}",
            self.registers.told(edge.from)
        )
    }

    fn in_real_time(&self, edge: &VersionEdge) -> String {
        let key = self.registers.key(edge.from);
        let spans = written_spans(self.registers, self.touches.of_key(key), self.users);
        let span = spans.iter().find(|span| span.version == edge.from);
        let ended = span.map_or(NONE, |span| span.ended);
        let began = self.users.writer(edge.to);
        let (told, later) = (self.registers.told(edge.from), self.registers.value_text(edge.to));
        if ended == NONE || began == NONE {
            return format!("{told} was met before {later} was written");
        }
        let verb = if self.users.writer(edge.from) == ended { "wrote" } else { "read" };
        let (ended, began) = (self.registers.table.txn(ended), self.registers.table.txn(began));
        format!(
            "process {} {verb} {told} and was done{}, before process {} began{} to write {later}",
            ended.process,
            at(ended.completed),
            began.process,
            at(began.invoked),
        )
    }

    pub fn explain_cycle(&self, cycle: &VersionCycle) -> Anomaly {
        let values: Vec<_> =
            cycle.steps.iter().map(|edge| self.registers.value_text(edge.from)).collect();
        let shown = &values[..values.len().min(8)];
        let key = self.registers.table.key_text(cycle.key).into_owned();
        let mut sources: Vec<&str> = cycle.steps.iter().map(|edge| edge.source.name()).collect();
        sources.sort_unstable();
        sources.dedup();
        let summary = format!(
            "the values of {key} would have to follow each other in a circle: {} and {} again ({})",
            shown.join(", "),
            values.first().map_or("", |value| value),
            sources.join(", ")
        );
        let reasons = cycle.steps.iter().take(8);
        let mut reasons: Vec<String> = reasons
            .map(|edge| {
                let (one, other) =
                    (self.registers.value_text(edge.from), self.registers.value_text(edge.to));
                format!("{key} = {one} is before {other}: {}", self.why(edge))
            })
            .collect();
        if cycle.steps.len() > 8 {
            reasons.push(format!("... and {} more steps", cycle.steps.len() - 8));
        }
        let mut cast = Cast::of(self.registers);
        for edge in cycle.steps.iter().take(8) {
            let writer = self.users.writer(edge.from);
            if writer != NONE {
                cast.name(writer);
            }
        }
        Anomaly { key: Some(key), ..cast.anomaly("cyclic-versions", summary, reasons) }
    }
}

/// ` at 0.223 s`, or by event where events have no times.
fn at(moment: Option<Moment>) -> String {
    match moment {
        Some(Moment { index, time: 0 }) => format!(" at index {index}"),
        Some(moment) => format!(" at {}", seconds(moment.time)),
        None => String::new(),
    }
}
