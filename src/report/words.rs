//! How reports write numbers, moments and operations. Words only: no markup, no layout.

mod transaction;

use std::collections::BTreeMap;

use crate::checker::AS_SHIPPED;
use crate::checker::moment::seconds;
use crate::op::{Event, Kind, MILLISECOND, Nanos, SECOND, Value};

/// A moment of the run: `12.345 s`.
pub(super) fn moment(nanos: Nanos) -> String {
    format!("{}.{:03} s", nanos / SECOND, nanos % SECOND / MILLISECOND)
}

/// A moment among operations that may take less than a millisecond: `12.3456 s`.
pub(super) fn fine_moment(nanos: Nanos) -> String {
    const SMALLEST: Nanos = MILLISECOND / 10;
    if nanos < 100 * MILLISECOND && !nanos.is_multiple_of(SMALLEST) {
        return seconds(nanos);
    }
    format!("{}.{:04} s", nanos / SECOND, nanos % SECOND / SMALLEST)
}

/// A length of time in the unit that reads best.
pub(super) fn duration(nanos: Nanos) -> String {
    let seconds = nanos as f64 / SECOND as f64;
    match nanos {
        0 => "0 s".into(),
        1..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.0} µs", nanos as f64 / 1e3),
        1_000_000..10_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        10_000_000..1_000_000_000 => format!("{:.0} ms", nanos as f64 / 1e6),
        _ if seconds < 120.0 => format!("{seconds:.1} s"),
        _ if seconds < 7200.0 => format!("{} min {} s", nanos / SECOND / 60, nanos / SECOND % 60),
        _ => format!("{} h {} min", nanos / SECOND / 3600, nanos / SECOND / 60 % 60),
    }
}

/// Which variants servers of our own had: ` (controller=cas)`, those as shipped left out beside others.
pub(super) fn variants(chosen: &BTreeMap<String, String>) -> String {
    let others = chosen.iter().filter(|(_, variant)| *variant != AS_SHIPPED);
    let others: Vec<String> = others.map(|(role, name)| format!("{role}={name}")).collect();
    match (chosen.is_empty(), others.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!(" ({AS_SHIPPED})"),
        (false, false) => format!(" ({})", others.join(", ")),
    }
}

/// A count with its thousands apart: `12,345`.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 anomaly`, `2 anomalies`.
pub(super) fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number as u64), if number == 1 { one } else { many })
}

/// A share in percent that says 100 and 0 only where it is all or nothing.
pub(super) fn percent(part: u64, whole: u64) -> String {
    match (part, whole) {
        (_, 0) => "–".into(),
        (0, _) => "0 %".into(),
        (part, whole) if part == whole => "100 %".into(),
        (part, whole) => {
            format!("{:.1} %", (part as f64 * 100.0 / whole as f64).clamp(0.1, 99.9))
        }
    }
}

/// A figure of a checker, without needless decimals.
pub(super) fn figure(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) {
        count(value as u64)
    } else {
        format!("{value:.3}")
    }
}

/// At most `limit` characters, the last one an ellipsis if something was cut.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.into(),
        Some(_) => text.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// One printable line: control characters, also those that steer terminals, become spaces.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|symbol| if symbol.is_control() { ' ' } else { symbol }).collect()
}

/// Splits at spaces outside quotes, where a line of shell may be broken.
pub(super) fn shell_words(command: &str) -> Vec<&str> {
    let mut quote = None;
    let is_break = |symbol: char| {
        match (quote, symbol) {
            (None, '\'' | '"') => quote = Some(symbol),
            (Some(open), _) if open == symbol => quote = None,
            _ => {}
        }
        quote.is_none() && symbol == ' '
    };
    command.split(is_break).filter(|word| !word.is_empty()).collect()
}

