//! Writes at the destination of a migration that ends in one way or another.

use super::*;
use crate::checker::kvrocks::told;
use crate::checker::text::history;

/// kvrocks3 takes a write for slot 130 on its way from shard 0 to shard 1; `after` is what follows.
fn custody(after: &str) -> Custody {
    let history = history(&format!(
        "
        0 nemesis phase main
        1 nemesis view kvrocks1=master@5:0-8191 kvrocks2=replica@5 kvrocks3=master@5:8192-16383 kvrocks4=replica@5
        10.0 9@controller1 invoke migrate {{\"slot\":130,\"target\":1}}
        10.1 9@controller1 ok migrate {{\"slot\":130,\"target\":1,\"cluster\":{}}}
        10.3 nemesis view kvrocks1=master@6:0-8191 kvrocks2=replica@6 kvrocks3=master@6:8192-16383 kvrocks4=replica@6
        11.0 0@kvrocks1 invoke write 1 key=7
        11.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:MOVED,kvrocks3:ok
        12.5 nemesis view kvrocks1=master@6:0-8191 kvrocks2=replica@6 kvrocks3=master@6:8192-16383 kvrocks4=down
        {after}",
        told::document(6, Some((130, 1))),
    ));
    let pairs = history.operations();
    let evidence = Evidence::of(&history, &pairs, &told::checks(None).shards);
    let write = pairs.iter().filter_map(Answer::of).find(|answer| answer.is_write());
    evidence.custody_of(&write.expect("a write"))
}

fn document(version: u64, masters: [&str; 2], slots: [&str; 2]) -> String {
    let first = told::part(masters[0], "kvrocks2", slots[0], None);
    let second = told::part(masters[1], "kvrocks4", slots[1], None);
    format!(
        "20.0 8@controller1 invoke topology nil
        20.1 8@controller1 ok topology {{\"version\":{version},\"shards\":[{first},{second}]}}"
    )
}

const MASTERS: [&str; 2] = ["kvrocks1", "kvrocks3"];
const MOVED: [&str; 2] = ["0-129,131-8191", "130,8192-16383"];
const BEFORE: [&str; 2] = ["0-8191", "8192-16383"];

#[test]
fn the_owner_has_what_the_topology_gave_it() {
    assert_eq!(custody(&document(7, MASTERS, MOVED)), Custody::Owner(7));
}

#[test]
fn nobody_has_what_the_topology_never_gave() {
    let nobody = Custody::Nobody { owner: 0 };
    assert_eq!(custody(&document(7, MASTERS, BEFORE)), nobody);
    let later = document(9, MASTERS, MOVED).replace("20.", "40.");
    let failed = format!("{}\n{later}", document(7, MASTERS, BEFORE));
    assert_eq!(custody(&failed), nobody, "it came with another migration");
    let promoted = "
        15 nemesis view kvrocks1=down kvrocks2=master@7:0-8191 kvrocks3=master@7:8192-16383 kvrocks4=replica@7";
    assert_eq!(
        custody(&format!("{promoted}\n{later}")),
        nobody,
        "the new master knew nothing of it"
    );
}

#[test]
fn an_owner_that_is_not_known_is_held_to_have_it() {
    let history = history(
        "
        11.0 0@kvrocks1 invoke write 1 key=7
        11.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks3:ok",
    );
    let pairs = history.operations();
    let evidence = Evidence::of(&history, &pairs, &told::checks(None).shards);
    let write = Answer::of(&pairs[0]).expect("an answer");
    assert_eq!(evidence.custody_of(&write), Custody::Owner(0));
}
