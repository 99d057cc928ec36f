//! While it is shut, no connection's next request is looked at: what an exclusive command does to all.

use std::cell::Cell;
use std::rc::Rc;

use super::signal::Signal;

#[derive(Debug, Default)]
pub struct Gate {
    /// How many keep it shut.
    shut: Cell<u32>,
    opened: Signal,
}

/// Keeps the gate shut until it is dropped.
pub struct Shut(Rc<Gate>);

impl Gate {
    pub fn shut(self: &Rc<Gate>) -> Shut {
        self.shut.set(self.shut.get() + 1);
        Shut(self.clone())
    }

    /// Waits until it is open.
    pub async fn pass(&self) {
        while self.shut.get() > 0 {
            self.opened.after(self.opened.count()).await;
        }
    }
}

impl Drop for Shut {
    fn drop(&mut self) {
        self.0.shut.set(self.0.shut.get() - 1);
        self.0.opened.give();
    }
}
