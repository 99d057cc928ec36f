//! Whether a history hangs together: a recorded one always does, so where it does not, it was edited.

use std::fmt;

use rustc_hash::FxHashMap;

use super::datum::Datum;
use crate::name::Name;
use crate::op::{Event, Key, Kind, Nanos, Process, Value};

/// Something that no run records, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    /// The line, from 1, of the text form.
    pub line: u64,
    /// The event's own index.
    pub index: u64,
    pub what: FlawKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FlawKind {
    /// Indices go up by one, from 0.
    IndexGap {
        expected: u64,
    },
    TimeGoesBack {
        time: Nanos,
        before: Nanos,
    },
    CompletionWithoutInvocation {
        process: Process,
    },
    /// The process began an operation while one of its own was under way.
    TwoOpen {
        process: Process,
        opened_at: u64,
    },
    /// The process went on after an `info`, which retires it.
    RetiredProcess {
        process: Process,
        retired_at: u64,
    },
    /// A completion is of another operation than its invocation: another name, key or argument.
    Changed {
        field: &'static str,
        invoked: String,
        completed: String,
        opened_at: u64,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (index {}): ", self.line, self.index)?;
        match &self.what {
            FlawKind::IndexGap { expected } => write!(f, "expected index {expected}"),
            FlawKind::TimeGoesBack { time, before } => {
                write!(f, "time {time} is before {before}, the time of the event before it")
            }
            FlawKind::CompletionWithoutInvocation { process } => {
                write!(f, "completes process {process}, which has no operation under way")
            }
            FlawKind::TwoOpen { process, opened_at } => {
                write!(f, "invokes process {process}, busy since line {opened_at}")
            }
            FlawKind::RetiredProcess { process, retired_at } => {
                write!(f, "uses process {process}, retired by the info in line {retired_at}")
            }
            FlawKind::Changed { field, invoked, completed, opened_at } => {
                write!(
                    f,
                    "completes with {field} {completed} what line {opened_at} invoked with {invoked}"
                )
            }
        }
    }
}

/// So many flaws are told; whatever is wrong with more is no different.
const MOST_FLAWS: usize = 1000;

/// Looks at events one by one, in order.
#[derive(Default)]
pub struct Integrity {
    next_index: u64,
    time: Nanos,
    open: FxHashMap<u32, Open>,
    /// The lines of the infos that retired processes.
    retired: FxHashMap<u32, u64>,
    flaws: Vec<Flaw>,
    flaw_count: u64,
}

/// An operation under way. Only of those that complete with what they were invoked with is the value
/// kept.
struct Open {
    line: u64,
    f: Name,
    key: Option<Key>,
    value: Value,
}

impl Integrity {
    /// Takes in an event, and its value, which is apart from it.
    pub fn observe(&mut self, head: &Event, value: Datum, line: u64) {
        if head.index != self.next_index {
            self.flaw(head, line, FlawKind::IndexGap { expected: self.next_index });
        }
        if head.time < self.time {
            self.flaw(head, line, FlawKind::TimeGoesBack { time: head.time, before: self.time });
        }
        self.next_index = head.index.saturating_add(1);
        self.time = head.time;
        if let Process::Client(process) = head.process {
            let what = match head.kind {
                Kind::Invoke => self.invoke(process, head, value, line),
                _ => self.complete(process, head, value, line),
            };
            what.into_iter().for_each(|what| self.flaw(head, line, what));
        }
    }

    /// The first flaws, and how many there are in all.
    pub fn into_flaws(self) -> (Vec<Flaw>, u64) {
        (self.flaws, self.flaw_count)
    }

    fn flaw(&mut self, head: &Event, line: u64, what: FlawKind) {
        self.flaw_count += 1;
        if self.flaws.len() < MOST_FLAWS {
            self.flaws.push(Flaw { line, index: head.index, what });
        }
    }

    fn invoke(&mut self, id: u32, head: &Event, value: Datum, line: u64) -> Option<FlawKind> {
        let value = if keeps_value(&head.f) { value.to_value() } else { Value::Nil };
        let open = Open { line, f: head.f, key: head.key.clone(), value };
        let before = self.open.insert(id, open);
        let retired = self.retired.remove(&id);
        let process = head.process;
        match (before, retired) {
            (Some(open), _) => Some(FlawKind::TwoOpen { process, opened_at: open.line }),
            (None, Some(line)) => Some(FlawKind::RetiredProcess { process, retired_at: line }),
            (None, None) => None,
        }
    }

