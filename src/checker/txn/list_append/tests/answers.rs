//! No answer contradicts another, of one history.

use super::random::case;
use super::{judge, seeds};
use crate::checker::txn::tests::Answers;
use crate::rng::Rng;

#[test]
fn whatever_is_asked_the_answers_agree() {
    let mut invalid = 0;
    for seed in 0..seeds(40) {
        let mut rng = Rng::from_seed(seed);
        let txns = 2 + rng.below(5) as usize;
        let case = case(&mut rng, txns, seed.is_multiple_of(2));
        let events = case.events();
        let answers = Answers::of(&[], |options| judge(&events, options));
        invalid += answers.agree(&|| format!("seed {seed}: {case:#?}"));
    }
    assert!(invalid > 20, "{invalid}");
}
