//! That answers of the checkers of transactions agree with each other, whatever is asked.

use std::collections::BTreeMap;

use super::consistency::{judged_models, weaker};
use super::weak::Level;
use crate::checker::{Finding, ModelOptions, Verdict};

/// As the catalogue of models calls it.
const CAUSAL: &str = "causal-cerone";

/// What a checker says of one history, by the model that it is asked for.
pub(in crate::checker::txn) struct Answers {
    findings: BTreeMap<&'static str, Finding>,
}

impl Answers {
    /// Of a checker, asked for every model of transactions and for these besides.
    pub fn of(besides: &[&'static str], judge: impl Fn(&ModelOptions) -> Finding) -> Answers {
        let models = judged_models().into_iter().chain(besides.iter().copied());
        let answer = |model: &'static str| {
            let consistency_models = vec![model.to_owned()];
            (model, judge(&ModelOptions { consistency_models, ..ModelOptions::default() }))
        };
        Answers { findings: models.map(answer).collect() }
    }

    /// How many models are violated; panics where two answers contradict each other.
    pub fn agree(&self, context: &dyn Fn() -> String) -> usize {
        for (asked, finding) in &self.findings {
            let torn = self.torn(asked, finding);
            assert!(torn.is_empty(), "{asked}: {torn:?}: {finding:#?}\n{}", context());
        }
        self.findings.values().filter(|finding| finding.verdict == Verdict::Invalid).count()
    }

    /// What one answer says against another.
    fn torn(&self, asked: &str, finding: &Finding) -> Vec<String> {
        let verdict = |model: &str| self.findings.get(model).map(|finding| finding.verdict);
        let consistency = finding.consistency.clone().unwrap_or_default();
        let violated = |model: &str| consistency.violates.iter().any(|other| other == model);
        let mut torn = Vec::new();
        for model in consistency.violates.iter().filter(|m| verdict(m) == Some(Verdict::Valid)) {
            torn.push(format!("violates {model}, and that is valid"));
        }
        for model in consistency.survives.iter().filter(|m| verdict(m) == Some(Verdict::Invalid)) {
            torn.push(format!("{model} survives, and that is invalid"));
        }
        for model in
            consistency.survives.iter().flat_map(|model| weaker(model)).filter(|m| violated(m))
        {
            torn.push(format!("{model} is violated, and something stronger survives"));
        }
        match finding.verdict {
            // Weak levels count the order of each session, and their names in the catalogue do not.
            Verdict::Invalid
                if !violated(asked) && Level::by_name(asked).is_none() && asked != CAUSAL =>
            {
                torn.push("invalid, and not violated".to_owned());
            }
            Verdict::Valid | Verdict::Unknown if violated(asked) => {
                torn.push("violated, and not invalid".to_owned())
            }
            _ => {}
        }
        torn
    }
}
