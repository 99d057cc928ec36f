//! What the log promises, after every way to die.

use std::rc::Rc;

use bytes::Bytes;

use super::*;
use crate::reference::testing::MemoryDisk;
use crate::rng::Rng;

const NEVER: SyncPolicy = SyncPolicy::Never;

fn set(key: &str, value: &str) -> Record {
    let (key, value) = (Bytes::from(key.to_owned()), Bytes::from(value.to_owned()));
    Record::SetString { key, value, expires: None }
}

fn open(disk: &Rc<MemoryDisk>) -> Recovered {
    Log::open(disk.clone(), NEVER).expect("a sound log")
}

/// All values of the store, in order.
fn values(recovered: &Recovered) -> Vec<Record> {
    recovered.store.records().collect()
}

#[test]
fn what_was_appended_is_there_after_a_start_and_the_sequence_goes_on() {
    let disk = MemoryDisk::new();
    let mut first = open(&disk);
    assert_eq!((first.log.sequence(), first.store.len()), (0, 0));
    assert_eq!(first.log.append(vec![set("a", "1"), set("b", "1")]).expect("space"), 2);
    assert_eq!(first.log.append(vec![]).expect("space"), 2);
    assert_eq!(first.log.append(vec![set("a", "2")]).expect("space"), 3);
    let mut second = open(&disk);
    assert_eq!((second.log.sequence(), second.cut_off), (3, 0));
    assert_eq!(values(&second), [set("b", "1"), set("a", "2")]);
    assert_eq!(second.log.append(vec![set("c", "1")]).expect("space"), 4);
    assert_eq!(values(&open(&disk)).len(), 3);
}

#[test]
fn what_is_only_buffered_dies_with_the_process() {
    let disk = MemoryDisk::new();
    let mut log = open(&disk).log;
    assert_eq!(log.buffer(vec![set("a", "1")]), 1);
    assert_eq!((log.sequence(), log.written()), (1, 0));
    assert_eq!(open(&disk).store.len(), 0);
    assert_eq!(log.append(vec![set("b", "1")]).expect("space"), 2);
    assert_eq!(open(&disk).store.len(), 2, "an append writes what was buffered before it");
}

#[test]
fn a_log_cut_anywhere_gives_the_writes_before() {
    let disk = MemoryDisk::new();
    let mut log = open(&disk).log;
    let mut ends = vec![(0, 0)];
    for number in 0..12 {
        let records = (0..=number % 3).map(|part| set(&format!("{number}-{part}"), "value"));
        let sequence = log.append(records.collect()).expect("space");
        ends.push((disk.length("log-0-000000"), sequence));
    }
    for length in 0..=disk.length("log-0-000000") {
        let cut = disk.copy();
        cut.cut("log-0-000000", length);
        let (end, sequence) = *ends.iter().rfind(|(end, _)| *end <= length).expect("0 is there");
        let mut recovered = open(&cut);
        assert_eq!(recovered.log.sequence(), sequence, "cut behind {length} bytes");
        assert_eq!(recovered.store.len() as u64, sequence);
        assert_eq!(recovered.cut_off, length - end);
        recovered.log.append(vec![set("new", "1")]).expect("space");
        assert_eq!(open(&cut).store.len() as u64, sequence + 1);
    }
}

