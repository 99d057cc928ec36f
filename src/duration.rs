//! Durations as people write them: `500ms`, `10s`, `1m 30s`. Pure.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

use crate::op::Nanos;

/// A span of time of at least 0, at most about 292 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(pub Duration);

impl Span {
    pub fn seconds(seconds: u64) -> Span {
        Span(Duration::from_secs(seconds))
    }

    pub fn nanos(self) -> Nanos {
        u64::try_from(self.0.as_nanos()).unwrap_or(Nanos::MAX)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let expected =
            || format!("expected a duration such as 500ms, 10s or 1m 30s, found `{text}`");
        let parsed: jiff::SignedDuration = text.trim().parse().map_err(|_| expected())?;
        Duration::try_from(parsed).map(Span).map_err(|_| expected())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let units: [(u128, &str); 5] = [
            (3_600_000_000_000, "h"),
            (60_000_000_000, "m"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
        ];
        match units.iter().find(|(size, _)| nanos >= *size && nanos.is_multiple_of(*size)) {
            Some((size, unit)) => write!(f, "{}{unit}", nanos / size),
            None if nanos == 0 => f.write_str("0s"),
            None => write!(f, "{nanos}ns"),
        }
    }
}

/// A span with a sign: `30s`, `-500ms`. In nanoseconds, up to about 292 years either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SignedSpan(pub i64);

impl FromStr for SignedSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<SignedSpan, String> {
        let (negative, rest) = match text.trim().strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.trim().trim_start_matches('+')),
        };
        let nanos = i64::try_from(rest.parse::<Span>()?.nanos()).unwrap_or(i64::MAX);
        Ok(SignedSpan(if negative { -nanos } else { nanos }))
    }
}

impl fmt::Display for SignedSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", Span(Duration::from_nanos(self.0.unsigned_abs())))
    }
}

crate::text_form!(SignedSpan, "a duration with a sign, such as 30s or -500ms");

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

/// Parses within the deserializer, so that its error knows the field and line.
struct SpanVisitor;

impl Visitor<'_> for SpanVisitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as 500ms, 10s or 1m 30s")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["0s", "1ns", "250us", "500ms", "1500ms", "10s", "90s", "2m", "1h"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span, "{text}");
        }
        assert_eq!("1m 30s".parse::<Span>().unwrap(), Span::seconds(90));
    }

    #[test]
    fn nonsense_is_named() {
        for text in ["", "10", "ten seconds", "-5s", "1d1", "5 s s"] {
            let error = text.parse::<Span>().unwrap_err();
            assert!(error.contains("10s") && error.contains(text), "{error}");
        }
    }
}
