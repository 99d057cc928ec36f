//! Reads histories of transactions that know no time: each session's transactions one after another, as
//! the checkers AWDIT, Plume, PolySI and IsoVista have them in text.
//!
//! Each transaction becomes one completion of its session's process. What came before what is known
//! within a session only.

use std::io::Read;
use std::ops::ControlFlow;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::super::op_map::LineError;
use super::super::source::Source;
use super::super::tape::{Node, Tape};
use super::lines::next_line;
use super::maps::trouble_at;
use super::output::Output;
use super::{Format, Trouble};
use crate::op::{Event, Kind, Process};

/// A read or write of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    is_write: bool,
    key: i64,
    /// `None` is what was there before all writes.
    value: Option<i64>,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Blank,
    NextTransaction,
    NextSession,
    /// Of the transaction under way.
    Step(Step),
    /// Of this session's transaction of this number, of which -1 stands for those that were aborted.
    Placed {
        step: Step,
        session: u32,
        transaction: i64,
    },
}

/// Transactions under way.
#[derive(Default)]
struct Sessions {
    /// In AWDIT's own form, the session that the lines are about.
    session: u32,
    /// By session, its transaction's number and steps.
    open: IndexMap<u32, (i64, Vec<Step>), FxBuildHasher>,
    /// The session whose transaction was added to last.
    last: u32,
    /// Keys that were written to be 0.
    zeros: FxHashSet<i64>,
    tape: Tape,
}

pub fn read<R: Read>(source: &mut Source<R>, output: &mut Output) -> Result<(), Trouble> {
    output.real_time = false;
    let mut sessions = Sessions::default();
    while let Some(length) = next_line(source)? {
        let text = source.text()[..length].trim();
        match parse(text, output.format) {
            Some(line) => {
                if sessions.take(line, output).is_break() {
                    return Ok(());
                }
            }
            None if !source.text()[..length].ends_with('\n') => {
                let (line, offset) = (source.line, source.offset);
                let why = "the last line has no end".to_owned();
                sessions.finish_but_last(output);
                return Err(Trouble::Torn { line, offset, why });
            }
            None => {
                let error = LineError::NotOperation {
                    expected: expected(output.format),
                    found: text.chars().take(80).collect(),
                };
                return Err(trouble_at(source, 0, error));
            }
        }
        source.advance(length);
    }
    if source.damage.is_some() {
        sessions.finish_but_last(output);
    } else {
        sessions.finish(output);
    }
    Ok(())
}

fn expected(format: Format) -> &'static str {
    match format {
        Format::Plume => "`r(key,value,session,transaction)` or `w(...)`, with whole numbers",
        _ => "`r key value` or `w key value`, or a line of `-` or `=`",
    }
}

fn parse(line: &str, format: Format) -> Option<Line> {
    match format {
        _ if line.is_empty() => Some(Line::Blank),
        Format::Plume => placed(line),
        _ if line.bytes().all(|byte| byte == b'-') => Some(Line::NextTransaction),
        _ if line.bytes().all(|byte| byte == b'=') => Some(Line::NextSession),
        _ => {
            let mut words = line.split_whitespace();
            let is_write = is_write(words.next()?)?;
            let key = words.next()?.parse().ok()?;
            let value = Some(words.next()?.parse().ok()?);
            words.next().is_none().then_some(Line::Step(Step { is_write, key, value }))
        }
    }
}

/// `w(key,value,session,transaction)`
fn placed(line: &str) -> Option<Line> {
    let (kind, rest) = line.split_once('(')?;
    let mut numbers = rest.strip_suffix(')')?.split(',').map(str::trim);
    let is_write = is_write(kind.trim())?;
    let key = numbers.next()?.parse().ok()?;
    let value = Some(numbers.next()?.parse().ok()?);
    let (session, transaction) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    let step = Step { is_write, key, value };
    numbers.next().is_none().then_some(Line::Placed { step, session, transaction })
}

fn is_write(word: &str) -> Option<bool> {
    match word {
        "w" => Some(true),
        "r" => Some(false),
        _ => None,
    }
}

impl Sessions {
    fn take(&mut self, line: Line, output: &mut Output) -> ControlFlow<()> {
        match line {
            Line::Blank => ControlFlow::Continue(()),
            Line::Step(step) => self.add(self.session, 0, step, output),
            Line::NextTransaction => self.close(self.session, output),
            Line::NextSession => {
                let session = self.session;
                self.session += 1;
                self.close(session, output)
            }
            Line::Placed { step, session, transaction: -1 } => match step.is_write {
                true => self.give(Kind::Fail, session, &[step], output),
                false => ControlFlow::Continue(()),
            },
            Line::Placed { step, session, transaction } => {
                let step = self.initial(step);
                self.add(session, transaction, step, output)
            }
        }
    }