/// What was asked and, where known, what came of it: `read → 3`, `write 7`, `cas [1 2] failed`.
pub(super) fn operation(invoke: &Event, completion: Option<&Event>) -> String {
    let f = invoke.f.as_str();
    // Operations of Kafka say again what they are in each part of their value.
    let is_told = transaction::is_all(&invoke.value, f);
    let mut text = if is_told { String::new() } else { f.to_owned() };
    let is_ok = completion.is_some_and(|done| done.kind == Kind::Ok && done.value != Value::Nil);
    // What a transaction was asked stands in its answer too.
    let is_whole = is_ok && (f == "txn" || is_told);
    if invoke.value != Value::Nil && !is_whole {
        text.push_str(&format!(" {}", transaction::value(&invoke.value)));
    }
    match completion {
        Some(done) if is_whole => text.push_str(&format!(" {}", transaction::value(&done.value))),
        Some(done) if done.kind == Kind::Ok && done.value != invoke.value => {
            text.push_str(&format!(" → {}", transaction::value(&done.value)));
        }
        Some(done) if done.kind == Kind::Ok && invoke.value == Value::Nil => {
            text.push_str(" → nil")
        }
        Some(done) if done.kind == Kind::Fail => text.push_str(" failed"),
        Some(done) if done.kind == Kind::Info => text.push_str(" unknown"),
        Some(_) => {}
        None => text.push_str(" unfinished"),
    }
    text.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        let cases = [
            (0, "0 s"),
            (750_000, "750 µs"),
            (1_500_000, "1.5 ms"),
            (45 * MILLISECOND, "45 ms"),
            (12 * SECOND + 340 * MILLISECOND, "12.3 s"),
            (200 * SECOND, "3 min 20 s"),
            (3 * 3600 * SECOND, "3 h 0 min"),
        ];
        for (nanos, expected) in cases {
            assert_eq!(duration(nanos), expected);
        }
        assert_eq!(moment(41_200_400_000), "41.200 s");
        assert_eq!(fine_moment(41_200_400_000), "41.2004 s");
        assert_eq!(fine_moment(5_000), "5.000 µs");
    }

    #[test]
    fn what_is_said_in_each_part_is_not_said_before_them() {
        let event = |kind, f: &str, json: &str| Event {
            value: Value::Json(Box::new(serde_json::from_str(json).expect(json))),
            ..Event::new(kind, crate::op::Process::Client(0), f)
        };
        let told = |f: &str, asked: &str, answered: &str| {
            let (asked, answered) = (event(Kind::Invoke, f, asked), event(Kind::Ok, f, answered));
            operation(&asked, Some(&answered))
        };
        let sent = told("send", r#"[["send","x","a"]]"#, r#"[["send","x",[0,"a"]]]"#);
        assert_eq!(sent, "send x [0 a]");
        let txn = told("txn", r#"[["r","x",null]]"#, r#"[["r","x",3]]"#);
        assert_eq!(txn, "txn r x 3");
        assert_eq!(told("assign", r#"["x"]"#, r#"["x"]"#), "assign [x]");
    }

    #[test]
    fn counts_and_shares_read_well() {
        assert_eq!(
            (count(7), count(1_234), count(1_000_000)),
            ("7".into(), "1,234".into(), "1,000,000".into())
        );
        assert_eq!(percent(999_999, 1_000_000), "99.9 %");
        assert_eq!(
            (percent(0, 9), percent(9, 9), percent(0, 0)),
            ("0 %".into(), "100 %".into(), "–".into())
        );
        assert_eq!((figure(3.0), figure(0.25)), ("3".into(), "0.250".into()));
    }

    #[test]
    fn text_is_cut_at_characters() {
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöüß", 3), "äö…");
        assert_eq!(one_line("a\u{1b}[31m\nb"), "a [31m b");
    }

    #[test]
    fn a_command_is_not_broken_inside_quotes() {
        let words = shell_words("run x  --set 'a=b  c' --note \"it's one\"");
        assert_eq!(words, ["run", "x", "--set", "'a=b  c'", "--note", "\"it's one\""]);
    }
}
