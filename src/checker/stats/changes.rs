//! Changes of the topology that a workload is about: a run without any of them shows nothing.

use crate::history::History;
use crate::op::{ClusterTopology, Event, Kind};

/// Which changes a run must have had, by what its operators were to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WantedChanges {
    #[default]
    None,
    /// At least one of each that is wanted: migrations, failovers.
    Each { migration: bool, failover: bool },
    /// At least one of any kind.
    Any,
}

/// What it takes that anybody asks for a change.
const OPERATORS: &str = "operators (`operators.each`)";

/// Requests of one kind.
#[derive(Default)]
struct Requests {
    asked: usize,
    accepted: usize,
    /// What the first that was refused was told.
    refusal: Option<String>,
}

/// What is lacking, in words; `too_short` says why nobody could ask, where there was no time to.
pub(super) fn lacks(
    wanted: WantedChanges,
    history: &History,
    too_short: Option<String>,
) -> Vec<String> {
    let idle = |needs: &str| match &too_short {
        Some(why) => why.clone(),
        None => format!("none was asked for, which needs {needs}"),
    };
    let pairs = history.operations();
    let mut lacks = Vec::new();
    match wanted {
        WantedChanges::None => {}
        WantedChanges::Each { migration, failover } => {
            if migration && !is_migrating_anywhere(&pairs) {
                let needs = "operators (`operators.each`) and 2 shards or more";
                let requests = requests(&pairs, &["migrate"]);
                lacks.extend(requests.lack("no migration began", &idle(needs)));
            }
            if failover {
                let requests = requests(&pairs, &["failover"]);
                lacks.extend(requests.lack("no failover happened", &idle(OPERATORS)));
            }
        }
        WantedChanges::Any => {
            let all = ["migrate", "failover", "create-namespace", "delete-namespace"];
            let requests = requests(&pairs, &all);
            lacks.extend(requests.lack("no change was acknowledged", &idle(OPERATORS)));
        }
    }
    lacks
}

/// A controller told of one, whoever asked for it and whatever came of the request.
fn is_migrating_anywhere(pairs: &[(&Event, Option<&Event>)]) -> bool {
    let told = pairs.iter().filter_map(|(_, completion)| *completion);
    let told = told.filter(|event| event.kind == Kind::Ok && &*event.f == "topology");
    let mut told = told.filter_map(|event| ClusterTopology::of(&event.value));
    told.any(|topology| topology.is_migrating())
}

fn requests(pairs: &[(&Event, Option<&Event>)], kinds: &[&str]) -> Requests {
    let mut requests = Requests::default();
    for (_, completion) in pairs.iter().filter(|(invoke, _)| kinds.contains(&&*invoke.f)) {
        requests.asked += 1;
        match completion {
            Some(event) if event.kind == Kind::Ok => requests.accepted += 1,
            Some(event) if requests.refusal.is_none() => {
                requests.refusal = event.error.as_deref().map(str::to_owned);
            }
            _ => {}
        }
    }
    requests
}

impl Requests {
    fn lack(&self, what: &str, idle: &str) -> Option<String> {
        let refusal = match &self.refusal {
            Some(refusal) => {
                format!(" (the first: {})", refusal.chars().take(200).collect::<String>())
            }
            None => String::new(),
        };
        match (self.accepted, self.asked) {
            (1.., _) => None,
            (0, 0) => Some(format!("{what}: {idle}")),
            (0, 1) => Some(format!("{what}: the only request was not accepted{refusal}")),
            (0, asked) => Some(format!("{what}: none of {asked} requests was accepted{refusal}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::checker::text::history;

    const BOTH: WantedChanges = WantedChanges::Each { migration: true, failover: true };

    fn check(wanted: WantedChanges, text: &str, expected: Expect) {
        expected.assert_eq(&lacks(wanted, &history(text), None).join("\n"));
    }

    #[test]
    fn what_was_accepted_counts() {
        let text = "
            1 9 invoke migrate {\"slot\":1,\"target\":1}
            2 9 ok migrate {\"slot\":1,\"target\":1}
            3 9 invoke failover {\"shard\":1}
            4 9 ok failover {\"shard\":1}";
        check(BOTH, text, expect![[""]]);
        check(WantedChanges::Any, text, expect![[""]]);
        check(WantedChanges::None, "", expect![[""]]);
    }

    #[test]
    fn what_was_never_asked_for_or_always_refused_is_lacking() {
        check(
            BOTH,
            "",
            expect![[r#"
                no migration began: none was asked for, which needs operators (`operators.each`) and 2 shards or more
                no failover happened: none was asked for, which needs operators (`operators.each`)"#]],
        );
        let text = "
            1 9 invoke migrate {\"slot\":1,\"target\":1}
            2 9 fail migrate {\"slot\":1,\"target\":1} error=refused
            3 9 invoke migrate {\"slot\":1,\"target\":1}
            4 9 info migrate {\"slot\":1,\"target\":1} error=timeout
            5 9 invoke failover {\"shard\":1}";
        check(
            BOTH,
            text,
            expect![[r#"
            no migration began: none of 2 requests was accepted (the first: refused)
            no failover happened: the only request was not accepted"#]],
        );
        check(
            WantedChanges::Any,
            text,
            expect![
                "no change was acknowledged: none of 3 requests was accepted (the first: refused)"
            ],
        );
    }

    #[test]
    fn a_migration_that_a_controller_tells_of_began_whatever_its_request_was_answered() {
        let text = "
            1 9 invoke migrate {\"slot\":1,\"target\":1}
            2 9 info migrate {\"slot\":1,\"target\":1} error=timeout
            3 8 invoke topology nil
            4 8 ok topology {\"version\":2,\"shards\":[{\"nodes\":[],\"slot_ranges\":[\"0-9\"],\"migrating_slot\":\"1\",\"target_shard_index\":1}]}";
        let wanted = WantedChanges::Each { migration: true, failover: false };
        check(wanted, text, expect![[""]]);
    }
}
