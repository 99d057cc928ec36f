//! What `--consistency` may say to models that are not of transactions. A word that a model does not know is
//! refused: who asks for more than is checked must hear of it.

use crate::checker::ModelOptions;
use crate::op::{MILLISECOND, Nanos};

/// What an object must be to be judged strictly.
const LINEARIZABLE: &str = "linearizable";

/// Whether the strict form is asked for.
pub(super) fn linearizable(options: &ModelOptions) -> Result<bool, String> {
    match options.consistency_models.iter().find(|model| *model != LINEARIZABLE) {
        Some(other) => {
            Err(format!("consistency: expected {LINEARIZABLE} or nothing, found `{other}`"))
        }
        None => Ok(!options.consistency_models.is_empty()),
    }
}

/// The smallest bound in milliseconds after this word; without one, no time is too long.
pub(super) fn bound(options: &ModelOptions, word: &str) -> Result<Nanos, String> {
    let mut smallest = Nanos::MAX;
    for model in &options.consistency_models {
        let milliseconds = model.strip_prefix(word).and_then(|text| text.parse::<Nanos>().ok());
        let Some(milliseconds) = milliseconds else {
            return Err(format!("consistency: expected {word}MILLISECONDS, found `{model}`"));
        };
        smallest = smallest.min(milliseconds.saturating_mul(MILLISECOND));
    }
    Ok(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(models: &[&str]) -> ModelOptions {
        let consistency_models = models.iter().map(|model| (*model).to_owned()).collect();
        ModelOptions { consistency_models, ..ModelOptions::default() }
    }

    #[test]
    fn what_a_model_does_not_know_is_refused() {
        assert_eq!(linearizable(&options(&[])), Ok(false));
        assert_eq!(linearizable(&options(&["linearizable"])), Ok(true));
        let expected = "consistency: expected linearizable or nothing, found `linearisable`";
        assert_eq!(linearizable(&options(&["linearisable"])), Err(expected.to_owned()));
    }

    #[test]
    fn the_smallest_of_several_bounds_counts() {
        let bound = |models: &[&str]| bound(&options(models), "within:");
        assert_eq!(bound(&[]), Ok(Nanos::MAX));
        assert_eq!(bound(&["within:20", "within:5", "within:9"]), Ok(5 * MILLISECOND));
        for wrong in ["withn:5", "within:", "within:-1", "within:1.5"] {
            let expected = format!("consistency: expected within:MILLISECONDS, found `{wrong}`");
            assert_eq!(bound(&["within:5", wrong]), Err(expected));
        }
    }
}
