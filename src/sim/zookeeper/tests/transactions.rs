//! Checks and effects of writes, without network: the leader's preparation and the tree's application.

use std::rc::Rc;

use super::super::apply::Noted;
use super::super::message::{Part, Path, Refusal, Response, Write};
use super::super::prepare::Outstanding;
use super::super::storage::Storage;
use super::super::tree::Tree;
use super::super::txn::{Change, Txn};
use super::super::{SessionId, Variant, Zxid};
use crate::cluster::{CreateMode, Stat, WatchKind};

const SESSION: SessionId = 7;

struct Lab {
    tree: Tree,
    outstanding: Outstanding,
    zxid: Zxid,
    noted: Vec<Noted>,
}

impl Lab {
    fn new() -> Lab {
        let mut lab = Lab {
            tree: Tree::default(),
            outstanding: Outstanding::default(),
            zxid: 0x1_0000_0000,
            noted: Vec::new(),
        };
        lab.run(Write::CreateSession { timeout: 1 }).unwrap();
        lab
    }

    fn prepare(&mut self, write: Write) -> Txn {
        self.zxid += 1;
        let key = (self.zxid, SESSION, Variant::AsShipped);
        let change = self.outstanding.prepare(&self.tree, key, &write);
        Txn { zxid: self.zxid, session: SESSION, cxid: 0, time_ms: 0, change }
    }

    fn apply(&mut self, txn: &Txn) -> Result<Response, Refusal> {
        self.noted.clear();
        let result = self.tree.apply(txn, &mut self.noted);
        self.outstanding.applied(txn.zxid);
        result
    }

    fn run(&mut self, write: Write) -> Result<Response, Refusal> {
        let txn = self.prepare(write);
        self.apply(&txn)
    }

    fn stat(&self, path: &str) -> Stat {
        self.tree.znode(path).unwrap().stat()
    }

    fn noted(&self) -> Vec<(WatchKind, &str)> {
        self.noted.iter().map(|noted| (noted.kind, &*noted.path)).collect()
    }
}

fn create_part(path: &str, mode: CreateMode) -> Part {
    Part::Create { path: path.into(), data: b"x"[..].into(), mode }
}

fn create(path: &str) -> Write {
    Write::Single(create_part(path, CreateMode::Persistent))
}

fn sequential(path: &str) -> Write {
    Write::Single(create_part(path, CreateMode::PersistentSequential))
}

fn ephemeral(path: &str) -> Write {
    Write::Single(create_part(path, CreateMode::Ephemeral))
}

fn set_part(path: &str, version: i32) -> Part {
    Part::Set { path: path.into(), data: b"yy"[..].into(), version }
}

fn set(path: &str, version: i32) -> Write {
    Write::Single(set_part(path, version))
}

fn delete(path: &str, version: i32) -> Write {
    Write::Single(Part::Delete { path: path.into(), version })
}

fn check_part(path: &str, version: i32) -> Part {
    Part::Check { path: path.into(), version }
}

fn multi(parts: impl Into<Vec<Part>>) -> Write {
    Write::Multi(Rc::from(parts.into()))
}

fn path(path: &str) -> Result<Response, Refusal> {
    Ok(Response::Path(Path::from(path)))
}

#[test]
fn errors_come_in_zookeepers_order() {
    let mut lab = Lab::new();
    for write in [create("/a"), create("/a/b"), ephemeral("/e")] {
        lab.run(write).unwrap();
    }
    for (write, refusal) in [
        (create("/no/a"), Refusal::NoNode),
        (create("/a"), Refusal::NodeExists),
        (create("/e/a"), Refusal::NoChildrenForEphemerals),
        (set("/no", -1), Refusal::NoNode),
        (set("/a", 1), Refusal::BadVersion),
        (set("/a", -2), Refusal::BadVersion),
        (delete("/no", 5), Refusal::NoNode),
        (delete("/no/a", -1), Refusal::NoNode),
        (delete("/a", 5), Refusal::BadVersion),
        (delete("/a", 0), Refusal::NotEmpty),
        (delete("/zookeeper/quota", 7), Refusal::SpecialPath),
    ] {
        assert_eq!(lab.run(write.clone()), Err(refusal), "{write:?}");
    }
}

