//! The transaction that puts a table in force, change by change; and what a real kernel makes of it,
//! in a network namespace made for the test.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use expect_test::expect;

use super::*;
use crate::agent::attribute;

fn cut(hooks: &[Hook], pairs: usize) -> Cut {
    let pair = |index: usize| {
        let [high, low] = (index as u16).to_be_bytes();
        (Ipv4Addr::new(10, 0, high, low), Ipv4Addr::new(10, 1, high, low))
    };
    let (hooks, pairs) = (hooks.iter().copied().collect(), (0..pairs).map(pair).collect());
    Cut { hooks, pairs, matched: Matched::Everything }
}

fn expressions(rule: &[u8]) -> String {
    let list = attribute::find(rule, 4).unwrap_or_default();
    let names = attribute::decode(list)
        .filter_map(|(_, expression)| attribute::find(expression, 1).map(attribute::text));
    names.collect::<Vec<_>>().join(" ")
}

fn describe(cut: &Cut) -> String {
    let mut text = String::new();
    for change in changes(Family::Bridge, "sg_r_f1", TABLE_OWNED, cut) {
        let bytes = change.attributes.as_bytes();
        let _ = writeln!(text, "{} {} [{}]", change.kind, change.purpose, expressions(bytes));
    }
    text
}

#[test]
fn a_table_is_replaced_filled_and_hooked_in_one_transaction() {
    expect![[r#"
        0 add nftables table sg_r_f1 []
        2 delete nftables table sg_r_f1 []
        0 add nftables table sg_r_f1 []
        9 add a set to nftables table sg_r_f1 []
        12 fill a set of nftables table sg_r_f1 []
        3 add a chain to nftables table sg_r_f1 []
        6 add a rule to nftables table sg_r_f1 [meta cmp payload cmp cmp counter immediate]
        6 add a rule to nftables table sg_r_f1 [meta cmp payload cmp cmp counter immediate]
        6 add a rule to nftables table sg_r_f1 [meta cmp payload cmp cmp counter immediate]
        6 add a rule to nftables table sg_r_f1 [counter immediate]
        3 add a hook to nftables table sg_r_f1 []
        6 add a rule to nftables table sg_r_f1 [meta cmp payload payload lookup immediate]
    "#]]
    .assert_eq(&describe(&cut(&[Hook::Forward], 2)));
}

#[test]
fn a_cut_of_clients_hooks_their_paths_too() {
    let hooked = changes(Family::Bridge, "sg_r_f1", 0, &cut(&Hook::ALL, 1));
    let hooks = hooked.iter().filter_map(|change| {
        let attributes = change.attributes.as_bytes();
        attribute::dig(attributes, &[4, 1]).filter(|_| change.kind == 3).and_then(attribute::number)
    });
    assert_eq!(hooks.collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn a_big_cut_is_filled_in_parts_that_fit() {
    let changes = changes(Family::Bridge, "sg_r_f1", 0, &cut(&[Hook::Forward], 2500));
    let parts: Vec<usize> = changes
        .iter()
        .filter(|change| change.kind == 12)
        .map(|change| {
            let list = attribute::find(change.attributes.as_bytes(), 3).expect("elements");
            attribute::decode(list).count()
        })
        .collect();
    assert_eq!(parts, [1000, 1000, 500]);
}

#[test]
fn rule_bytes_are_as_the_kernel_wants_them() {
    let all = changes(Family::Bridge, "sg_r_f1", TABLE_OWNED, &cut(&[Hook::Forward], 1));
    let rule = all.last().expect("the hook's rule").attributes.as_bytes();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let list = attribute::find(rule, 4).expect("expressions");
    let lines: Vec<String> =
        attribute::decode(list).map(|(_, expression)| hex(expression)).collect();
    expect![[r#"
        090001006d657461000000001400028008000200000000010800010000000001
        08000100636d700020000280080001000000000108000200000000000c0003800600010008000000
        0c0001007061796c6f6164002400028008000100000000080800020000000001080003000000000c0800040000000004
        0c0001007061796c6f616400240002800800010000000009080002000000000108000300000000100800040000000004
        0b0001006c6f6f6b75700000200002800a0001006c696e6b7300000008000200000000080800040000000001
        0e000100696d6d6564696174650000002800028008000100000000001c0002801800028008000100fffffffd0c00020064726f7070656400"#]].assert_eq(&lines.join("\n"));
}

/// Runs in a network namespace of its own, which ends with the thread.
fn in_a_namespace_of_its_own(work: impl FnOnce() -> anyhow::Result<()> + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: a plain system call; it moves only this thread.
            match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
                0 => work().expect("a kernel with nftables for bridges"),
                _ => eprintln!("not run: needs root, to make a network namespace"),
            }
        });
        thread.join().expect("the test's thread");
    });
}

fn tally(fault: u32) -> Tally {
    Tally { fault: FaultId(fault), packets: 0, probes: 0 }
}

#[test]
fn the_kernel_shows_what_was_installed_and_what_was_removed() {
    in_a_namespace_of_its_own(|| {
        let mut tables = FaultTables::open("r")?;
        let big = cut(&Hook::ALL, 2500);
        let small = cut(&[Hook::Forward], 2);
        assert_eq!(tables.install(FaultId(1), &big)?.cut, big);
        tables.install(FaultId(2), &small)?;
        assert_eq!(tables.install(FaultId(1), &small)?.cut, small, "replaced");
        let names: Vec<String> = tables.in_force()?.into_iter().map(|table| table.name).collect();
        assert_eq!(names, ["sg_r_f1", "sg_r_f2"]);
        assert_eq!(tables.remove(FaultId(1))?, Some(tally(1)));
        assert_eq!(tables.remove(FaultId(1))?, None);
        assert_eq!(tables.tallies()?, [tally(2)]);
        assert_eq!(tables.heal(), (vec![tally(2)], vec![]));
        assert_eq!(tables.in_force()?, []);
        Ok(())
    });
}

#[test]
fn tables_of_others_stay_whatever_is_healed() {
    in_a_namespace_of_its_own(|| {
        let others = ["sg_other_f1", "sg_rr_f1", "sg_r", "filter", "stormglass"];
        let mut socket = Socket::open()?;
        for name in others {
            socket.transact(&changes(Family::Bridge, name, 0, &cut(&[Hook::Forward], 1)))?;
        }
        let mut tables = FaultTables::open("r")?;
        tables.install(FaultId(1), &cut(&[Hook::Forward], 1))?;
        assert_eq!(tables.heal(), (vec![tally(1)], vec![]));
        let left: Vec<String> =
            table_reader::tables(&mut socket, Family::Bridge, "")?.into_keys().collect();
        assert_eq!(left, ["filter", "sg_other_f1", "sg_r", "sg_rr_f1", "stormglass"]);
        for name in others {
            let pairs = table_reader::address_pairs(&mut socket, Family::Bridge, name, LINKS)?;
            assert_eq!(pairs, cut(&[], 1).pairs, "{name}");
        }
        Ok(())
    });
}

#[test]
fn an_owned_table_goes_with_its_socket_and_nobody_else_can_remove_it() {
    in_a_namespace_of_its_own(|| {
        let mut owner = FaultTables::open("r")?;
        if *owner.support() != TableSupport::Owned {
            eprintln!("not run: this kernel has no owned tables");
            return Ok(());
        }
        assert!(owner.install(FaultId(1), &cut(&[Hook::Forward], 1))?.owned);
        let mut other = FaultTables::open("r")?;
        let (tallies, left) = other.heal();
        assert_eq!(tallies, []);
        expect!["sg_r_f1: delete nftables table sg_r_f1: Operation not permitted (os error 1)"]
            .assert_eq(&left.join("\n"));
        drop(owner);
        // A child that another thread has just forked holds the socket as well, until it ends.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !other.in_force()?.is_empty() {
            assert!(Instant::now() < deadline, "it outlives its socket");
            std::thread::yield_now();
        }
        Ok(())
    });
}

