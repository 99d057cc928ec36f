//! Says of what clients rely on that no checker here judges it: a run of it is never valid by silence.

use crate::checker::{Budget, Checker, Finding, Verdict};
use crate::history::History;

/// What is not judged, in words.
pub(super) struct Unjudged(pub &'static str);

impl Checker for Unjudged {
    fn name(&self) -> &'static str {
        "model"
    }

    fn finish(&mut self, _history: &History, _budget: &Budget) -> Finding {
        Finding {
            name: self.name().to_owned(),
            verdict: Verdict::Unknown,
            why: format!("{} is not judged: no checker here knows it", self.0),
            anomalies: Vec::new(),
            figures: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::KvrocksObject;
    use super::super::told::checks;
    use crate::checker::{Budget, RegisterModel, Verdict, compose, kvrocks_checkers};
    use crate::history::History;

    #[test]
    fn only_what_has_a_model_can_be_valid() {
        let verdict = |object: KvrocksObject| {
            let mut checkers = kvrocks_checkers(&checks(Some(object)));
            let budget = Budget::UNBOUNDED;
            let findings = compose(&History::default(), &mut checkers, &budget).findings;
            let model = findings.iter().find(|finding| finding.name == "model");
            model.map(|finding| finding.verdict)
        };
        for judged in [KvrocksObject::Register(RegisterModel::CAS_REGISTER), KvrocksObject::Set] {
            assert_eq!(verdict(judged), None);
        }
        for unjudged in [KvrocksObject::List, KvrocksObject::Counter, KvrocksObject::Lock] {
            assert_eq!(verdict(unjudged), Some(Verdict::Unknown));
        }
    }
}
