//! Random histories survive every form, and random bytes, damage and cuts never do harm.
//!
//! `STORMGLASS_SEEDS` says how many times as many are tried.

use serde_json::{Map, Value as Json};

use super::super::{ReadOptions, Recording};
use super::any_bytes::read_in_all_ways;
use super::samples::samples;
use crate::history::{FrameEncoder, Keys, read, read_with, write_edn, write_line};
use crate::op::{Event, Hop, Key, Kind, Process, Route};
use crate::rng::Rng;

fn times(count: u64) -> u64 {
    let seeds = std::env::var("STORMGLASS_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    count * seeds.unwrap_or(1)
}

fn text(rng: &mut Rng) -> String {
    let pieces =
        ["a", "é", "\"", "\\", "\n", "\u{1}", "7", " ", ":", "#", "😀", "-", ";", "nil", "/"];
    (0..rng.below(5)).filter_map(|_| rng.pick(&pieces).copied()).collect()
}

fn number(rng: &mut Rng) -> i64 {
    match rng.below(6) {
        0 => *rng.pick(&[i64::MIN, i64::MAX, 0, -1, 1 << 53]).expect("some"),
        1 => rng.below(u64::MAX) as i64,
        _ => rng.below(200) as i64 - 100,
    }
}

fn json(rng: &mut Rng, depth: u32) -> Json {
    match rng.below(if depth == 0 { 6 } else { 9 }) {
        0 => Json::Null,
        1 => Json::Bool(rng.chance(0.5)),
        2 => text(rng).into(),
        3 => (rng.below(1000) as f64 / 8.0 * 10_f64.powi(rng.below(40) as i32 - 20)).into(),
        4 => rng.below(u64::MAX).into(),
        5 => number(rng).into(),
        6 | 7 => (0..rng.below(4)).map(|_| json(rng, depth - 1)).collect(),
        _ => {
            let entries = (0..rng.below(4)).map(|_| (text(rng), json(rng, depth - 1)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
    }
}

fn event(rng: &mut Rng, index: u64) -> Event {
    let kinds = [Kind::Invoke, Kind::Ok, Kind::Fail, Kind::Info];
    let process = match rng.below(8) {
        0 => Process::Nemesis,
        _ => Process::Client(rng.below(5) as u32),
    };
    let names = ["read", "write", "txn", "two words", "a/b", "", "nil", "7"];
    let mut event =
        Event::new(*rng.pick(&kinds).expect("some"), process, *rng.pick(&names).expect("some"));
    event.index = index;
    event.time = rng.below(1 << 40);
    event.value = crate::history::Datum::Json(&json(rng, 3)).to_value();
    event.key = match rng.below(3) {
        0 => Some(Key::Int(number(rng))),
        1 => Some(Key::Text(std::sync::Arc::new(text(rng)))),
        _ => None,
    };
    event.error = rng.chance(0.3).then(|| text(rng).into());
    event.node = rng.chance(0.5).then(|| "n1".into());
    event.route = rng.chance(0.2).then(|| {
        let hop = Hop { node: "n2".into(), said: text(rng), after_us: rng.below(900) };
        Box::new(Route { hops: vec![hop], slot: rng.chance(0.5).then_some(7) })
    });
    event
}

#[test]
fn random_histories_survive_every_form() {
    let mut rng = Rng::from_seed(11);
    let mut encoder = FrameEncoder::new().expect("an encoder");
    for round in 0..times(300) {
        let events: Vec<Event> = (0..=rng.below(6)).map(|index| event(&mut rng, index)).collect();
        let (mut lines, mut edn, mut independent) = (Vec::new(), Vec::new(), Vec::new());
        for event in &events {
            write_line(&mut lines, event);
            write_edn(&mut edn, event, Keys::Plain);
            let keyed =
                Event { key: Some(event.key.clone().unwrap_or(Key::Int(1))), ..event.clone() };
            write_edn(&mut independent, &keyed, Keys::Independent);
        }
        let packed = encoder.encode(&lines).expect("in memory");
        for bytes in [&lines, &edn, &packed] {
            let read = read(bytes, "h").unwrap_or_else(|e| panic!("round {round}: {e}"));
            assert_eq!(read.history.events(), events, "round {round}");
            let mut again = Vec::new();
            read.history.events().iter().for_each(|event| write_line(&mut again, event));
            assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&lines));
        }
        let read = read_with(&independent, "h", Keys::Independent).expect("readable");
        let keyed = |event: &Event| (event.key.clone().unwrap_or(Key::Int(1)), event.value.clone());
        for (read, event) in read.history.events().iter().zip(&events) {
            assert_eq!((read.key.clone(), read.value.clone()), {
                let (key, value) = keyed(event);
                (Some(key), value)
            });
        }
    }
}

#[test]
fn every_sample_is_found_to_be_what_it_is() {
    for (format, bytes) in samples() {
        let options = ReadOptions::default();
        let found = Recording::read(bytes.as_slice(), "h", &options).expect("sound");
        assert_eq!((found.format, found.damage), (format, None));
        assert!(!found.history.is_empty());
        for piece in [1, 2, 7, 100] {
            read_in_all_ways(&bytes, piece);
        }
    }
}

#[test]
fn every_sample_may_end_anywhere() {
    for (_, bytes) in samples() {
        for end in 0..bytes.len() {
            read_in_all_ways(&bytes[..end], 64);
        }
    }
}

fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let place = rng.below(bytes.len().max(1) as u64) as usize;
    let telling = b"{}[]()\"\\:;#,\n\r\t 0-.eN=wr_^\x00\xff\xc3";
    match rng.below(6) {
        0 if !bytes.is_empty() => bytes[place] ^= 1 << rng.below(8),
        1 => bytes.insert(place.min(bytes.len()), *rng.pick(telling).expect("some")),
        2 if !bytes.is_empty() => bytes[place] = *rng.pick(telling).expect("some"),
        3 if !bytes.is_empty() => drop(bytes.remove(place)),
        4 => {
            let end = (place + rng.below(40) as usize).min(bytes.len());
            let copy = bytes[place.min(end)..end].to_vec();
            let at = rng.below(bytes.len() as u64 + 1) as usize;
            drop(bytes.splice(at..at, copy));
        }
        _ => {
            let end = (place + rng.below(20) as usize).min(bytes.len());
            drop(bytes.drain(place.min(end)..end));
        }
    }
}

#[test]
fn damaged_histories_do_no_harm() {
    let mut rng = Rng::from_seed(12);
    for (_, sound) in samples() {
        for _ in 0..times(400) {
            let mut bytes = sound.clone();
            (0..=rng.below(3)).for_each(|_| damage(&mut bytes, &mut rng));
            read_in_all_ways(&bytes, rng.between(1, 90) as usize);
        }
    }
}

#[test]
fn noise_does_no_harm() {
    let mut rng = Rng::from_seed(13);
    let begins: [&[u8]; 9] = [
        b"",
        b"{\"",
        b"{:",
        b"[{",
        b"0 :ok :read ",
        b"INFO x - a\t:fail\t:read\t1\t",
        b"#a.b",
        b"w 1 ",
        b"w(1,",
    ];
    for _ in 0..times(3000) {
        let mut bytes = rng.pick(&begins).expect("some").to_vec();
        let alphabets: [&[u8]; 3] = [b"{}[]\":,0 1a\n", b"{}[]():#_^\\\"; \nn0", b"wr0123(),-= \n"];
        let alphabet = rng.pick(&alphabets).expect("some");
        for _ in 0..rng.below(80) {
            let is_wild = rng.below(30) == 0;
            let tame = *rng.pick(alphabet).expect("some");
            bytes.push(if is_wild { rng.below(256) as u8 } else { tame });
        }
        read_in_all_ways(&bytes, rng.between(1, 40) as usize);
    }
}
