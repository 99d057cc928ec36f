//! What is said of a register that a search did not decide, and of one that took it long.

use super::oracle::has_order;
use super::simulated::{Plan, Simulation};
use super::soundness::rounds;
use super::*;
use crate::checker::linearizability::decide::{Method, decide, until};
use crate::checker::linearizability::relevance::Observed;
use crate::checker::linearizability::search::search;
use crate::rng::Rng;

/// A register whose few values come again and again.
fn ambiguous(rng: &mut Rng, operations: usize, clients: usize, lies: u64) -> Register {
    let plan =
        Plan { operations, clients, domain: 3, cas: 40, info: 20, lies, initial_is_zero: false };
    register(&Simulation::run(plan, rng.fork("run")), &with_evidence())
}

#[test]
fn what_is_settled_has_an_order() {
    let rng = Rng::from_seed(51);
    let mut undecided = 0;
    for round in 0..rounds(1_500) {
        let mut rng = rng.fork(&round.to_string());
        let register = ambiguous(&mut rng, 10, 4, 40);
        let mut completions: Vec<u32> =
            register.operations.iter().filter(|o| !o.is_open()).map(|o| o.complete).collect();
        completions.sort_unstable();
        for steps in 0..8 {
            let limits = Limits { steps, ..UNLIMITED };
            let (Decision::Undecided { settled, .. }, _) = decide(&register, &limits) else {
                continue;
            };
            undecided += 1;
            let Some(last) = settled.checked_sub(1) else { continue };
            let told = || format!("round {round}, {steps} steps, {settled} of {register:#?}");
            let moment = completions.get(last).copied();
            let moment = moment.unwrap_or_else(|| panic!("more than there are: {}", told()));
            assert!(has_order(&until(&register.operations, moment)), "{}", told());
        }
    }
    assert!(undecided > rounds(1_000), "{undecided}");
}

#[test]
fn what_takes_long_is_searched_to_the_end() {
    let mut long = 0;
    for seed in [1, 3, 9, 10] {
        let plan = Plan {
            operations: 200,
            clients: 60,
            domain: 5,
            cas: 90,
            info: 0,
            lies: 0,
            initial_is_zero: false,
        };
        let history = Simulation::run(plan, Rng::from_seed(seed).fork("run"));
        let register = register(&history, &cas_register());
        let observed = Observed::of(&register.operations, register.values);
        let (_, steps) = search(&register.operations, register.values, &observed, &UNLIMITED);
        let (decision, taken) = decide(&register, &UNLIMITED);
        assert_eq!(decision, Decision::Linearizable(Method::Search), "seed {seed}");
        // More than one search took: one that was too brief came before it.
        long += usize::from(taken > steps && steps > 1_000);
    }
    assert!(long > 0, "none of them takes long");
}
