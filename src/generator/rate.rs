//! Operations per second.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

use crate::op::{Nanos, SECOND};
use crate::rng::Rng;

/// How many operations arrive per second, on average: above 0, at most 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a rate in operations per second, above 0 and at most 1000000, found `{0}`")]
pub struct RateError(String);

impl Rate {
    pub fn per_second(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Rate {
    type Error = RateError;

    fn try_from(per_second: f64) -> Result<Rate, RateError> {
        if per_second > 0.0 && per_second <= 1e6 {
            Ok(Rate(per_second))
        } else {
            Err(RateError(per_second.to_string()))
        }
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Rate, RateError> {
        text.parse::<f64>()
            .ok()
            .and_then(|rate| Rate::try_from(rate).ok())
            .ok_or_else(|| RateError(text.into()))
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        deserializer.deserialize_any(RateVisitor)
    }
}

/// Checks within the deserializer, so that its error knows the field and line.
struct RateVisitor;

impl Visitor<'_> for RateVisitor {
    type Value = Rate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate in operations per second, above 0 and at most 1000000")
    }

    fn visit_f64<E: Error>(self, rate: f64) -> Result<Rate, E> {
        Rate::try_from(rate).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, rate: u64) -> Result<Rate, E> {
        self.visit_f64(rate as f64)
    }

    fn visit_i64<E: Error>(self, rate: i64) -> Result<Rate, E> {
        self.visit_f64(rate as f64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// When operations of a Poisson process arrive: exponential gaps from one arrival to the next,
/// whatever became of the earlier ones.
pub(super) struct Clock {
    mean_gap: f64,
    rng: Rng,
    due: Option<Nanos>,
}

impl Clock {
    pub(super) fn new(rate: Rate, rng: Rng) -> Clock {
        Clock { mean_gap: SECOND as f64 / rate.0, rng, due: None }
    }

    /// The next arrival; the first is one gap after the first question.
    pub(super) fn due(&mut self, now: Nanos) -> Nanos {
        match self.due {
            Some(due) => due,
            None => self.arrive_after(now),
        }
    }

    /// That arrival has been dealt with.
    pub(super) fn advance(&mut self) {
        if let Some(due) = self.due {
            self.arrive_after(due);
        }
    }

    fn arrive_after(&mut self, time: Nanos) -> Nanos {
        let due = time.saturating_add(self.rng.exponential(self.mean_gap) as Nanos);
        self.due = Some(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_and_bounded() {
        assert_eq!("200".parse::<Rate>().map(Rate::per_second), Ok(200.0));
        assert_eq!("0.5".parse::<Rate>().map(|rate| rate.to_string()), Ok("0.5".into()));
        for bad in ["0", "-1", "NaN", "inf", "fast", "", "1e9"] {
            let error = bad.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{bad}`")), "{error}");
        }
        assert!(serde_json::from_str::<Rate>("-3").unwrap_err().to_string().contains("above 0"));
    }

    #[test]
    fn arrivals_have_the_mean_rate() {
        let mut clock = Clock::new(Rate(200.0), Rng::from_seed(7));
        let mut due = 0;
        for _ in 0..20_000 {
            due = clock.due(0);
            clock.advance();
        }
        let seconds = due as f64 / SECOND as f64;
        assert!((95.0..105.0).contains(&seconds), "20000 arrivals at 200/s took {seconds} s");
    }
}
