//! Transaction ids of two worlds: which corresponds to which, and that their order is the same.

use std::collections::BTreeMap;

/// The model's ids and those of the other world, paired wherever both showed the same thing.
#[derive(Debug, Default)]
pub struct Order {
    pairs: BTreeMap<i64, i64>,
    /// How far the ids of both are apart as long as both perform the same transactions.
    distance: Option<i64>,
}

impl Order {
    /// From here on the worlds may have performed another number of transactions.
    pub fn lose_step(&mut self) {
        self.distance = None;
    }

    /// Both worlds showed these two in the same place.
    pub fn pair(&mut self, what: &str, model: i64, real: i64) -> Result<(), String> {
        let wrong = |why: &str| {
            Err(format!("{what}: 0x{model:x} of the model is 0x{real:x} of the other, {why}"))
        };
        match self.pairs.get(&model) {
            Some(known) if *known == real => return Ok(()),
            Some(known) => return wrong(&format!("but it was 0x{known:x} before")),
            None => {}
        }
        let before = self.pairs.range(..model).next_back().filter(|(_, before)| **before >= real);
        let after = self.pairs.range(model..).next().filter(|(_, after)| **after <= real);
        if let Some((other, known)) = before.or(after) {
            return wrong(&format!("but 0x{other:x} was 0x{known:x}"));
        }
        self.pairs.insert(model, real);
        let distance = real - model;
        if *self.distance.get_or_insert(distance) != distance {
            self.distance = Some(distance);
            return wrong("so they performed another number of transactions since the last one");
        }
        Ok(())
    }
}

#[test]
fn only_one_order_is_the_same_order() {
    let mut order = Order::default();
    for (model, real, holds) in [
        (5, 50, true),
        (9, 54, true),
        (5, 50, true),
        (7, 54, false),  // 54 is 9
        (5, 49, false),  // 5 is 50
        (4, 50, false),  // 50 is 5
        (4, 51, false),  // 4 comes before 5
        (10, 40, false), // 10 comes after 9
        (10, 55, true),
        (11, 57, false), // one more transaction
    ] {
        assert_eq!(order.pair("zxid", model, real).is_ok(), holds, "{model} {real}");
    }
    order.lose_step();
    assert!(order.pair("zxid", 20, 90).is_ok());
}
