//! A process that cannot go on, and why.

use std::cell::RefCell;

use super::signal::Signal;

#[derive(Debug, Default)]
pub struct Doom {
    why: RefCell<Option<String>>,
    sealed: Signal,
}

impl Doom {
    /// The process is to end.
    pub fn seal(&self, why: String) {
        self.why.borrow_mut().get_or_insert(why);
        self.sealed.give();
    }

    /// Waits until the process is to end; why.
    pub async fn sealed(&self) -> String {
        loop {
            let seen = self.sealed.count();
            if let Some(why) = &*self.why.borrow() {
                return why.clone();
            }
            self.sealed.after(seen).await;
        }
    }
}
