//! What searches have cost so far, and whether the budget still lets them go on.

/// How many nodes are visited between two looks at the budget.
const POLL: u64 = 4096;

pub struct Effort<'a> {
    /// Nodes visited in all searches.
    pub work: u64,
    pub gave_up: bool,
    exhausted: &'a dyn Fn() -> bool,
}

impl<'a> Effort<'a> {
    pub fn new(exhausted: &'a dyn Fn() -> bool) -> Effort<'a> {
        Effort { work: 0, gave_up: false, exhausted }
    }

    /// Counts one more node. Whether it is one too many.
    pub fn spent(&mut self) -> bool {
        self.work += 1;
        if self.work.is_multiple_of(POLL) && (self.exhausted)() {
            self.gave_up = true;
        }
        self.gave_up
    }
}
