//! What is asked of a history.

use super::{IMPLIED, MODELS, PARTLY, PROSCRIBED, backward, canonical_model, directly_proscribed};
use crate::checker::txn::consistency::Orders;
use crate::checker::{Finding, ModelOptions, Verdict};

/// The anomalies that make a history invalid. Others may be found, and say what else it does not satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What it is to satisfy, for people.
    pub what: String,
    /// The models by their one name.
    pub models: Vec<&'static str>,
    prohibited: Vec<&'static str>,
    /// Prohibited besides, whatever orders the models need.
    besides: Vec<&'static str>,
}

impl Wanted {
    /// What the models rule out and the anomalies named, with all that implies them; by default what strict
    /// serializability rules out.
    pub fn new(options: &ModelOptions) -> Result<Wanted, String> {
        let models = options.consistency_models.iter().map(|name| judged_model(name));
        let mut models = models.collect::<Result<Vec<_>, _>>()?;
        let anomalies = options.anomalies.iter().map(|name| known_anomaly(name));
        let anomalies = anomalies.collect::<Result<Vec<_>, _>>()?;
        if models.is_empty() && anomalies.is_empty() {
            models.push("strict-serializable");
        }
        let mut what = models.join(", ");
        for anomaly in &anomalies {
            what += if what.is_empty() { "no " } else { ", no " };
            what += anomaly;
        }
        let direct = directly_proscribed(models.iter().copied()).into_iter().chain(anomalies);
        Ok(Wanted { what, models, prohibited: backward(IMPLIED, direct), besides: Vec::new() })
    }

    /// Prohibits what the models do not, and asks for no further orders because of it.
    pub fn prohibit(&mut self, anomalies: &[&'static str]) {
        self.besides.extend(anomalies);
    }

    pub fn prohibits(&self, anomaly: &str) -> bool {
        self.prohibited.contains(&anomaly) || self.besides.contains(&anomaly)
    }

    /// Models that are judged only where they are asked for survive too, unless stronger ones do.
    pub fn name_survivors(&self, finding: &mut Finding) {
        let valid = finding.verdict == Verdict::Valid;
        let Some(consistency) = finding.consistency.as_mut().filter(|_| valid) else { return };
        let mut known = consistency.survives.clone();
        known.extend(self.models.iter().map(|model| model.to_string()));
        for model in self.models.iter().filter(|model| PARTLY.contains(model)) {
            let stronger = backward(MODELS, [*model]).into_iter().skip(1);
            let held = stronger.into_iter().any(|other| known.iter().any(|name| name == other));
            if !held && !consistency.violates.iter().any(|name| name == model) {
                consistency.survives.push(model.to_string());
            }
        }
    }

    /// Real-time order holds process order, so that one of the two is enough.
    pub fn orders(&self) -> Orders {
        let some = |suffix: &str| self.prohibited.iter().any(|anomaly| anomaly.ends_with(suffix));
        let realtime = some("-realtime");
        Orders { realtime, process: !realtime && some("-process") }
    }
}

/// A model by one of its names, if there is anything that it forbids to transactions.
///
/// The `causal` of transactions is not that of single operations.
fn judged_model(name: &str) -> Result<&'static str, String> {
    let model = match name {
        "causal" => "causal-cerone",
        name => canonical_model(name)?,
    };
    match directly_proscribed([model]).is_empty() {
        false => Ok(model),
        true => Err(format!(
            "{name} is of single operations or of replicas, and transactions are not checked for it; \
             expected a model of transactions, such as strict-serializable or \
             strong-session-snapshot-isolation"
        )),
    }
}

fn known_anomaly(name: &str) -> Result<&'static str, String> {
    let heads = IMPLIED.iter().map(|(anomaly, _)| *anomaly);
    let tails =
        IMPLIED.iter().chain(PROSCRIBED).flat_map(|(_, anomalies)| anomalies.iter().copied());
    let mut known: Vec<&str> = heads.chain(tails).collect();
    known.sort_unstable();
    known.dedup();
    known
        .iter()
        .copied()
        .find(|anomaly| *anomaly == name)
        .ok_or_else(|| format!("unknown anomaly `{name}`: expected one of {}", known.join(", ")))
}
