//! Random commands: the model agrees, other nodes end up the same, and nothing panics.

use super::model::Model;
use super::*;
use crate::rng::Rng;

/// Shapes of requests; `k` is a key, `v` a value, `t` a time in ms.
const SHAPES: &[&str] = &[
    "GET k",
    "SET k v",
    "SET k v",
    "SET k v NX",
    "SET k v XX",
    "SET k v PX t",
    "CAS k v v",
    "INCR k",
    "APPEND k v",
    "DEL k",
    "EXISTS k",
    "PEXPIRE k t",
    "PTTL k",
    "RENAME k k",
    "RPUSH k v v",
    "RPUSH k v v",
    "LPUSH k v",
    "LPOP k",
    "RPOP k",
    "LREM k 0 v",
    "LRANGE k 0 -1",
    "HSET k v v",
    "HSET k v v",
    "HDEL k v",
    "HGETALL k",
];

/// More of them, which the model does not know.
const MORE: &[&str] = &[
    "SADD k v v",
    "SREM k v",
    "ZADD k 1.5 v",
    "ZREM k v",
    "XADD k * v v",
    "PERSIST k",
    "GETDEL k",
    "HINCRBY k v 2",
    "INCRBYFLOAT k 0.25",
    "LTRIM k 1 2",
    "LSET k 0 v",
    "SETRANGE k 3 v",
    "MSET k v k v",
    "GETEX k PX t",
    "SETEX k 1 v",
    "FLUSHALL",
];

fn draw(rng: &mut Rng, shapes: &[&str]) -> String {
    let shape = shapes[rng.below(shapes.len() as u64) as usize];
    let word = |word: &str, rng: &mut Rng| match word {
        "k" => format!("{{{}}}{}", rng.below(2), rng.below(3)),
        "v" => rng.below(4).to_string(),
        "t" => rng.between(1, 50).to_string(),
        word => word.to_owned(),
    };
    let words: Vec<String> = shape.split(' ').map(|part| word(part, rng)).collect();
    words.join(" ")
}

/// What can be read, whatever it looks like inside.
fn seen(store: &Store, now: i64) -> Vec<String> {
    let slots: Vec<u16> = store.slots().collect();
    let keys = slots.iter().flat_map(|slot| store.keys_of_slot(*slot));
    let entries = keys.filter_map(|key| store.entry(key).map(|entry| (key, entry)));
    let live = entries.filter(|(_, entry)| !entry.is_expired(now));
    live.map(|(key, entry)| match &entry.content {
        Content::List(list) => {
            format!("{key:?} list {:?} {:?}", list.values().collect::<Vec<_>>(), entry.expires)
        }
        _ => format!("{key:?} {entry:?}"),
    })
    .collect()
}

#[test]
fn a_naive_model_agrees() {
    for seed in 0..60 {
        let (mut rng, mut now) = (Rng::from_seed(seed), NOW);
        let (mut store, mut model) = (Store::default(), Model::default());
        for step in 0..400 {
            now += rng.below(8) as i64;
            let line = draw(&mut rng, SHAPES);
            let reply = run(&mut store, &words(&line), now).reply;
            let expected = model.execute(&line.split(' ').collect::<Vec<_>>(), now);
            let told = format!("seed {seed} step {step}: {line}");
            match expected {
                Some(expected) => assert_eq!(reply, expected, "{told}"),
                None => assert!(matches!(reply, Value::Error(_)), "{told}: {reply:?}"),
            }
        }
    }
}