#[test]
fn stats_follow_each_change() {
    let mut lab = Lab::new();
    lab.run(create("/a")).unwrap();
    let created = lab.zxid;
    lab.run(set("/a", 0)).unwrap();
    let changed = lab.zxid;
    lab.run(create("/a/b")).unwrap();
    let child = lab.zxid;
    let expected = Stat {
        czxid: created,
        mzxid: changed,
        pzxid: child,
        version: 1,
        cversion: 1,
        ephemeral_owner: 0,
        data_length: 2,
        num_children: 1,
    };
    assert_eq!(lab.stat("/a"), expected);
    lab.run(delete("/a/b", 0)).unwrap();
    let gone = lab.zxid;
    assert_eq!(lab.stat("/a"), Stat { pzxid: gone, cversion: 2, num_children: 0, ..expected });
    lab.run(ephemeral("/e")).unwrap();
    assert_eq!(lab.stat("/e").ephemeral_owner, SESSION);
    // Every ensemble has /zookeeper, which nobody created.
    assert_eq!((Lab::new().stat("/").cversion, Lab::new().stat("/zookeeper").cversion), (-1, -2));
}

#[test]
fn sequence_numbers_count_creations_of_the_parent() {
    let mut lab = Lab::new();
    lab.run(create("/q")).unwrap();
    assert_eq!(lab.run(sequential("/q/n-")), path("/q/n-0000000000"));
    lab.run(create("/q/other")).unwrap();
    lab.run(delete("/q/other", -1)).unwrap();
    assert_eq!(lab.run(sequential("/q/n-")), path("/q/n-0000000002"));
    assert_eq!(lab.run(sequential("/q/")), path("/q/0000000003"));
    let twice = [
        create_part("/q/m-", CreateMode::PersistentSequential),
        create_part("/q/m-", CreateMode::EphemeralSequential),
    ];
    let made = ["/q/m-0000000004", "/q/m-0000000005"].map(|path| Response::Path(path.into()));
    assert_eq!(lab.run(multi(twice)), Ok(Response::Multi(made.into())));
}

#[test]
fn a_multi_sees_its_own_earlier_parts() {
    let mut lab = Lab::new();
    let parts = [
        create_part("/a", CreateMode::Persistent),
        check_part("/a", 0),
        set_part("/a", 0),
        check_part("/a", 1),
        create_part("/a/b", CreateMode::Persistent),
        Part::Delete { path: "/a/b".into(), version: 0 },
    ];
    let Ok(Response::Multi(results)) = lab.run(multi(parts)) else { panic!("refused") };
    assert_eq!(results.len(), 6);
    let stat = lab.stat("/a");
    assert_eq!((stat.czxid, stat.mzxid, stat.pzxid), (lab.zxid, lab.zxid, lab.zxid));
    assert_eq!((stat.version, stat.cversion, stat.num_children), (1, 2, 0));
}

#[test]
fn a_refused_multi_changes_nothing_and_names_the_part() {
    let mut lab = Lab::new();
    lab.run(create("/a")).unwrap();
    let before = lab.tree.clone();
    let parts = [set_part("/a", 0), check_part("/a", 0), set_part("/no", -1)];
    let failed = Response::MultiFailed { index: 1, refusal: Refusal::BadVersion };
    assert_eq!(lab.run(multi(parts)), Ok(failed));
    assert!(lab.noted.is_empty());
    // It takes a zxid all the same, as every refusal does.
    assert_eq!(lab.tree, Tree { zxid: lab.zxid, ..before });
    assert_eq!(lab.run(set("/a", 0)).map(drop), Ok(()), "nothing staged is left behind");
}

#[test]
fn checks_see_proposals_under_way() {
    let mut lab = Lab::new();
    lab.run(create("/a")).unwrap();
    let first = lab.prepare(set("/a", 0));
    let second = lab.prepare(set("/a", 0));
    let third = lab.prepare(set("/a", 1));
    assert_eq!(second.change, Change::Refused(Refusal::BadVersion));
    for txn in [&first, &second, &third] {
        // Each is applied at its turn; the second is a refusal.
        drop(lab.apply(txn));
    }
    assert_eq!(lab.stat("/a").version, 2);
    let created = lab.prepare(create("/b"));
    assert_eq!(lab.prepare(create("/b")).change, Change::Refused(Refusal::NodeExists));
    assert!(matches!(lab.prepare(create("/b/c")).change, Change::Single(_)));
    assert_eq!(lab.prepare(delete("/b", -1)).change, Change::Refused(Refusal::NotEmpty));
    lab.apply(&created).unwrap();
}

