//! What can be asked of a history in which nobody knows what came before what, but within a session.

use crate::checker::{ModelKind, ModelOptions};

/// What is asked of a history, as its order lets it be judged.
pub struct Untimed {
    pub options: ModelOptions,
    /// What was taken otherwise than it was said.
    pub taken: Option<String>,
}

/// Models that the tools of such histories decide with session order, and what that is called.
const IN_SESSIONS: [(&str, &str); 2] = [
    ("serializable", "strong-session-serializable"),
    ("snapshot-isolation", "strong-session-snapshot-isolation"),
];

/// The options of a history in which nobody knows what came before what, but within a process.
pub fn untimed(models: &[&ModelKind], options: &ModelOptions) -> Result<Untimed, String> {
    let takes_models = |model: &&ModelKind| model.takes().contains(&"consistency_models");
    if let Some(model) = models.iter().find(|model| !takes_models(model)) {
        return Err(format!(
            "{}: this history has the order of each session alone, and the model needs to know what \
             came before what",
            model.name
        ));
    }
    let needs_time = |name: &&String| {
        name.starts_with("strict-")
            || name.starts_with("strong-") && !name.starts_with("strong-session-")
    };
    if let Some(name) = options.consistency_models.iter().find(needs_time) {
        return Err(format!(
            "this history has the order of each session alone, so nothing can be said of {name}; \
             expected a model without real time, such as strong-session-serializable or causal"
        ));
    }
    let mut options = options.clone();
    if options.consistency_models.is_empty() && options.anomalies.is_empty() {
        options.consistency_models = vec!["strong-session-serializable".to_owned()];
    }
    let mut taken = Vec::new();
    for model in &mut options.consistency_models {
        if let Some((name, meant)) = IN_SESSIONS.iter().find(|(name, _)| name == model) {
            taken.push(format!("{name} as {meant}"));
            *model = (*meant).to_owned();
        }
    }
    let taken = (!taken.is_empty()).then(|| {
        format!("its order is that of sessions, which counts: {} is judged", taken.join(", "))
    });
    Ok(Untimed { options, taken })
}
