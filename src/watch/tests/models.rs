//! Every model both ways: what is seen while a history grows is what a check of all of it finds.

use std::collections::BTreeMap;

use super::worlds;
use super::*;
use crate::checker::{MODELS, ModelOptions, Verdict};
use crate::rng::Rng;

/// Random histories of each model; `STORMGLASS_SEEDS` asks for more.
fn seeds() -> u64 {
    let wanted = std::env::var("STORMGLASS_SEEDS").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(20)
}

/// A model without options, and with those that make more of what it sees a violation.
fn variants(model: &str) -> Vec<ModelOptions> {
    let with = |name: &str| ModelOptions {
        consistency_models: vec![name.to_owned()],
        ..ModelOptions::default()
    };
    match model {
        "semaphore" => {
            return vec![ModelOptions { init: Some(1.into()), ..ModelOptions::default() }];
        }
        "lease-lock" => return vec![ModelOptions { lease_ms: Some(5), ..ModelOptions::default() }],
        _ => {}
    }
    let strict = match model {
        "set-full" | "epochs" | "monotonic-inserts" => Some(with("linearizable")),
        "staleness" => Some(with("bounded-staleness:3")),
        "progress" => Some(with("progress-within:20")),
        _ => None,
    };
    [ModelOptions::default()].into_iter().chain(strict).collect()
}

struct Case<'a> {
    model: &'static crate::checker::ModelKind,
    options: &'a ModelOptions,
    seed: u64,
    events: Vec<Event>,
}

impl Case<'_> {
    fn checker(&self) -> Box<dyn Checker> {
        (self.model.checkers)(self.options).expect("options").remove(0)
    }

    /// What a check says after each event.
    fn verdicts(&self) -> Vec<Verdict> {
        let judge = |end: usize| {
            let so_far = History::new(self.events[..end].to_vec());
            let mut checkers = vec![self.checker()];
            compose(&so_far, &mut checkers, &Budget::UNBOUNDED).findings[1].verdict
        };
        (1..=self.events.len()).map(judge).collect()
    }

    /// After which event the checker says something by itself first.
    fn told(&self) -> Option<usize> {
        let mut checker = self.checker();
        self.events.iter().position(|event| checker.observe(event).is_some())
    }

    fn shown(&self) -> String {
        let line = |event: &Event| {
            let Event { index, process, kind, f, value, .. } = event;
            format!("{index} {process} {} {} {value}", kind.name(), &**f)
        };
        let lines: Vec<String> = self.events.iter().map(line).collect();
        let Case { model, seed, .. } = self;
        format!(
            "{} {:?}, seed {seed}\n{}",
            model.name,
            self.options.consistency_models,
            lines.join("\n")
        )
    }

    /// Compares both ways; the verdict at the end.
    fn compare(&self) -> Verdict {
        let (verdicts, told) = (self.verdicts(), self.told());
        let first = verdicts.iter().position(|verdict| *verdict == Verdict::Invalid);
        let shown = || format!("told at {told:?}, {verdicts:?}\n{}", self.shown());
        let shows = self.checker().shows();
        if shows == Shows::AtOnce {
            assert_eq!(told, first, "{}", shown());
        }
        let stands_from = match shows {
            Shows::AtOnce | Shows::SoFar => first,
            Shows::AtTheEnd => told,
        };
        // What was found stands, unless what is taken for granted breaks later.
        let after = stands_from.map_or(&[][..], |from| &verdicts[from..]);
        assert!(!after.contains(&Verdict::Valid), "{}", shown());
        if let Some(told) = told {
            assert_ne!(verdicts[told], Verdict::Valid, "{}", shown());
        }
        verdicts.last().copied().unwrap_or(Verdict::Valid)
    }
}

#[test]
fn what_is_seen_while_a_history_grows_is_what_a_check_of_all_of_it_finds() {
    for model in MODELS {
        for options in variants(model.name) {
            let mut met: BTreeMap<Verdict, u64> = BTreeMap::new();
            for seed in 0..seeds() {
                let mut rng = Rng::from_seed(seed);
                let (steps, lies) = (rng.between(2, 36), [0.0, 0.1, 0.4][rng.below(3) as usize]);
                let events = worlds::history(model.name, &mut rng, steps, lies);
                let case = Case { model, options: &options, seed, events };
                *met.entry(case.compare()).or_default() += 1;
            }
            println!("{} {:?}: {met:?}", model.name, options.consistency_models);
            assert!(met.contains_key(&Verdict::Valid), "{}", model.name);
            let only_tells = ["errors", "availability", "stats", "staleness", "progress"]
                .contains(&model.name)
                && options.consistency_models.is_empty();
            // A few histories may all be right by chance.
            if seeds() >= 200 && !only_tells {
                assert!(met.contains_key(&Verdict::Invalid), "{}: all valid", model.name);
            }
        }
    }
}
