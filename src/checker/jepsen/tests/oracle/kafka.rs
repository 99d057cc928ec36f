//! `kafka`: logs of a store that is right, and of one with each flaw; losses counted message by message.

use serde_json::{Value as Json, json};

use super::*;
use crate::checker::jepsen::KAFKA;
use crate::op::MILLISECOND;
use crate::rng::Rng;

/// What the store does wrong, now and then.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    /// A message is acknowledged and not kept.
    Lose,
    /// A message is kept twice.
    Double,
    /// A poll leaves out a message.
    Skip,
    /// A poll goes back.
    Back,
    /// The send of a kept message is said to have failed.
    Abort,
}

const FLAWS: [(Flaw, &[&str]); 6] = [
    (Flaw::None, &[]),
    (Flaw::Lose, &["lost-write", "unseen"]),
    (Flaw::Double, &["duplicate"]),
    (Flaw::Skip, &["int-poll-skip", "poll-skip"]),
    (Flaw::Back, &["nonmonotonic-poll"]),
    (Flaw::Abort, &["G1a"]),
];

/// Two logs, a process that sends and three that poll, all from the beginning.
struct Logs {
    flaw: Flaw,
    logs: [Vec<(i64, i64)>; 2],
    next_message: i64,
    next_offset: i64,
    positions: Vec<[usize; 2]>,
    events: Vec<Event>,
    flawed: bool,
}

impl Logs {
    fn event(&mut self, kind: Kind, process: usize, f: &str, value: Json) {
        let index = self.events.len() as u64;
        let value = Value::Json(Box::new(value));
        let process = Process::Client(process as u32);
        let time = (index + 1) * MILLISECOND;
        self.events.push(Event { index, time, value, ..Event::new(kind, process, f) });
    }

    fn is_flawed(&mut self, rng: &mut Rng, flaw: Flaw) -> bool {
        let now = self.flaw == flaw && rng.chance(0.1);
        self.flawed |= now;
        now
    }

    fn send(&mut self, rng: &mut Rng, process: usize) {
        let key = rng.below(2) as usize;
        self.next_message += 1;
        self.next_offset += rng.between(1, 2) as i64;
        let (message, offset) = (self.next_message, self.next_offset);
        self.event(Kind::Invoke, process, "send", json!([["send", key, message]]));
        let lost = self.is_flawed(rng, Flaw::Lose);
        let failed = rng.chance(0.1);
        if !lost && !failed {
            self.logs[key].push((offset, message));
        }
        if self.is_flawed(rng, Flaw::Double) && !failed && !lost {
            self.next_offset += 1;
            self.logs[key].push((self.next_offset, message));
        }
        let aborted = !failed && self.is_flawed(rng, Flaw::Abort);
        match (failed || aborted, !lost && rng.chance(0.1)) {
            (true, _) => self.event(Kind::Fail, process, "send", json!([["send", key, message]])),
            (_, true) => self.event(Kind::Info, process, "send", json!([["send", key, message]])),
            _ => self.event(Kind::Ok, process, "send", json!([["send", key, [offset, message]]])),
        }
    }

    fn poll(&mut self, rng: &mut Rng, process: usize, most: u64) {
        let key = rng.below(2) as usize;
        let mut from = self.positions[process][key];
        if from > 0 && self.is_flawed(rng, Flaw::Back) {
            from -= 1;
        }
        let to = self.logs[key].len().min(from + rng.between(1, most) as usize);
        let mut seen: Vec<(i64, i64)> = self.logs[key][from..to].to_vec();
        // The last may come again at the next poll: that would be no skip.
        if seen.len() > 1 && self.is_flawed(rng, Flaw::Skip) {
            seen.remove(rng.below(seen.len() as u64 - 1) as usize);
        }
        self.event(Kind::Invoke, process, "poll", json!([["poll"]]));
        let answer = json!([["poll", { key.to_string(): seen }]]);
        match rng.below(8) {
            0 => self.event(Kind::Fail, process, "poll", answer),
            1 => self.event(Kind::Info, process, "poll", json!([["poll"]])),
            _ => {
                self.positions[process][key] = to;
                self.event(Kind::Ok, process, "poll", answer);
            }
        }
    }

    fn drain(&mut self, process: usize) {
        for key in 0..2 {
            let all = self.logs[key].clone();
            self.event(Kind::Invoke, process, "poll", json!([["poll"]]));
            self.event(Kind::Ok, process, "poll", json!([["poll", { key.to_string(): all }]]));
        }
    }
}

fn logs(seed: u64, flaw: Flaw) -> Logs {
    let mut rng = Rng::from_seed(seed);
    let mut logs = Logs {
        flaw,
        logs: Default::default(),
        next_message: 0,
        next_offset: 0,
        positions: vec![[0; 2]; 6],
        events: Vec::new(),
        flawed: false,
    };
    for _ in 0..rng.between(5, 40) {
        match rng.below(3) {
            0 => logs.poll(&mut rng, 1, 3),
            1 => logs.poll(&mut rng, 2, 3),
            _ => logs.send(&mut rng, 0),
        }
    }
    logs.drain(3);
    logs
}

