//! Registers in transactions.

mod recorded;

use super::*;

/// What the checker finds in the events of a history under some options.
pub(super) fn find(history: &History, options: &ModelOptions) -> Finding {
    let mut checker = RwRegister::new(options).expect("options");
    for event in history.events() {
        checker.observe(event);
    }
    checker.finish(&History::default(), &Budget::UNBOUNDED)
}
