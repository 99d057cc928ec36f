//! Faults explained to people: what each field means, what a fault needs, what it can break.

mod words;

use serde_json::Value as Json;

use crate::cluster::{Mechanism, Role};
use crate::nemesis::fault::{Fault, FaultKind, NemesisSpec};

pub use words::mechanism;

/// A field that a nemesis sets, as a path for `--set nemesis.PATH=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub path: String,
    pub value: String,
    pub meaning: String,
}

/// A nemesis explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guide {
    pub parameters: Vec<Parameter>,
    /// Names of what it needs, with what that is.
    pub needs: Vec<(String, String)>,
    pub can_break: Vec<String>,
}

impl Guide {
    pub fn of(spec: &NemesisSpec) -> Guide {
        let mut parameters = whole(spec);
        for (position, fault) in spec.faults.iter().enumerate() {
            parameters.extend(of_fault(position, fault));
        }
        let mut needs: Vec<(String, String)> = Vec::new();
        let mut can_break: Vec<String> = Vec::new();
        for fault in &spec.faults {
            let mechanisms = fault.mechanisms(Role::Zookeeper).into_iter();
            add(
                &mut needs,
                mechanisms.map(|one: Mechanism| (one.name().into(), mechanism(one).into())),
            );
            let supervisor = (fault.fault == FaultKind::Crash)
                .then(|| ("supervisor".into(), words::SUPERVISOR.into()));
            add(&mut needs, supervisor);
            add(&mut can_break, [words::can_break(fault).to_owned()]);
        }
        Guide { parameters, needs, can_break }
    }
}

/// Adds what is not there yet, in order.
fn add<T: PartialEq>(to: &mut Vec<T>, things: impl IntoIterator<Item = T>) {
    for thing in things {
        if !to.contains(&thing) {
            to.push(thing);
        }
    }
}

fn whole(spec: &NemesisSpec) -> Vec<Parameter> {
    let Some(turns) = spec.turns() else { return Vec::new() };
    let order = serde_json::to_value(turns.order).expect("an order is one word");
    let parameter = |path: &str, value: String, meaning: &str| Parameter {
        path: path.into(),
        value,
        meaning: meaning.into(),
    };
    vec![
        parameter("order", text(&order), words::order(turns.order)),
        parameter("after", turns.after.to_string(), "quiet time before the first fault"),
        parameter("quiet", turns.quiet.to_string(), "quiet time between two faults"),
    ]
}

fn of_fault(position: usize, fault: &Fault) -> Vec<Parameter> {
    let Json::Object(fields) = serde_json::to_value(fault).expect("a fault is plain data") else {
        return Vec::new();
    };
    let parameter = |(field, value): (String, Json)| {
        let value = text(&value);
        let is_set = !(matches!(field.as_str(), "after" | "for") && value == "0s");
        is_set.then(|| Parameter {
            path: format!("faults.{position}.{field}"),
            meaning: words::field(fault, &field),
            value,
        })
    };
    let mut parameters: Vec<Parameter> = fields.into_iter().filter_map(parameter).collect();
    // What breaks comes first; the others stand in alphabetical order.
    parameters
        .sort_by_key(|parameter| (!parameter.path.ends_with(".fault"), parameter.path.clone()));
    parameters
}

/// A value as YAML takes it in one line.
fn text(value: &Json) -> String {
    match value {
        Json::String(word) => word.clone(),
        Json::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(field, value)| format!("{field}: {}", text(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn every_nemesis_of_the_catalogue_is_explained_whole() {
        for name in Catalog::Nemeses.names() {
            let entry = Catalog::Nemeses.load(&name).expect("a name of the catalogue");
            let spec: NemesisSpec = serde_yaml::from_str(&entry.text).expect("a nemesis");
            let guide = Guide::of(&spec);
            assert_eq!(guide.can_break.is_empty(), name == "none", "{name}");
            for Parameter { path, value, meaning } in &guide.parameters {
                assert!(!value.is_empty() && !meaning.is_empty(), "{name}: {path}");
                assert!(meaning != words::UNKNOWN, "{name}: {path} is not explained");
            }
        }
    }
}