    fn complete(&mut self, id: u32, head: &Event, value: Datum, line: u64) -> Option<FlawKind> {
        let open = self.open.remove(&id);
        let retired = self.retired.get(&id).copied();
        if head.kind == Kind::Info {
            self.retired.insert(id, line);
        }
        let process = head.process;
        match (open, retired) {
            (Some(open), _) => changed(head, value, open),
            (None, Some(line)) => Some(FlawKind::RetiredProcess { process, retired_at: line }),
            (None, None) => Some(FlawKind::CompletionWithoutInvocation { process }),
        }
    }
}

/// Operations that complete with the value that they were invoked with.
fn keeps_value(f: &str) -> bool {
    matches!(f, "write" | "cas")
}

/// What a completion says otherwise than its invocation. Only reads change their value.
fn changed(head: &Event, value: Datum, open: Open) -> Option<FlawKind> {
    let show_key = |key: &Option<Key>| key.as_ref().map_or("none".into(), Key::to_string);
    let (field, invoked, completed) = if head.f != open.f {
        ("f", open.f.to_string(), head.f.to_string())
    } else if head.key != open.key {
        ("key", show_key(&open.key), show_key(&head.key))
    } else if head.kind == Kind::Ok && keeps_value(&head.f) && value.to_value() != open.value {
        ("value", open.value.to_string(), value.to_value().to_string())
    } else {
        return None;
    };
    Some(FlawKind::Changed { field, invoked, completed, opened_at: open.line })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::line::parse_line;
    use super::*;

    fn check(lines: &[&str], expected: Expect) {
        let mut integrity = Integrity::default();
        for (position, line) in lines.iter().enumerate() {
            let (head, process) = line.split_once(' ').expect("type process f ...");
            let (process, rest) = process.split_once(' ').expect("process f");
            let json = format!(r#"{{"type":"{head}","process":{process},{rest}}}"#);
            let event = parse_line(&json, position as u64).expect(&json);
            integrity.observe(&event, Datum::Value(&event.value), position as u64 + 1);
        }
        let flaws: Vec<String> = integrity.into_flaws().0.iter().map(Flaw::to_string).collect();
        expected.assert_eq(&flaws.join("\n"));
    }

    #[test]
    fn a_recorded_history_has_none() {
        check(
            &[
                r#"invoke 0 "f":"write","key":1,"value":5,"time":1"#,
                r#"info "nemesis" "f":"cut","time":1"#,
                r#"invoke 1 "f":"read","key":1,"time":2"#,
                r#"ok 1 "f":"read","key":1,"value":5,"time":3"#,
                r#"info 0 "f":"write","key":1,"value":5,"time":9"#,
                r#"info "nemesis" "f":"cut","time":9"#,
                r#"invoke 2 "f":"cas","key":1,"value":[5,6],"time":9"#,
            ],
            expect![""],
        );
    }

    #[test]
    fn each_kind_of_flaw_is_named_with_its_line() {
        check(
            &[
                r#"ok 0 "f":"read","time":1"#,
                r#"invoke 1 "f":"read","time":2,"index":4"#,
                r#"invoke 1 "f":"read","time":1,"index":5"#,
                r#"info 1 "f":"read","time":7,"index":6"#,
                r#"invoke 1 "f":"write","value":3,"time":7,"index":7"#,
                r#"ok 1 "f":"write","value":4,"time":7,"index":8"#,
                r#"invoke 2 "f":"read","key":1,"time":7,"index":9"#,
                r#"ok 2 "f":"read","key":2,"time":7,"index":10"#,
                r#"invoke 3 "f":"read","time":7,"index":11"#,
                r#"fail 3 "f":"write","time":7,"index":12"#,
            ],
            expect![[r#"
                line 1 (index 0): completes process 0, which has no operation under way
                line 2 (index 4): expected index 1
                line 3 (index 5): time 1 is before 2, the time of the event before it
                line 3 (index 5): invokes process 1, busy since line 2
                line 5 (index 7): uses process 1, retired by the info in line 4
                line 6 (index 8): completes with value 4 what line 5 invoked with 3
                line 8 (index 10): completes with key 2 what line 7 invoked with 1
                line 10 (index 12): completes with f write what line 9 invoked with read"#]],
        );
    }
}
