//! What is lost and what is only late has one name in all checkers.

use crate::checker::kvrocks::{kvrocks_checkers, told};
use crate::checker::text::history;
use crate::checker::{Budget, Verdict};

/// kvrocks3 takes write 2 for a slot on its way to it; then kvrocks1 answers with what was before. What
/// the topology says of the slot afterwards, and who is asked at the end.
fn kinds(slots: [&str; 2], last: (&str, &str)) -> Vec<String> {
    let part = |master, replica, slots| told::part(master, replica, slots, None);
    let first = part("kvrocks1", "kvrocks2", slots[0]);
    let second = part("kvrocks3", "kvrocks4", slots[1]);
    let view = |version: u64| {
        format!(
            "nemesis view kvrocks1=master@{version} kvrocks2=replica@{version} kvrocks3=master@{version} kvrocks4=replica@{version}"
        )
    };
    let (reader, value) = last;
    let history = history(&format!(
        "
        0 nemesis phase main
        0.5 nemesis view kvrocks1=master@5:0-8191 kvrocks2=replica@5 kvrocks3=master@5:8192-16383 kvrocks4=replica@5
        2.0 0@kvrocks1 invoke write 1 key=7
        2.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
        10.0 9@controller1 invoke migrate {{\"slot\":130,\"target\":1}}
        10.1 9@controller1 ok migrate {{\"slot\":130,\"target\":1,\"cluster\":{}}}
        10.3 {}
        11.0 0@kvrocks1 invoke write 2 key=7
        11.1 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks1:MOVED,kvrocks3:ok
        12.0 8@controller1 invoke topology nil
        12.1 8@controller1 ok topology {{\"version\":7,\"shards\":[{first},{second}]}}
        13.0 {}
        14.0 1@kvrocks1 invoke read nil key=7
        14.1 1@kvrocks1 ok read 1 key=7 slot=130 via=kvrocks1:ok
        15.0 1@kvrocks1 invoke read nil key=7
        15.1 1@kvrocks1 ok read {value} key=7 slot=130 via={reader}:ok
        16.0 1@kvrocks1 invoke write 3 key=7
        16.1 1@kvrocks1 ok write 3 key=7 slot=130 via={reader}:ok
        20 nemesis phase drain
        21.0 1@kvrocks1 invoke read nil key=7
        21.1 1@kvrocks1 ok read 3 key=7 slot=130 via={reader}:ok
        22.0 {}",
        told::document(6, Some((130, 1))),
        view(6),
        view(7),
        view(7),
    ));
    let mut checkers = kvrocks_checkers(&told::checks(Some(told::register())));
    let findings = checkers.iter_mut().map(|c| c.finish(&history, &Budget::UNBOUNDED));
    let invalid = findings.filter(|finding| finding.verdict == Verdict::Invalid);
    let kinds = invalid.flat_map(|finding| {
        finding.anomalies.into_iter().map(move |a| format!("{}: {}", finding.name, a.kind))
    });
    kinds.collect()
}

#[test]
fn what_the_topology_takes_back_is_lost_for_both() {
    assert_eq!(
        kinds(["0-8191", "8192-16383"], ("kvrocks1", "1")),
        [
            "single-writer: split-brain",
            "lost-writes: lost-write",
            "stale-reads: stale-read",
            "linearizability: lost-write"
        ]
    );
}

#[test]
fn what_is_seen_again_is_lost_for_neither() {
    assert_eq!(
        kinds(["0-129,131-8191", "130,8192-16383"], ("kvrocks3", "2")),
        ["stale-reads: stale-read", "linearizability: stale-read"]
    );
}
