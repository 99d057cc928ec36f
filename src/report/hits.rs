//! Messages that an armed fault hit: what was asked, what became of the reply, whose operation it was,
//! and what the system shows of it afterwards.

use serde::{Deserialize, Serialize};

use super::words;
use crate::cluster::{Action, Applied, Check, FaultId, Form, MessageSeen};
use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Event, Kind, Nanos, NodeName, Value};

/// Hits that are told one by one.
const HITS_MAX: usize = 500;
/// Checks of the proof that are kept with a hit.
const PROOF_MAX: usize = 20;
/// How much earlier than it was invoked, or later than it ended, an operation's message may be told to
/// have been hit: the clocks of interposer and run loop are read at different moments.
const SLACK: Nanos = 50 * crate::op::MILLISECOND;

/// The client's operation whose message was hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitOperation {
    /// Place of its invocation in the history.
    pub index: u64,
    /// `write 17 unknown`.
    pub what: String,
    pub process: String,
    /// `ok`, `fail` or `info`.
    pub outcome: String,
    /// From the hit to the completion, in nanoseconds; `None` where it never completed.
    pub after: Option<Nanos>,
}

/// One message that was hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The nemesis's name.
    pub fault: String,
    pub id: FaultId,
    pub node: NodeName,
    pub at: Nanos,
    /// The node that sent it; `None` where that was a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<NodeName>,
    pub message: MessageSeen,
    /// Of a client's message.
    pub operation: Option<HitOperation>,
    /// Why no operation is told; empty where one is, and of a node's message.
    pub why: String,
    /// What the system itself shows afterwards.
    pub verified: Option<Check>,
    /// The proof that the interposer stood there: taps, redirect rules.
    pub proof: Vec<Check>,
    /// All of it in one sentence.
    pub words: String,
}

/// The first hits of a run, in order of time, and how many there were in all.
pub fn hits(history: &History) -> (Vec<Hit>, u64) {
    let (mut hits, mut total) = (Vec::<Hit>::new(), 0);
    let mut armed: Vec<(FaultId, Vec<Check>)> = Vec::new();
    // Pairing all of them takes a while, and most runs hit nothing.
    let mut operations = None;
    for event in history.events() {
        match FaultRecord::of(event) {
            Some(FaultRecord::Began { fault, deeds }) => {
                let proofs = deeds.iter().filter_map(|deed| match (&deed.action, &deed.outcome) {
                    (Action::Interpose { .. }, Applied::Installed { proof }) => Some(&proof.checks),
                    _ => None,
                });
                let checks = proofs.flatten().take(PROOF_MAX).cloned().collect();
                armed.push((fault, checks));
            }
            Some(FaultRecord::Hit { fault, node, sender, message, happened }) => {
                total += 1;
                if hits.len() < HITS_MAX {
                    let proof = armed.iter().rfind(|(id, _)| *id == fault);
                    let proof = proof.map_or(Vec::new(), |(_, checks)| checks.clone());
                    let name = event.f.to_string();
                    let operations = operations.get_or_insert_with(|| history.operations());
                    let ends = (sender, node);
                    hits.push(told(name, fault, (ends, happened), message, proof, operations));
                }
            }
            Some(FaultRecord::Verified { fault, check }) => verify(&mut hits, fault, check),
            _ => {}
        }
    }
    for hit in &mut hits {
        hit.words = in_words(hit);
    }
    (hits, total)
}

type Operations<'a> = [(&'a Event, Option<&'a Event>)];

fn told(
    fault: String,
    id: FaultId,
    ((sender, node), at): ((Option<NodeName>, NodeName), Nanos),
    message: MessageSeen,
    proof: Vec<Check>,
    operations: &Operations,
) -> Hit {
    let (operation, why) = match sender {
        Some(_) => (None, String::new()),
        None => match operation_of(node, at, &message, operations) {
            Ok(operation) => (Some(operation), String::new()),
            Err(why) => (None, why),
        },
    };
    let words = String::new();
    Hit { fault, id, node, at, sender, message, operation, why, verified: None, proof, words }
}

/// A check goes to the hit of its fault whose subject it names, or else to the first that has none.
fn verify(hits: &mut [Hit], fault: FaultId, check: Check) {
    let is_free = |hit: &Hit| hit.id == fault && hit.verified.is_none();
    let names = |hit: &Hit| {
        hit.message.subject.as_ref().is_some_and(|subject| check.what.contains(subject.as_str()))
    };
    let named = hits.iter().position(|hit| is_free(hit) && names(hit));
    if let Some(position) = named.or_else(|| hits.iter().position(is_free)) {
        hits[position].verified = Some(check);
    }
}