#[test]
fn a_flipped_bit_costs_the_end_or_is_refused_and_never_makes_anything_up() {
    let disk = MemoryDisk::new();
    let mut log = open(&disk).log;
    log.segment_limit = 150;
    for number in 0..12 {
        log.append(vec![set(&number.to_string(), "value")]).expect("space");
    }
    let all = values(&open(&disk));
    for file in disk.names() {
        for at in 0..disk.length(&file) {
            let damaged = disk.copy();
            damaged.flip(&file, at);
            match Log::open(damaged, NEVER) {
                Ok(found) => {
                    assert!(values(&found).iter().all(|record| all.contains(record)));
                    assert_eq!(found.store.len() as u64, found.log.sequence());
                }
                Err(LogError::Damaged { file: named, .. }) => assert_eq!(named, file),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_failed_write_counts_for_nothing_and_the_next_one_takes_its_place() {
    for arrives in [0, 5, usize::MAX] {
        let disk = MemoryDisk::new();
        let mut log = open(&disk).log;
        log.append(vec![set("a", "1")]).expect("space");
        for _ in 0..3 {
            disk.fail_next_write_after(arrives);
            assert!(log.append(vec![set("lost", "1")]).is_err());
        }
        assert_eq!(log.append(vec![set("b", "1")]).expect("space"), 2);
        let found = open(&disk);
        assert_eq!(found.log.sequence(), 2);
        assert_eq!(values(&found), [set("b", "1"), set("a", "1")]);
        assert!(disk.names().len() <= 2, "{:?}", disk.names());
    }
}

#[test]
fn a_failed_sync_is_a_failed_write() {
    let disk = MemoryDisk::new();
    let mut log = Log::open(disk.clone(), SyncPolicy::Always).expect("empty").log;
    disk.fail_next_sync();
    assert!(log.append(vec![set("a", "1")]).is_err());
    assert_eq!(log.append(vec![set("b", "1")]).expect("space"), 1);
    disk.lose_power();
    assert_eq!(values(&open(&disk)), [set("b", "1")]);
}

#[test]
fn policies_say_what_a_loss_of_power_costs() {
    let second = Duration::from_secs(1);
    for (policy, kept) in [(SyncPolicy::Always, 3), (SyncPolicy::EverySecond, 2), (NEVER, 0)] {
        let disk = MemoryDisk::new();
        let mut log = Log::open(disk.clone(), policy).expect("empty").log;
        log.append(vec![set("a", "1")]).expect("space");
        log.append(vec![set("b", "1")]).expect("space");
        log.sync_if_due(second).expect("a disk");
        log.append(vec![set("c", "1")]).expect("space");
        log.sync_if_due(second + second / 2).expect("a disk");
        disk.lose_power();
        assert_eq!(open(&disk).store.len(), kept, "{policy}");
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    assert!("perhaps".parse::<SyncPolicy>().is_err());
}

#[test]
fn a_restart_puts_a_whole_store_in_place_of_the_log() {
    let disk = MemoryDisk::new();
    let mut log = open(&disk).log;
    for number in 0..5 {
        log.append(vec![set(&number.to_string(), "old")]).expect("space");
    }
    log.restart(vec![set("x", "new"), set("y", "new")], 70).expect("space");
    assert_eq!(log.append(vec![set("x", "newer")]).expect("space"), 71);
    let found = open(&disk);
    assert_eq!((found.log.sequence(), found.store.len()), (71, 2));
    assert!(matches!(found.log.read(5, 1), Err(Unreadable::Gone { after: 5, start: 70 })));
    // Half a snapshot is none.
    disk.cut("log-1-snapshot", disk.length("log-1-snapshot") - 1);
    assert!(Log::open(disk, NEVER).is_err());
}

#[test]
fn followers_read_on_from_any_end_of_a_write() {
    let disk = MemoryDisk::new();
    let mut log = open(&disk).log;
    log.segment_limit = 100;
    for number in 0..20 {
        log.append(vec![set(&number.to_string(), "a"), set("x", "b")]).expect("space");
    }
    // From memory, and from files as a log does that has just been opened.
    for log in [&log, &open(&disk).log] {
        for bytes in [1, 200, usize::MAX] {
            let (mut after, mut found) = (0, Vec::new());
            loop {
                let batches = log.read(after, bytes).expect("all of it is there");
                let Some(last) = batches.last() else { break };
                after = last.last();
                found.extend(batches.iter().flat_map(|batch| batch.records.clone()));
            }
            assert_eq!((after, found.len()), (40, 40));
            assert_eq!(found[38], set("19", "a"));
        }
        assert!(matches!(log.read(3, 1), Err(Unreadable::Within { after: 3 })));
        assert!(matches!(log.read(41, 1), Err(Unreadable::Ahead { after: 41, end: 40 })));
    }
}

#[test]
fn a_replicas_log_has_its_masters_numbers_and_may_have_gaps() {
    let disk = MemoryDisk::new();
    let mut log = open(&disk).log;
    let batch = |first, key| Batch { first, records: vec![set(key, "1")] };
    log.append_batch(batch(7, "a")).expect("space");
    log.append_batch(batch(9, "b")).expect("space");
    assert!(log.append_batch(batch(9, "c")).is_err());
    let found = open(&disk);
    assert_eq!((found.log.sequence(), found.store.len()), (9, 2));
    assert_eq!(found.log.read(7, 1).expect("it is there")[0].first, 9);
}

#[test]
fn batches_come_back_from_their_bytes_and_garbage_is_refused() {
    let mut rng = Rng::from_seed(11);
    let batch = Batch { first: 5, records: vec![set("k", "v"), Record::Clear] };
    let mut bytes = Vec::new();
    batch.encode(&mut bytes);
    assert_eq!(Batch::decode(&mut bytes.as_slice()), Ok(batch.clone()));
    for length in 0..bytes.len() {
        assert_eq!(Batch::decode(&mut &bytes[..length]), Err(BatchError::Short));
    }
    for _ in 0..2000 {
        let garbage: Vec<u8> = (0..rng.below(60)).map(|_| rng.below(4) as u8).collect();
        let _ = Batch::decode(&mut garbage.as_slice());
        let mut record = garbage.as_slice();
        let _ = Record::decode(&mut record);
    }
}