#[test]
fn the_same_records_give_the_same_store_however_they_come() {
    let shapes = [SHAPES, MORE].concat();
    for seed in 0..40 {
        let (mut rng, mut now) = (Rng::from_seed(seed), NOW);
        let mut store = Store::default();
        let (mut replica, mut by_commands) = (Store::default(), Store::default());
        let mut all = Vec::new();
        for _ in 0..300 {
            now += rng.below(8) as i64;
            let line = draw(&mut rng, &shapes);
            for record in run(&mut store, &words(&line), now).effects {
                let mut bytes = Vec::new();
                record.encode(&mut bytes);
                let mut rest = bytes.as_slice();
                replica.apply(&Record::decode(&mut rest).expect("a record"));
                assert!(rest.is_empty());
                let command = record.command().unwrap_or_else(|| words("FLUSHALL"));
                let reply = run(&mut by_commands, &command, now).reply;
                assert!(!matches!(reply, Value::Error(_)), "{line}: {record:?} {reply:?}");
                all.push(record);
            }
            assert_eq!(seen(&by_commands, now), seen(&store, now), "seed {seed}: {line}");
        }
        let held: Vec<Record> = store.records().collect();
        assert_eq!(replica.records().collect::<Vec<_>>(), held, "a replica, seed {seed}");
        // Some of the last records come twice.
        let again = all.len() - rng.below(all.len() as u64) as usize;
        all[again..].iter().for_each(|record| replica.apply(record));
        assert_eq!(replica.records().collect::<Vec<_>>(), held, "again, seed {seed}");
        moved_by_slots(&store, now);
    }
}

/// Records and commands of its slots make the same store of an empty one.
fn moved_by_slots(store: &Store, now: i64) {
    let (mut by_records, mut by_commands) = (Store::default(), Store::default());
    for slot in store.slots() {
        store.records_of_slot(slot).iter().for_each(|record| by_records.apply(record));
        for command in store.commands_of_slot(slot, now) {
            let reply = run(&mut by_commands, &command, now).reply;
            assert!(!matches!(reply, Value::Error(_)), "{command:?} {reply:?}");
        }
    }
    assert_eq!(by_records.slots, store.slots);
    assert_eq!(seen(&by_commands, now), seen(store, now));
    let slots: Vec<u16> = store.slots().collect();
    for slot in slots {
        by_records.apply(&Record::ClearSlots { first: slot, last: slot });
        assert_eq!(by_records.keys_of_slot(slot).count(), 0);
    }
    assert!(by_records.is_empty());
}

#[test]
fn a_transaction_does_what_its_commands_do_one_by_one_once_it_is_applied() {
    let shapes = [SHAPES, MORE].concat();
    for seed in 0..60 {
        let mut rng = Rng::from_seed(seed);
        let (mut store, mut other) = (Store::default(), Store::default());
        for _ in 0..40 {
            let lines: Vec<String> = (0..rng.below(5)).map(|_| draw(&mut rng, &shapes)).collect();
            let before = store.slots.clone();
            let mut transaction = store.transaction(NOW);
            for line in &lines {
                let reply = transaction.execute(&words(line));
                assert_eq!(reply, run(&mut other, &words(line), NOW).reply, "{line}");
            }
            let records = transaction.finish();
            assert_eq!(store.slots, before, "taken back");
            records.iter().for_each(|record| store.apply(record));
            assert_eq!(store.slots, other.slots);
        }
    }
}

#[test]
fn random_words_never_panic() {
    let mut rng = Rng::from_seed(7);
    let odd: &[&[u8]] = &[
        b"",
        b"0",
        b"-1",
        b"1",
        b"k",
        b"EX",
        b"NX",
        b"COUNT",
        b"MATCH",
        b"*",
        b"-",
        b"+",
        b"1-1",
        b"9223372036854775807",
        b"-9223372036854775808",
        b"99999999999999999999",
        b"1e400",
        b"nan",
        b"inf",
        b"\xff\xfe",
        b"{}",
        b"return redis.call('GET'",
        b"return KEYS[0]",
        b"return -",
    ];
    let mut store = Store::default();
    for _ in 0..60_000 {
        let command = &commands()[rng.below(commands().len() as u64) as usize];
        let mut request = vec![Bytes::from_static(command.name.as_bytes())];
        for _ in 0..rng.below(6) {
            request.push(Bytes::from_static(odd[rng.below(odd.len() as u64) as usize]));
        }
        command.keys(&request);
        let executed = run(&mut store, &request, NOW);
        assert!(command.write || executed.effects.is_empty(), "{} is no read", command.name);
    }
    assert!(matches!(store.execute(&[], NOW).reply, Value::Error(_)));
}
