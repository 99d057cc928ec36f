//! No answer contradicts another, of one history.

use super::random::{events, random};
use super::*;
use crate::checker::txn::tests::Answers;
use crate::rng::Rng;

#[test]
fn whatever_is_asked_the_answers_agree() {
    let rounds = if std::env::var("STORMGLASS_SEEDS").is_ok() { 20_000 } else { 80 };
    let mut invalid = 0;
    for seed in 0..rounds {
        let small = random(&mut Rng::from_seed(seed), true);
        let history = events(&small);
        let answers = Answers::of(&["causal"], |options| find(&history, options));
        invalid += answers.agree(&|| format!("seed {seed}: {small:#?}"));
    }
    assert!(invalid > 50, "{invalid}");
}
