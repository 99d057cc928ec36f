//! Schedules from histories, through YAML and back.

use super::*;
use crate::cluster::{Link, Proof};
use crate::nemesis::record::Deed;
use crate::op::{Event, Kind, Process, SECOND};

fn history(records: &[(u64, &str, FaultRecord)]) -> History {
    let mut history = History::default();
    for (index, (second, f, record)) in records.iter().enumerate() {
        history.push(Event {
            index: index as u64,
            time: second * SECOND,
            kind: Kind::Info,
            process: Process::Nemesis,
            node: None,
            f: (*f).into(),
            key: None,
            value: record.to_value(),
            error: None,
            route: None,
        });
    }
    history
}

fn kill(number: u8) -> Action {
    Action::Kill { node: format!("zookeeper{number}").into() }
}

fn begin(id: u32, actions: &[Action]) -> FaultRecord {
    let targets = actions.iter().flat_map(nodes).collect();
    FaultRecord::Begin { fault: FaultId(id), targets, actions: actions.to_vec() }
}

fn done(action: Action) -> Deed {
    Deed { action, outcome: Applied::Installed { proof: Proof::default() } }
}

fn skipped(action: Action) -> Deed {
    Deed { action, outcome: Applied::Skipped { why: "down".into() } }
}

fn began(id: u32, deeds: Vec<Deed>) -> FaultRecord {
    FaultRecord::Began { fault: FaultId(id), deeds }
}

fn end(id: u32) -> FaultRecord {
    FaultRecord::End { fault: FaultId(id), actions: Vec::new() }
}

fn phase(phase: Phase) -> FaultRecord {
    FaultRecord::Phase { phase }
}

#[test]
fn a_schedule_tells_what_was_really_done() {
    let expire =
        Action::Expire { node: "zookeeper1".into(), session: crate::cluster::SessionPick::Nth(4) };
    let script = Script::of(&history(&[
        (0, "phase", phase(Phase::Main)),
        (1, "kill", begin(1, &[kill(1), kill(2)])),
        (1, "kill", began(1, vec![done(kill(1)), skipped(kill(2))])),
        (2, "pause", begin(2, &[kill(3)])),
        (2, "pause", began(2, vec![skipped(kill(3))])),
        (3, "kill", end(1)),
        (4, "expire-session", begin(3, std::slice::from_ref(&expire))),
        (4, "expire-session", began(3, vec![done(expire.clone())])),
        (5, "expire-session", end(3)),
        (6, "kill", begin(4, &[kill(2)])),
        (6, "kill", began(4, vec![done(kill(2))])),
        (7, "phase", phase(Phase::Heal)),
        (7, "kill", end(4)),
    ]));
    let told: Vec<_> = script
        .entries
        .iter()
        .map(|entry| (entry.nemesis.as_str(), entry.at, entry.until, entry.actions.clone()))
        .collect();
    let second = Span::seconds;
    assert_eq!(
        told,
        [
            ("kill", second(1), Some(second(3)), vec![kill(1)]),
            ("expire-session", second(4), None, vec![expire]),
            ("kill", second(6), None, vec![kill(2)]),
        ]
    );
    let names: Vec<_> = script.nemeses().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["kill", "expire-session"]);
}

#[test]
fn a_schedule_is_read_back_from_its_yaml() {
    let links = BTreeSet::from([Link { from: "zookeeper1".into(), to: CLIENTS.into() }]);
    let cut = Action::Cut { fault: FaultId(7), links, manner: Default::default() };
    let rule = crate::cluster::MessageRule {
        pattern: "zookeeper set /a".parse().expect("a pattern"),
        form: crate::cluster::Form::Hold,
        nth: 1,
        times: None,
        delay: None,
    };
    let tap = crate::cluster::Tap {
        node: "zookeeper1".into(),
        side: crate::cluster::Side::Inbound,
        port: 2181,
        peers: BTreeSet::new(),
    };
    let interpose = Action::Interpose {
        fault: FaultId(7),
        taps: BTreeSet::from([tap]),
        effect: crate::cluster::Effect::Message(rule),
    };
    let entry = ScriptEntry {
        nemesis: "mine".into(),
        at: Span(std::time::Duration::from_nanos(8_000_000_001)),
        until: Some(Span::seconds(9)),
        targets: Vec::new(),
        actions: vec![cut, interpose, kill(1)],
    };
    let script = Script { entries: vec![entry] };
    let yaml = serde_yaml::to_string(&script).expect("plain data");
    assert_eq!(serde_yaml::from_str::<Script>(&yaml).expect(&yaml), script);
}

#[test]
fn an_entry_s_actions_take_the_number_of_their_fault_and_name_its_nodes() {
    let links = BTreeSet::from([
        Link { from: "zookeeper3".into(), to: "zookeeper1".into() },
        Link { from: CLIENTS.into(), to: "zookeeper1".into() },
    ]);
    let cut =
        |id| Action::Cut { fault: FaultId(id), links: links.clone(), manner: Default::default() };
    let mut entry = ScriptEntry {
        nemesis: "mine".into(),
        at: Span::seconds(1),
        until: None,
        targets: Vec::new(),
        actions: vec![cut(1), kill(2)],
    };
    assert_eq!(entry.actions_of(FaultId(9)), [cut(9), kill(2)]);
    let names: Vec<String> = entry.targets().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["zookeeper1", "zookeeper2", "zookeeper3"], "clients are no node");
    entry.targets = vec!["zookeeper3".into()];
    assert_eq!(entry.targets().len(), 1, "as it says");
}
