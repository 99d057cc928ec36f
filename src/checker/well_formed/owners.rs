//! Whose each operation is, in a history whose events have no process: a completion is matched with the
//! open invocation that it can only be of. Where several could be meant, nobody can know, and that is said.

use serde_json::Value as Json;

use crate::history::Datum;
use crate::name::Name;
use crate::op::{Event, Key, Kind};

/// Invocations that may be open at once: a history with more has lost its completions.
const MOST: usize = 10_000;

/// An invocation that waits for its completion.
struct Open {
    f: Name,
    key: Option<Key>,
    asked: Json,
}

/// Gives each operation a process of its own while it is open, the lowest that is free.
///
/// Costs a look at all open invocations for each completion.
#[derive(Default)]
pub struct Owners {
    open: Vec<Option<Open>>,
    has_invocations: bool,
}

impl Owners {
    /// The process of this event, or why nobody can know it.
    pub fn of(&mut self, event: &Event, value: Datum) -> Result<u32, String> {
        match event.kind {
            Kind::Invoke => self.invoke(event, value),
            // Completions alone have nothing to be matched with.
            _ if !self.has_invocations => Ok(0),
            _ => self.complete(event, value),
        }
    }

    /// Whether operations were open at the same time, so that completions had to be matched.
    pub fn matched(&self) -> bool {
        self.open.len() > 1
    }

    fn invoke(&mut self, event: &Event, value: Datum) -> Result<u32, String> {
        self.has_invocations = true;
        let place = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if place >= MOST {
            return Err(format!("more than {MOST} operations are open, without any process"));
        }
        if place == self.open.len() {
            self.open.push(None);
        }
        let asked = value.to_json();
        self.open[place] = Some(Open { f: event.f, key: event.key.clone(), asked });
        Ok(place as u32)
    }

    fn complete(&mut self, event: &Event, value: Datum) -> Result<u32, String> {
        let answered = value.to_json();
        let fitting = self.places(|open| open.fits(event, &answered));
        let place = match fitting.as_slice() {
            [one] => *one,
            [] => return Err(format!("{} completes and no open one can be meant", told(event))),
            several => match self.places(|o| o.fits(event, &answered) && o.asked == answered)[..] {
                [one] => one,
                _ => {
                    let (many, f) = (several.len(), event.f);
                    return Err(format!(
                        "{many} operations `{f}` are open, and nothing tells which of them {} \
                         completes; expected `process` in every event",
                        told(event)
                    ));
                }
            },
        };
        self.open[place] = None;
        Ok(place as u32)
    }

    fn places(&self, is_meant: impl Fn(&Open) -> bool) -> Vec<usize> {
        let open = self.open.iter().enumerate();
        open.filter(|(_, open)| open.as_ref().is_some_and(&is_meant)).map(|(at, _)| at).collect()
    }
}

impl Open {
    fn fits(&self, completion: &Event, answered: &Json) -> bool {
        let has_key = completion.key.is_none() || completion.key == self.key;
        self.f == completion.f && has_key && fits(&self.asked, answered)
    }
}

/// Whether this can be the answer: what was asked says nothing where it is nil, and so does the answer.
fn fits(asked: &Json, answered: &Json) -> bool {
    match (asked, answered) {
        (Json::Null, _) | (_, Json::Null) => true,
        (Json::Array(asked), Json::Array(answered)) => {
            asked.len() == answered.len() && asked.iter().zip(answered).all(|(a, b)| fits(a, b))
        }
        _ => asked == answered,
    }
}

fn told(event: &Event) -> String {
    format!("the `{} {}`", event.kind.name(), event.f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;

    fn owners(text: &str) -> Vec<Result<u32, String>> {
        let mut owners = Owners::default();
        let events = history(text);
        events.events().iter().map(|one| owners.of(one, Datum::Value(&one.value))).collect()
    }

    #[test]
    fn a_completion_goes_to_the_only_invocation_that_it_can_be_of() {
        let processes = owners(
            "
            0 0 invoke read nil
            1 0 invoke write 425
            2 0 invoke write 430
            3 0 ok write 430
            4 0 invoke txn [[\"r\",\"x\",null],[\"w\",\"y\",1]]
            5 0 ok write 425
            6 0 ok txn [[\"r\",\"x\",3],[\"w\",\"y\",1]]
            7 0 ok read [425]
            8 0 invoke read nil
            ",
        );
        let processes: Vec<u32> = processes.into_iter().flatten().collect();
        assert_eq!(processes, [0, 1, 2, 2, 2, 1, 2, 0, 0]);
    }

    #[test]
    fn where_several_could_be_meant_nobody_is_guessed() {
        let found = owners("0 0 invoke read nil\n1 0 invoke read nil\n2 0 ok read 1");
        let why = found[2].clone().expect_err("two reads");
        assert!(why.starts_with("2 operations `read` are open, and nothing tells"), "{why}");
        let found = owners("0 0 invoke write 1\n1 0 ok write 2");
        assert!(found[1].is_err(), "another value");
        let found = owners("0 0 invoke write 1 key=1\n1 0 ok write 1 key=2");
        assert!(found[1].is_err(), "another key");
    }

    #[test]
    fn completions_alone_are_all_of_one() {
        assert_eq!(owners("0 0 ok write 1\n1 0 ok write 2"), [Ok(0), Ok(0)]);
    }
}