    /// In this form every key is 0 before all writes; 0 that a transaction wrote is a value like others.
    fn initial(&mut self, step: Step) -> Step {
        match step.value {
            Some(0) if step.is_write => drop(self.zeros.insert(step.key)),
            Some(0) if !self.zeros.contains(&step.key) => return Step { value: None, ..step },
            _ => {}
        }
        step
    }

    fn add(
        &mut self,
        session: u32,
        number: i64,
        step: Step,
        output: &mut Output,
    ) -> ControlFlow<()> {
        if self.open.get(&session).is_some_and(|(open, _)| *open != number) {
            self.close(session, output)?;
        }
        self.last = session;
        self.open.entry(session).or_insert_with(|| (number, Vec::new())).1.push(step);
        ControlFlow::Continue(())
    }

    fn close(&mut self, session: u32, output: &mut Output) -> ControlFlow<()> {
        match self.open.swap_remove(&session) {
            Some((_, steps)) => self.give(Kind::Ok, session, &steps, output),
            None => ControlFlow::Continue(()),
        }
    }

    fn give(
        &mut self,
        kind: Kind,
        session: u32,
        steps: &[Step],
        output: &mut Output,
    ) -> ControlFlow<()> {
        self.tape.clear();
        let list = self.tape.open();
        for step in steps {
            let item = self.tape.open();
            self.tape.push_text(if step.is_write { "w" } else { "r" });
            self.tape.push(Node::Int(step.key));
            self.tape.push(step.value.map_or(Node::Nil, Node::Int));
            self.tape.close_list(item, 3);
        }
        self.tape.close_list(list, steps.len());
        output.completion(Event::new(kind, Process::Client(session), "txn"), &self.tape)
    }

    fn finish(&mut self, output: &mut Output) {
        while let Some(session) = self.open.keys().next().copied() {
            if self.close(session, output).is_break() {
                return;
            }
        }
    }

    /// All but the transaction that was added to last, which may lack its end.
    fn finish_but_last(&mut self, output: &mut Output) {
        self.open.swap_remove(&self.last);
        self.finish(output);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::{ReadOptions, Summary, stream};
    use super::*;

    fn read(text: &str) -> (Summary, Vec<String>) {
        let mut seen = Vec::new();
        let summary =
            stream(text.as_bytes(), "h.txt", &ReadOptions::default(), &mut |head, value| {
                seen.push(format!("{} {} {}", head.process, head.kind.name(), value.to_text()));
                ControlFlow::Continue(())
            });
        (summary.expect(text), seen)
    }

    #[test]
    fn sessions_and_transactions_are_told_apart_by_their_lines() {
        let (summary, seen) =
            read("w 0 0\r\nw 1 0\r\n=====\nr 0 0\n\n-----\nw 0 1\nr 1 0\n==\n=====\nr 0 1");
        assert_eq!((summary.format, summary.real_time), (Format::Sessions, false));
        assert_eq!(
            seen,
            [
                r#"0 ok [["w",0,0],["w",1,0]]"#,
                r#"1 ok [["r",0,0]]"#,
                r#"1 ok [["w",0,1],["r",1,0]]"#,
                r#"3 ok [["r",0,1]]"#,
            ]
        );
    }

    #[test]
    fn placed_steps_are_gathered_and_0_is_the_state_before_all_writes() {
        let text =
            "w(1,0,0,0)\nr(1,0,1,1)\nr(2,0,1,1)\nw(2,5,2,2)\nw(2,9,3,-1)\nw(1,7,1,3)\nr(2,5,2,2)\n";
        let (summary, seen) = read(text);
        assert_eq!((summary.format, summary.real_time), (Format::Plume, false));
        assert_eq!(
            seen,
            [
                r#"3 fail [["w",2,9]]"#,
                r#"1 ok [["r",1,0],["r",2,null]]"#,
                r#"0 ok [["w",1,0]]"#,
                r#"1 ok [["w",1,7]]"#,
                r#"2 ok [["w",2,5],["r",2,5]]"#,
            ]
        );
    }

    #[test]
    fn a_line_that_is_cut_is_damage_and_others_are_errors() {
        let (summary, seen) = read("w 0 1\n-----\nr 0 1\nr 0");
        assert_eq!(seen, [r#"0 ok [["w",0,1]]"#]);
        assert_eq!(summary.damage.map(|damage| (damage.line, damage.length)), Some((Some(4), 3)));
        for (text, expected) in [
            ("w 0 1\nw 0\n", "line 2, column 1: not an operation: expected `r key value`"),
            (
                "w(1,1,0,0)\nx(1,1,0,0)\n",
                "line 2, column 1: not an operation: expected `r(key,value",
            ),
            ("w(1,1,0,0)\nw(1,99999999999999999999,0,0)\n", "with whole numbers, found w(1,9999"),
        ] {
            let nothing = &mut |_: &Event, _: crate::history::Datum| ControlFlow::Continue(());
            let error = stream(text.as_bytes(), "h", &ReadOptions::default(), nothing);
            let error = error.expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