#[test]
fn a_right_log_is_valid_and_each_flaw_has_its_name() {
    for (flaw, names) in FLAWS {
        let mut found = 0;
        for seed in seeds(150) {
            let logs = logs(seed, flaw);
            let finding = judge_events(&KAFKA, &ModelOptions::default(), &logs.events);
            let text =
                || format!("{flaw:?} seed {seed}: {}\n{}", told(&finding), shown(&logs.events));
            let named = |anomaly: &crate::checker::Anomaly| names.contains(&&*anomaly.kind);
            let moved = ["sent", "polled"].map(|figure| finding.figures.get(figure).copied());
            let is_idle = moved.into_iter().flatten().sum::<f64>() == 0.0;
            if !logs.flawed {
                let expected = if is_idle { Verdict::Unknown } else { Verdict::Valid };
                assert_eq!(finding.verdict, expected, "{}", text());
            }
            found += usize::from(finding.anomalies.iter().any(named));
            let others = finding.anomalies.iter().filter(|anomaly| !named(anomaly));
            // A message that comes twice makes whoever polls it go back, and one that is lost is skipped.
            let follows = |kind: &str| match flaw {
                Flaw::Double => kind.contains("poll"),
                Flaw::Lose => kind.ends_with("poll-skip"),
                _ => false,
            };
            assert!(others.into_iter().all(|anomaly| follows(&anomaly.kind)), "{}", text());
        }
        let few = seeds(150).count() / 10;
        assert!(flaw == Flaw::None || found > few, "{flaw:?}: found {found} times");
    }
}

/// Everything that a completed operation told: whether it was polled, key, offset and message.
fn entries(event: &Event) -> Vec<(bool, i64, Option<i64>, i64)> {
    let Value::Json(parts) = &event.value else { return Vec::new() };
    let mut entries = Vec::new();
    for part in parts.as_array().expect("parts") {
        if part[0] == "send" {
            let key = part[1].as_i64().expect("a key");
            let (offset, message) = match part[2].as_array() {
                Some(pair) => (pair[0].as_i64(), pair[1].as_i64()),
                None => (None, part[2].as_i64()),
            };
            entries.push((false, key, offset, message.expect("a message")));
        }
        for (key, polled) in part[1].as_object().into_iter().flatten() {
            for pair in polled.as_array().expect("pairs") {
                let message = pair[1].as_i64().expect("a message");
                entries.push((true, key.parse().expect("a key"), pair[0].as_i64(), message));
            }
        }
    }
    entries
}

#[test]
fn losses_and_duplicates_are_those_counted_message_by_message() {
    for seed in seeds(600) {
        let flaw = FLAWS[seed as usize % FLAWS.len()].0;
        let mut logs = logs(seed, flaw);
        // Without the last polls, more is unseen.
        let keep = logs.events.len() - 4 * usize::from(seed % 2 == 0);
        logs.events.truncate(keep);
        let all: Vec<_> = logs
            .events
            .iter()
            .filter(|event| event.kind != Kind::Invoke)
            .flat_map(|event| entries(event).into_iter().map(|entry| (event.kind, entry)))
            .collect();
        let polled = |key: i64, message: i64| {
            all.iter().any(|(kind, e)| *kind == Kind::Ok && e.0 && e.1 == key && e.3 == message)
        };
        let offsets = |key: i64, message: i64| {
            let mut offsets: Vec<i64> = all
                .iter()
                .filter(|(kind, e)| e.1 == key && e.3 == message && (e.0 || *kind == Kind::Ok))
                .filter_map(|(_, e)| e.2)
                .collect();
            offsets.sort_unstable();
            offsets.dedup();
            offsets
        };
        let (mut lost, mut unseen, mut duplicate) = (0, 0, 0);
        for (key, message) in (0..2).flat_map(|key| (0..60).map(move |message| (key, message))) {
            let places = offsets(key, message);
            duplicate += u64::from(places.len() > 1);
            let sent = |kind: Kind| {
                all.iter().any(|(k, e)| *k == kind && !e.0 && e.1 == key && e.3 == message)
            };
            let missing = !polled(key, message) && sent(Kind::Ok);
            unseen += u64::from(missing);
            let beyond = (0..60).filter(|other| polled(key, *other));
            let highest = beyond.filter_map(|other| offsets(key, other).first().copied()).max();
            lost +=
                u64::from(missing && places.last().is_some() && places.last() <= highest.as_ref());
        }
        let finding = judge_events(&KAFKA, &ModelOptions::default(), &logs.events);
        let counted = ["lost-write", "unseen", "duplicate"].map(|kind| count(&finding, kind));
        assert_eq!(counted, [lost, unseen, duplicate], "seed {seed}\n{}", shown(&logs.events));
    }
}