/// The one operation on that node, under way at that time, that fits the request's key and value and
/// ended as such a hit lets it end.
fn operation_of(
    node: NodeName,
    at: Nanos,
    message: &MessageSeen,
    operations: &Operations,
) -> Result<HitOperation, String> {
    let under_way = |(invoke, completion): &&(&Event, Option<&Event>)| {
        let ended = completion.map_or(Nanos::MAX, |event| event.time);
        asked(node, invoke, *completion)
            && invoke.time <= at.saturating_add(SLACK)
            && ended.saturating_add(SLACK) >= at
    };
    // The reply that was lost leaves its client with `info`, or without any end.
    let is_lost = matches!(message.form, Form::Hold | Form::Close | Form::DropRequest);
    let ends_so = |(_, completion): &&(&Event, Option<&Event>)| {
        !is_lost || completion.is_none_or(|event| event.kind == Kind::Info)
    };
    let mut fitting: Vec<&(&Event, Option<&Event>)> =
        operations.iter().filter(under_way).filter(ends_so).collect();
    if fitting.is_empty() {
        return Err(format!("no operation of a client at {node} fits it"));
    }
    narrow(&mut fitting, |invoke| has_key(invoke, message));
    narrow(&mut fitting, |invoke| has_value(invoke, message));
    match fitting.as_slice() {
        [(invoke, completion)] => Ok(HitOperation {
            index: invoke.index,
            what: words::operation(invoke, *completion),
            process: invoke.process.to_string(),
            outcome: completion.map_or(Kind::Info, |event| event.kind).name().to_owned(),
            after: completion.map(|event| event.time.saturating_sub(at)),
        }),
        several => Err(format!("{} operations at {node} fit it alike", several.len())),
    }
}

/// A client that finds its way asks other nodes than its own.
fn asked(node: NodeName, invoke: &Event, completion: Option<&Event>) -> bool {
    match completion.and_then(|event| event.route.as_ref()) {
        Some(route) => route.hops.iter().any(|hop| hop.node == node),
        None => invoke.node == Some(node),
    }
}

/// Keeps those that fit, if any does.
fn narrow(fitting: &mut Vec<&(&Event, Option<&Event>)>, fits: impl Fn(&Event) -> bool) {
    if fitting.iter().any(|(invoke, _)| fits(invoke)) {
        fitting.retain(|(invoke, _)| fits(invoke));
    }
}

/// `/sg/r3` and `r:3` name key 3.
fn has_key(invoke: &Event, message: &MessageSeen) -> bool {
    let (Some(key), Some(subject)) = (&invoke.key, &message.subject) else { return false };
    let key = key.to_string();
    let last = subject.rsplit(['/', ':']).next().unwrap_or(subject);
    last.strip_suffix(key.as_str())
        .is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_digit()))
}

/// The written value stands in the request as a word of its own.
fn has_value(invoke: &Event, message: &MessageSeen) -> bool {
    let value = match &invoke.value {
        Value::Int(value) | Value::Pair(_, value) => value.to_string(),
        Value::Nil | Value::Json(_) => return false,
    };
    let subject = message.subject.as_deref().unwrap_or_default();
    let rest = message.request.replacen(subject, " ", 1);
    rest.split(|symbol: char| !symbol.is_ascii_alphanumeric() && symbol != '-')
        .any(|word| word == value)
}

/// What became of the message, in a few words.
pub(super) fn fate(form: Form) -> &'static str {
    match form {
        Form::Watch => "was only seen",
        Form::Hold => "its reply was held",
        Form::Close => "its reply was lost and the connection closed",
        Form::Delay => "its reply came late",
        Form::Duplicate => "it was sent twice, the second reply swallowed",
        Form::DropRequest => "it never arrived",
    }
}

fn in_words(hit: &Hit) -> String {
    let message = &hit.message;
    let reply = message.reply.as_ref().map_or(String::new(), |reply| format!(" ({reply})"));
    let of = hit.sender.map_or(String::new(), |sender| format!(" of {sender}"));
    let request = format!("`{}`{of}", message.request);
    let mut text = match (message.applied, message.form) {
        (true, _) => format!("{} applied {request}{reply}", hit.node),
        (false, Form::DropRequest) => format!("{request} was sent to {}", hit.node),
        (false, _) => format!("{} was asked {request}{reply}", hit.node),
    };
    text += &format!("; {}", fate(message.form));
    text += &match &hit.operation {
        Some(operation) => {
            let who = format!("process {}", operation.process);
            match operation.after {
                Some(after) => {
                    format!(
                        "; {who} recorded {} {} later",
                        operation.outcome,
                        words::duration(after)
                    )
                }
                None => format!("; {who} never heard of it"),
            }
        }
        None if hit.why.is_empty() => String::new(),
        None => format!("; {}", hit.why),
    };
    if let Some(Check { what, expected, seen, holds }) = &hit.verified {
        text += &match (holds, message.applied) {
            (true, true) if message.request.starts_with("delete") => {
                format!("; it is gone ({what}: {seen})")
            }
            (true, true) => format!("; it is there ({what}: {seen})"),
            (true, false) => format!("; afterwards as expected ({what}: {seen})"),
            (false, _) => {
                format!("; afterwards NOT as expected ({what}: expected {expected}, saw {seen})")
            }
        };
    }
    text + "."
}

#[cfg(test)]
mod tests;
