//! Each checker by hand-made histories, and against a direct transcription of its definition.

mod hand;
mod held;
mod metamorphic;
mod oracle;
mod random;
mod recorded;

use crate::checker::{Budget, Finding, ModelKind, ModelOptions, Verdict};
use crate::history::{Datum, History};
use crate::op::Event;

/// Judges these events, once as values and once as JSON, and insists on the same finding.
fn judge_events(model: &ModelKind, options: &ModelOptions, events: &[Event]) -> Finding {
    let make = || (model.checkers)(options).expect("options").remove(0);
    let (mut checker, mut raw) = (make(), make());
    assert!(checker.streams(), "{}", model.name);
    for event in events {
        let json = as_json(event);
        let one = checker.observe(event);
        let other = raw.observe_raw(event, Datum::Json(&json));
        assert_eq!(one, other, "{event:?}");
    }
    let finding = checker.finish(&History::default(), &Budget::UNBOUNDED);
    assert_eq!(finding, raw.finish(&History::default(), &Budget::UNBOUNDED));
    finding
}

fn as_json(event: &Event) -> serde_json::Value {
    serde_json::from_str(&Datum::Value(&event.value).to_text()).expect("JSON")
}

fn judge(model: &ModelKind, text: &str) -> Finding {
    judge_with(model, &ModelOptions::default(), text)
}

fn judge_with(model: &ModelKind, options: &ModelOptions, text: &str) -> Finding {
    judge_events(model, options, crate::checker::text::history(text).events())
}

/// The verdict and everything that is told, for a snapshot.
fn told(finding: &Finding) -> String {
    let mut lines = vec![format!("{}: {}", finding.verdict.name(), finding.why)];
    for anomaly in &finding.anomalies {
        lines.push(format!("{} {:?}: {}", anomaly.kind, anomaly.ops, anomaly.summary));
        lines.extend(anomaly.details.iter().map(|detail| format!("  {detail}")));
    }
    lines.join("\n")
}

fn count(finding: &Finding, kind: &str) -> u64 {
    finding.figures.get(&format!("{kind}-count")).copied().unwrap_or_default() as u64
}

/// The random histories that a test looks at: few by default, `STORMGLASS_SEEDS` many on request.
fn seeds(by_default: u64) -> std::ops::Range<u64> {
    let wanted = std::env::var("STORMGLASS_SEEDS").ok().and_then(|text| text.parse().ok());
    0..wanted.unwrap_or(by_default)
}

fn verdict(invalid: bool, unknown: bool) -> Verdict {
    match (invalid, unknown) {
        (true, _) => Verdict::Invalid,
        (false, true) => Verdict::Unknown,
        (false, false) => Verdict::Valid,
    }
}