#[test]
fn the_planted_race_takes_two_writes_of_one_version() {
    let mut lab = Lab::new();
    lab.run(create("/a")).unwrap();
    for variant in [Variant::AsShipped, Variant::CasRaces] {
        let mut outstanding = Outstanding::default();
        let mut accepted = 0;
        for zxid in [10, 11] {
            let change = outstanding.prepare(&lab.tree, (zxid, SESSION, variant), &set("/a", 0));
            accepted += usize::from(matches!(change, Change::Single(_)));
        }
        assert_eq!(accepted, if variant == Variant::CasRaces { 2 } else { 1 });
    }
}

#[test]
fn the_end_of_a_session_removes_its_ephemerals_even_those_under_way() {
    let mut lab = Lab::new();
    lab.run(create("/p")).unwrap();
    lab.run(ephemeral("/p/a")).unwrap();
    let made = lab.prepare(ephemeral("/p/b"));
    let deleted = lab.prepare(delete("/p/a", -1));
    let ended = lab.prepare(Write::CloseSession);
    assert_eq!(ended.change, Change::CloseSession { ephemerals: vec!["/p/b".into()] });
    for txn in [&made, &deleted, &ended] {
        lab.apply(txn).unwrap();
    }
    assert!(lab.tree.znode("/p/b").is_none() && lab.tree.sessions().is_empty());
    assert_eq!(lab.noted(), [(WatchKind::Deleted, "/p/b"), (WatchKind::ChildrenChanged, "/p")]);
    assert_eq!(lab.run(delete("/p", -1)), Ok(Response::Done));
}

#[test]
fn each_change_is_noted_for_those_who_watch() {
    let mut lab = Lab::new();
    lab.run(create("/a")).unwrap();
    assert_eq!(lab.noted(), [(WatchKind::Created, "/a"), (WatchKind::ChildrenChanged, "/")]);
    lab.run(set("/a", -1)).unwrap();
    assert_eq!(lab.noted(), [(WatchKind::DataChanged, "/a")]);
    lab.run(multi([set_part("/a", -1), create_part("/a/b", CreateMode::Persistent)])).unwrap();
    let expected = [
        (WatchKind::DataChanged, "/a"),
        (WatchKind::Created, "/a/b"),
        (WatchKind::ChildrenChanged, "/a"),
    ];
    assert_eq!(lab.noted(), expected);
}

#[test]
fn a_log_truncates_rebuilds_and_folds_into_a_snapshot() {
    let mut lab = Lab::new();
    let mut storage = Storage::default();
    let created = Rc::new(lab.prepare(create("/a")));
    lab.apply(&created).unwrap();
    storage.append(0, created);
    let start = lab.zxid;
    for _ in 0..405 {
        let txn = Rc::new(lab.prepare(set("/a", -1)));
        lab.apply(&txn).unwrap();
        storage.append(0, txn);
    }
    let middle = start + 123;
    let rebuilt = storage.rebuild(middle);
    assert_eq!((rebuilt.zxid, rebuilt.znode("/a").unwrap().version), (middle, 123));
    assert_eq!((storage.floor(middle), storage.floor(0)), (Some(middle), Some(0)));
    assert_eq!(storage.next(middle).unwrap().zxid, middle + 1);
    storage.append(1_000_000_000, Rc::new(lab.prepare(set("/a", -1))));
    storage.lose_unflushed();
    let last = lab.tree.zxid;
    assert_eq!(storage.last_zxid(), last, "a second has passed since the last flush");
    storage.compact(&rebuilt);
    assert_eq!(storage.snapshot().zxid, 0, "too little is committed to fold");
    storage.compact(&lab.tree);
    assert_eq!((storage.snapshot().zxid, storage.last_zxid()), (last, last));
    // The last hundred entries stay, for those who lag a little.
    assert_eq!((storage.floor(last - 100), storage.floor(last - 101)), (Some(last - 100), None));
    assert_eq!(storage.rebuild(last), lab.tree);
}
