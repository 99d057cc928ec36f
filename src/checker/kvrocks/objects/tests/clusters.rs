//! Objects on simulated clusters with migrations and failovers: what two writers do to them is found, and
//! what failovers do is not blamed.

use super::super::Objects;
use crate::checker::kvrocks::simulated::{Flaw, Plan, Simulated, shards, simulate};
use crate::checker::kvrocks::{KvrocksChecks, KvrocksObject};
use crate::checker::{Budget, Checker, Finding, Verdict};
use crate::rng::Rng;

fn judged(simulated: &Simulated, object: &KvrocksObject) -> Finding {
    let object = Some(object.clone());
    let checks = KvrocksChecks { shards: shards(), object, ..KvrocksChecks::default() };
    Objects { checks }.finish(&simulated.history, &Budget::UNBOUNDED)
}

fn plan(object: &KvrocksObject) -> Plan {
    Plan {
        object: object.clone(),
        operations: 200,
        clients: 6,
        keys: 3,
        migrate: 8,
        failover: 0,
        info: 5,
        replicate: 60,
        zombies: false,
        flaw: Flaw::Nothing,
    }
}

#[test]
fn two_writers_give_lists_two_histories_and_counts_twice() {
    let rng = Rng::from_seed(11);
    for object in [KvrocksObject::List, KvrocksObject::Counter] {
        let (mut flawed, mut found) = (0, 0);
        for round in 0..25 {
            let rng = rng.fork(&format!("{object:?} {round}"));
            let plan = Plan { flaw: Flaw::SplitMigration, ..plan(&object) };
            let simulated = simulate(plan, &rng);
            let finding = judged(&simulated, &object);
            let sound = !simulated.flawed || finding.verdict == Verdict::Invalid;
            flawed += usize::from(simulated.flawed);
            found += usize::from(simulated.flawed && sound);
            assert!(simulated.flawed || finding.verdict == Verdict::Valid, "{finding:#?}");
        }
        assert!(found > 10 && found * 10 > flawed * 7, "{object:?}: {found} of {flawed}");
    }
}

#[test]
fn masters_that_do_not_know_that_they_were_deposed_are_not_blamed() {
    let rng = Rng::from_seed(12);
    for object in [KvrocksObject::List, KvrocksObject::Set, KvrocksObject::Counter] {
        let mut permitted = 0.0;
        for round in 0..25 {
            let rng = rng.fork(&format!("{object:?} {round}"));
            let plan = Plan { zombies: true, failover: 2, replicate: 5, ..plan(&object) };
            let simulated = simulate(plan, &rng);
            let finding = judged(&simulated, &object);
            let told = || format!("{finding:#?}\n{}", simulated.text);
            assert_ne!(finding.verdict, Verdict::Invalid, "{}", told());
            permitted += finding.figures["permitted"];
        }
        // Of sets nothing is left to permit: what vanishes within a term is blamed.
        assert!(permitted > 5.0 || object == KvrocksObject::Set, "{object:?}: {permitted}");
    }
}
