//! Lines of the nemesis in compact histories:
//! `10 nemesis phase main`;
//! `12 nemesis view kvrocks1=master@2:0-8191 kvrocks2=replica@2 kvrocks3=down controller1=leader@7`;
//! `13 nemesis strike f1 kill kvrocks1` (or `pause`, `cut`, `crash`), and `20 nemesis heal f1 kill kvrocks1`.

use super::record;
use crate::cluster::{
    Action, Applied, FaultId, Link, Manner, NodeState, NodeView, Proof, Role, View,
};
use crate::nemesis::{Deed, FaultRecord, Phase, role_of};
use crate::op::{Event, NodeName};

pub(super) fn events(seconds: f64, words: &[&str]) -> Vec<Event> {
    let single = |f: &str, what: FaultRecord| vec![record(seconds, f, &what)];
    match words {
        ["phase", name] => single("phase", FaultRecord::Phase { phase: phase(name) }),
        ["view", nodes @ ..] => {
            let nodes = nodes.iter().map(|word| node(word)).collect();
            single("view", FaultRecord::View { view: View { nodes } })
        }
        ["strike", fault, what, target] => {
            let (fault, action) = (fault_id(fault), action(fault, what, target));
            let targets = vec![NodeName::from(*target)];
            let begin = FaultRecord::Begin { fault, targets, actions: vec![action.clone()] };
            let began = FaultRecord::Began { fault, deeds: vec![done(action)] };
            vec![record(seconds, what, &begin), record(seconds, what, &began)]
        }
        ["heal", fault, what, target] => {
            let (fault, action) = (fault_id(fault), action(fault, what, target));
            let undo = action.undo().expect("something to undo");
            let end = FaultRecord::End { fault, actions: vec![undo.clone()] };
            let ended = FaultRecord::Ended { fault, deeds: vec![done(undo)] };
            vec![record(seconds, what, &end), record(seconds, what, &ended)]
        }
        _ => panic!("{words:?}: expected phase, view, strike or heal"),
    }
}

fn done(action: Action) -> Deed {
    Deed { action, outcome: Applied::Installed { proof: Proof::default() } }
}

fn fault_id(text: &str) -> FaultId {
    FaultId(text.trim_start_matches('f').parse().expect(text))
}

fn action(fault: &str, what: &str, target: &str) -> Action {
    let node = NodeName::from(target);
    match what {
        "kill" => Action::Kill { node },
        "pause" => Action::Pause { node },
        "crash" => Action::Crash { node },
        "cut" => Action::Cut {
            fault: fault_id(fault),
            links: [Link { from: node, to: "controller1".into() }].into(),
            manner: Manner::default(),
        },
        _ => panic!("`{what}`: expected kill, pause, crash or cut"),
    }
}

fn phase(name: &str) -> Phase {
    use Phase::{Down, Drain, Heal, Main, Recover, Up};
    let phases = [Up, Main, Heal, Recover, Drain, Down];
    phases.into_iter().find(|phase| phase.name() == name).expect(name)
}

/// `NODE=WHAT[@EPOCH][:SLOTS]`.
fn node(word: &str) -> (NodeName, NodeView) {
    let (name, told) = word.split_once('=').expect("NODE=WHAT");
    let (told, slots) = told.split_once(':').map_or((told, None), |(t, s)| (t, Some(s.into())));
    let (what, epoch) = told.split_once('@').map_or((told, None), |(w, e)| (w, Some(e)));
    let state = match what {
        "master" | "leader" | "replica" | "follower" => NodeState::Serving,
        "running" => NodeState::Running,
        "paused" => NodeState::Paused,
        "down" => NodeState::Down,
        _ => {
            panic!("`{word}`: expected master, leader, replica, follower, running, paused or down")
        }
    };
    let role = Role::ALL.into_iter().find(|role| role.name() == role_of(name)).expect(name);
    let view = NodeView {
        leads: matches!(what, "master" | "leader"),
        epoch: epoch.map(|epoch| epoch.parse().expect(word)),
        slots,
        ..NodeView::new(role, state, "")
    };
    (name.into(), view)
}
