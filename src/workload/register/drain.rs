//! Final reads of the last keys at every node.

use std::collections::{BTreeMap, VecDeque};

use super::Register;
use crate::generator::{Context, Generator, Next, To, What};
use crate::op::{Call, Event, Kind, Process};

/// Reads of one key at one node that are tried before it is given up.
const ATTEMPTS: u32 = 5;

/// Reads each of the last keys once at each node. A read that is not `ok` is tried again as a new
/// operation, a few times, since it would otherwise leave the key unread there.
pub struct RegisterDrain {
    register: Register,
    /// What is left to read, by node; empty before the first question.
    nodes: Vec<VecDeque<Read>>,
    begun: bool,
    offered: Option<Read>,
    under_way: BTreeMap<Process, Read>,
}

#[derive(Clone, Copy)]
struct Read {
    key: i64,
    node: usize,
    attempts_left: u32,
}

impl RegisterDrain {
    pub(super) fn new(register: Register) -> RegisterDrain {
        RegisterDrain {
            register,
            nodes: Vec::new(),
            begun: false,
            offered: None,
            under_way: BTreeMap::new(),
        }
    }

    fn begin(&mut self, ctx: &Context) {
        self.begun = true;
        let keys = self.register.keys().last();
        // A node without a thread cannot be read from.
        let nodes = ctx.threads.nodes().min(ctx.threads.concurrency());
        let reads =
            |node| keys.iter().map(move |key| Read { key: *key, node, attempts_left: ATTEMPTS });
        self.nodes = (0..nodes).map(|node| reads(node).collect()).collect();
    }
}

impl Generator for RegisterDrain {
    fn next(&mut self, ctx: &Context) -> Next {
        if !self.begun {
            self.begin(ctx);
        }
        for node in 0..self.nodes.len() {
            if ctx.pick(To::Node(node)).is_none() {
                continue;
            }
            if let Some(read) = self.nodes[node].pop_front() {
                self.offered = Some(read);
                let what = What::Call(Call::Read { key: read.key });
                return Next::Do { what, to: To::Node(node) };
            }
        }
        let all_read = self.under_way.is_empty() && self.nodes.iter().all(VecDeque::is_empty);
        if all_read { Next::Done } else { Next::WAIT }
    }

    fn observe(&mut self, _ctx: &Context, event: &Event) {
        if event.kind == Kind::Invoke {
            if let Some(read) = self.offered.take() {
                self.under_way.insert(event.process, read);
            }
            return;
        }
        let Some(mut read) = self.under_way.remove(&event.process) else { return };
        read.attempts_left -= 1;
        if event.kind != Kind::Ok && read.attempts_left > 0 {
            self.nodes[read.node].push_back(read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::{Asked, Reply, Simulated, Threads, limit, sequence, simulate};
    use crate::op::{Key, MILLISECOND, NodeName, Outcome, Value};
    use crate::rng::Rng;
    use crate::workload::register::RegisterOptions;

    /// Runs thirty operations, then the drain in this world, and gives the drain's events.
    fn drained(drain_world: impl Fn(&Asked, u32) -> Outcome) -> Vec<Event> {
        let options = RegisterOptions { keys: 2, ops_per_key: 10, ..RegisterOptions::default() };
        let register = Register::new(options).expect("sound options");
        let work = limit(30, register.source(Rng::from_seed(1)));
        let mut all = sequence(vec![Box::new(work), Box::new(register.drain())]);
        let mut count = 0_u32;
        let run: Simulated = simulate(&mut all, Threads::new(6, 3), |asked| {
            count += 1;
            let outcome = match count.checked_sub(31) {
                None => Outcome::Ok(Value::Nil),
                Some(after) => drain_world(asked, after),
            };
            Some(Reply { after: MILLISECOND, outcome })
        });
        assert!(!run.stuck);
        let first = run.events.iter().filter(|e| e.kind == Kind::Invoke).nth(30).expect("a drain");
        run.events[first.index as usize..].to_vec()
    }

    fn ok_reads(events: &[Event]) -> BTreeMap<(Key, NodeName), usize> {
        let mut reads = BTreeMap::new();
        for event in events.iter().filter(|e| e.kind == Kind::Ok && e.error.is_none()) {
            let (Some(key), Some(node)) = (&event.key, &event.node) else { continue };
            *reads.entry((key.clone(), *node)).or_default() += 1;
        }
        reads
    }

    #[test]
    fn each_of_the_last_keys_is_read_once_at_each_node() {
        let events = drained(|_, _| Outcome::Ok(Value::Int(-1)));
        let mut reads = BTreeMap::new();
        for event in events.iter().filter(|event| event.value == Value::Int(-1)) {
            assert_eq!(&*event.f, "read");
            *reads.entry((event.key.clone(), event.node)).or_insert(0) += 1;
        }
        let keys: std::collections::BTreeSet<_> = reads.keys().map(|(key, _)| key).collect();
        assert!(keys.len() >= 3, "keys in use and keys retired: {keys:?}");
        assert_eq!(reads.len(), keys.len() * 3);
        assert!(reads.values().all(|count| *count == 1));
    }

    #[test]
    fn reads_that_fail_are_tried_again_and_given_up_in_the_end() {
        let flaky = drained(|_, after| match after % 3 {
            0 => Outcome::Ok(Value::Int(-1)),
            1 => Outcome::Fail("connection loss".into()),
            _ => Outcome::Info("timeout".into()),
        });
        let sound = drained(|_, _| Outcome::Ok(Value::Int(-1)));
        let keys = |events: &[Event]| ok_reads(events).into_keys().collect::<Vec<_>>();
        assert_eq!(keys(&flaky), keys(&sound));

        let never = drained(|_, _| Outcome::Fail("not connected".into()));
        let failed = never.iter().filter(|event| event.kind == Kind::Fail).count();
        assert_eq!(failed, ok_reads(&sound).len() * ATTEMPTS as usize);
    }
}
