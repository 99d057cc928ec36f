//! Transaction ids of two worlds: which corresponds to which, and that their order is the same.

use std::collections::BTreeMap;

/// The model's ids and those of the other world, paired wherever both showed the same thing.
#[derive(Debug, Default)]
pub struct Order(BTreeMap<i64, i64>);

impl Order {
    /// Both worlds showed these two in the same place.
    pub fn pair(&mut self, what: &str, model: i64, real: i64) -> Result<(), String> {
        let wrong = |other: (&i64, &i64)| {
            Err(format!(
                "{what}: 0x{model:x} of the model is 0x{real:x} of the other, \
                 but 0x{:x} was 0x{:x} before",
                other.0, other.1
            ))
        };
        match self.0.get_key_value(&model) {
            Some((_, known)) if *known == real => return Ok(()),
            Some(known) => return wrong(known),
            None => {}
        }
        let before = self.0.range(..model).next_back().filter(|(_, before)| **before >= real);
        let after = self.0.range(model..).next().filter(|(_, after)| **after <= real);
        if let Some(other) = before.or(after) {
            return wrong(other);
        }
        self.0.insert(model, real);
        Ok(())
    }
}

#[test]
fn only_one_order_is_the_same_order() {
    let mut order = Order::default();
    for (model, real) in [(5, 50), (9, 51), (7, 51 - 1 + 1)] {
        let is_new = order.pair("zxid", model, real).is_ok();
        assert_eq!(is_new, model != 7, "7 is another transaction than 9");
    }
    assert!(order.pair("zxid", 5, 50).is_ok());
    assert!(order.pair("zxid", 5, 49).is_err(), "5 is 50");
    assert!(order.pair("zxid", 4, 50).is_err(), "50 is 5");
    assert!(order.pair("zxid", 4, 51).is_err(), "4 comes before 5");
    assert!(order.pair("zxid", 10, 40).is_err(), "10 comes after 9");
    assert!(order.pair("zxid", 4, 49).is_ok() && order.pair("zxid", 10, 60).is_ok());
}
