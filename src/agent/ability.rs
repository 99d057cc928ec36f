//! Which faults can act on this kernel, found out by letting each act on something of our own.
//!
//! Networks are tried in a namespace that is made for it and ends with it; tracing on a child of our own.
//! Nothing stays. What the engine does (freezing containers) is not ours to try.

mod network;
mod trace;

use super::protocol::TableSupport;
use crate::cluster::{Ability, Mechanism};

/// One trial: how it was seen to act.
type Trial = fn() -> anyhow::Result<String>;

const TRIALS: [(Mechanism, Trial); 5] = [
    (Mechanism::Reject, network::reject),
    (Mechanism::Redirect, network::redirect),
    (Mechanism::CloseSockets, network::close_sockets),
    (Mechanism::Shape, network::shape),
    (Mechanism::Trace, trace::write_to_a_child),
];

/// What was found out about each mechanism that is the kernel's.
pub fn try_all(bridges: &TableSupport) -> Vec<Ability> {
    let trials = TRIALS.into_iter().map(|(mechanism, trial)| match trial() {
        Ok(how) => Ability { mechanism, acts: true, how },
        Err(error) => Ability { mechanism, acts: false, how: format!("{error:#}") },
    });
    [bridge_tables(bridges)].into_iter().chain(trials).collect()
}

fn bridge_tables(support: &TableSupport) -> Ability {
    let installed = "a table with a chain at each hook of a bridge was installed and removed";
    let (acts, how) = match support {
        TableSupport::Owned => (true, format!("{installed}; the kernel ties it to its owner")),
        TableSupport::Unowned { why } => {
            (true, format!("{installed}; it would outlive an agent killed by SIGKILL: {why}"))
        }
        TableSupport::Missing { why } => (false, why.clone()),
    };
    Ability { mechanism: Mechanism::BridgeTables, acts, how }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_but_the_engines_is_tried_and_says_how() {
        let abilities = try_all(&TableSupport::Missing { why: "no such kernel".to_owned() });
        let tried: Vec<Mechanism> = abilities.iter().map(|ability| ability.mechanism).collect();
        assert_eq!(tried, Mechanism::ALL[..6]);
        for Ability { mechanism, acts, how } in abilities {
            eprintln!("{mechanism}: {acts}: {how}");
            assert!(!how.is_empty(), "{mechanism}");
            assert!(!acts || mechanism != Mechanism::BridgeTables);
        }
    }
}
