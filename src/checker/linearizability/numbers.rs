//! Values numbered in order of appearance, so that tables by value are small.

use rustc_hash::FxHashMap;

use super::operation::{INITIAL, ValueId};
use crate::op::Value;

/// A place in the table of near integers that no value has taken.
const UNTAKEN: ValueId = ValueId::MAX;

/// Numbers the values of one register.
pub(super) struct Numbers {
    /// Integers close to the first one, which most are: a look into a table beats hashing.
    near: Vec<ValueId>,
    /// The integer of the table's first place, once there is one.
    base: Option<i64>,
    /// Places the table may grow to.
    near_max: usize,
    far: FxHashMap<i64, ValueId>,
    /// Nil, and whatever is no integer, by its text.
    others: FxHashMap<String, ValueId>,
    next: ValueId,
}

impl Numbers {
    /// `operations` is about how many values there may be.
    pub fn new(initial: &Value, operations: usize) -> Numbers {
        let mut numbers = Numbers {
            near: Vec::new(),
            base: None,
            near_max: 8 * operations + 64,
            far: FxHashMap::default(),
            others: FxHashMap::default(),
            next: INITIAL,
        };
        // The initial value says nothing about where the others lie.
        match initial {
            Value::Int(value) => Self::number(&mut numbers.far, *value, &mut numbers.next),
            other => numbers.of(other),
        };
        numbers
    }

    /// Values are numbered below this.
    pub fn count(&self) -> usize {
        self.next as usize
    }

    pub fn of(&mut self, value: &Value) -> ValueId {
        match value {
            Value::Int(value) => self.of_integer(*value),
            Value::Nil => self.of_text("null".to_owned()),
            Value::Pair(first, second) => self.of_text(format!("[{first},{second}]")),
            Value::Json(json) => self.of_json(json),
        }
    }

    pub fn of_json(&mut self, json: &serde_json::Value) -> ValueId {
        match json.as_i64() {
            Some(value) => self.of_integer(value),
            None => self.of_text(json.to_string()),
        }
    }

    fn of_text(&mut self, text: String) -> ValueId {
        Self::number(&mut self.others, text, &mut self.next)
    }

    fn of_integer(&mut self, value: i64) -> ValueId {
        let Some(place) = self.place(value) else {
            return Self::number(&mut self.far, value, &mut self.next);
        };
        if place >= self.near.len() {
            self.near.resize(place + 1, UNTAKEN);
        }
        if self.near[place] == UNTAKEN {
            // Only the initial value can have been numbered before the table was placed.
            self.near[place] = self.far.get(&value).copied().unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
        }
        self.near[place]
    }

    fn place(&mut self, value: i64) -> Option<usize> {
        let reach = (self.near_max / 4) as i64;
        let base = *self.base.get_or_insert_with(|| value.saturating_sub(reach));
        let place = usize::try_from(value.checked_sub(base)?).ok()?;
        (place < self.near_max).then_some(place)
    }

    fn number<T: std::hash::Hash + Eq>(
        known: &mut FxHashMap<T, ValueId>,
        value: T,
        next: &mut ValueId,
    ) -> ValueId {
        *known.entry(value).or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_number_wherever_they_lie() {
        for initial in [Value::Nil, Value::Int(7), Value::Int(i64::MIN)] {
            let mut numbers = Numbers::new(&initial, 3);
            assert_eq!(numbers.of(&initial), INITIAL);
            let values = [7, 5, i64::MAX, -1_000, i64::MIN, 7, 5, 6, 11, 1 << 40];
            let ids: Vec<ValueId> = values.iter().map(|v| numbers.of(&Value::Int(*v))).collect();
            for (one, first) in values.iter().enumerate() {
                for (other, second) in values.iter().enumerate() {
                    assert_eq!(first == second, ids[one] == ids[other], "{first} {second}");
                }
            }
            assert_eq!(numbers.of(&initial), INITIAL);
            let distinct = 8 + usize::from(initial == Value::Nil);
            assert_eq!(numbers.count(), distinct);
        }
    }
}