#[test]
fn without_ownership_the_next_agent_heals_what_is_left() {
    in_a_namespace_of_its_own(|| {
        let mut dead = FaultTables::open("r")?;
        dead.flags = 0;
        assert!(!dead.install(FaultId(1), &cut(&[Hook::Forward], 1))?.owned);
        drop(dead);
        let mut next = FaultTables::open("r")?;
        assert_eq!(next.in_force()?.len(), 1);
        assert_eq!(next.heal(), (vec![tally(1)], vec![]));
        Ok(())
    });
}

#[test]
fn nothing_is_installed_once_closed() {
    in_a_namespace_of_its_own(|| {
        let mut tables = FaultTables::open("r")?;
        tables.close();
        let error = tables.install(FaultId(1), &cut(&[Hook::Forward], 1)).expect_err("closed");
        expect!["the agent is ending and installs nothing more"].assert_eq(&error.to_string());
        Ok(())
    });
}

#[test]
fn whatever_is_matched_is_read_back_from_the_kernel() {
    in_a_namespace_of_its_own(|| {
        let mut dropping = FaultTables::open("r")?;
        let mut refusing = FaultTables::open_refusing("r")?;
        let with = |hooks: &[Hook], matched| Cut { matched, ..cut(hooks, 2) };
        for matched in [Matched::Everything, Matched::AllButTcp, Matched::Port { port: 2888 }] {
            let wanted = with(&Hook::ALL, matched);
            assert_eq!(dropping.install(FaultId(1), &wanted)?.cut, wanted);
        }
        for port in [None, Some(2181)] {
            let wanted = with(&[Hook::Input, Hook::Output], Matched::Refused { port });
            assert_eq!(refusing.install(FaultId(1), &wanted)?.cut, wanted);
        }
        // Each kind heals its own only.
        assert_eq!(dropping.heal(), (vec![tally(1)], vec![]));
        assert_eq!(refusing.in_force()?.len(), 1);
        assert_eq!(refusing.heal(), (vec![tally(1)], vec![]));
        Ok(())
    });
}
