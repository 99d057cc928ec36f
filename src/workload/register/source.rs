//! The stream of register operations.

use super::Register;
use crate::generator::{Context, Generator, Next, To, What};
use crate::op::{Call, Event, Key, Kind, Value};
use crate::rng::Rng;

/// Reads, writes and compare-and-sets by weight, on keys in rotation.
///
/// A compare-and-set expects a value that the key was lately seen to have, so that many succeed;
/// where none is known yet, a write takes its place.
pub struct RegisterSource {
    register: Register,
    rng: Rng,
}

impl RegisterSource {
    pub(super) fn new(register: Register, rng: Rng) -> RegisterSource {
        RegisterSource { register, rng }
    }

    fn call(&mut self) -> Call {
        let options = &self.register.options;
        let slot = self.rng.below(options.keys.into()) as usize;
        let point = self.rng.below(options.mix.total());
        // Mostly the latest value, which is most likely to be there still.
        let values_ago = usize::from(self.rng.chance(0.25));
        let reads = u64::from(options.mix.read);
        let writes = reads + u64::from(options.mix.write);
        let mut keys = self.register.keys();
        let key = keys.active(slot).key;
        let call = if point < reads {
            Call::Read { key }
        } else {
            let recent = keys.active(slot).recent();
            let from = recent.get(recent.len().saturating_sub(1 + values_ago)).copied();
            let value = keys.fresh_value();
            match from {
                Some(from) if point >= writes => Call::Cas { key, from, to: value },
                _ => Call::Write { key, value },
            }
        };
        keys.issue(slot, options.ops_per_key);
        call
    }
}

impl Generator for RegisterSource {
    fn next(&mut self, ctx: &Context) -> Next {
        match ctx.pick(To::Any) {
            Some(_) => Next::Do { what: What::Call(self.call()), to: To::Any },
            None => Next::WAIT,
        }
    }

    fn observe(&mut self, _ctx: &Context, event: &Event) {
        if event.kind != Kind::Ok {
            return;
        }
        if let (Some(Key::Int(key)), Value::Int(value) | Value::Pair(_, value)) =
            (&event.key, &event.value)
        {
            self.register.keys().saw(*key, *value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::{RegisterMix, RegisterOptions};
    use super::*;
    use crate::generator::{Asked, Reply, Simulated, Threads, limit, simulate};
    use crate::op::{MILLISECOND, Outcome};

    /// A sound store: each operation acts when it is asked for and completes two milliseconds later.
    fn sound() -> impl FnMut(&Asked) -> Option<Reply> {
        let mut store = BTreeMap::new();
        move |asked| {
            let What::Call(call) = asked.what else { return None };
            let outcome = match call {
                Call::Read { key } => {
                    Outcome::Ok(store.get(key).copied().map_or(Value::Nil, Value::Int))
                }
                Call::Write { key, value } => {
                    store.insert(*key, *value);
                    Outcome::Ok(call.value())
                }
                Call::Cas { key, from, to } if store.get(key) == Some(from) => {
                    store.insert(*key, *to);
                    Outcome::Ok(call.value())
                }
                Call::Cas { .. } => Outcome::Fail("another value".into()),
                _ => return None,
            };
            Some(Reply { after: 2 * MILLISECOND, outcome })
        }
    }

    fn run(options: RegisterOptions, count: u64) -> Simulated {
        let register = Register::new(options).expect("sound options");
        let mut source = limit(count, register.source(Rng::from_seed(5)));
        simulate(&mut source, Threads::new(9, 3), sound())
    }

    fn invocations(run: &Simulated) -> impl Iterator<Item = &Event> {
        run.events.iter().filter(|event| event.kind == Kind::Invoke)
    }

    #[test]
    fn every_value_is_written_once_and_grows() {
        let run = run(RegisterOptions::default(), 20_000);
        let written: Vec<i64> = invocations(&run)
            .filter_map(|event| match event.value {
                Value::Int(value) | Value::Pair(_, value) => Some(value),
                _ => None,
            })
            .collect();
        assert!(written.len() > 9_000);
        assert!(written.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn keys_get_so_many_operations_and_so_many_are_in_use() {
        let options = RegisterOptions { keys: 3, ops_per_key: 50, ..RegisterOptions::default() };
        let run = run(options, 3_000);
        let mut spans: BTreeMap<&Key, (u64, u64, u32)> = BTreeMap::new();
        for event in invocations(&run) {
            let span =
                spans.entry(event.key.as_ref().expect("a key")).or_insert((event.index, 0, 0));
            (span.1, span.2) = (event.index, span.2 + 1);
        }
        let full = spans.values().filter(|(_, _, count)| *count == 50).count();
        assert!((57..=60).contains(&full), "{full} keys of 50 operations in 3000");
        assert!(spans.values().all(|(_, _, count)| *count <= 50));
        for event in invocations(&run) {
            let in_use = spans.values().filter(|(from, to, _)| (from..=to).contains(&&event.index));
            assert!(in_use.count() <= 3);
        }
    }

    #[test]
    fn many_compare_and_sets_succeed_and_some_fail() {
        let run = run(RegisterOptions::default(), 20_000);
        let of = |kind| run.events.iter().filter(|e| &*e.f == "cas" && e.kind == kind).count();
        let (ok, fail) = (of(Kind::Ok), of(Kind::Fail));
        assert!(ok > 1_000 && fail > 200, "{ok} ok, {fail} fail");
    }

    #[test]
    fn the_mix_is_kept_and_the_seed_decides() {
        let options = RegisterOptions {
            mix: RegisterMix { read: 1, write: 1, cas: 0 },
            ..RegisterOptions::default()
        };
        let run_once = || run(options.clone(), 4_000);
        let (first, second) = (run_once(), run_once());
        assert_eq!(first.events, second.events);
        let fs: BTreeSet<&str> = first.events.iter().map(|event| &*event.f).collect();
        assert_eq!(fs, BTreeSet::from(["read", "write"]));
        let reads = invocations(&first).filter(|event| &*event.f == "read").count();
        assert!((1850..2150).contains(&reads), "{reads} of 4000");
    }
}
