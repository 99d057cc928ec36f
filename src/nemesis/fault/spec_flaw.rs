//! What is wrong with a nemesis as a whole.

use super::flaw::{Flaw, is_some_time, require};
use super::{Fault, NemesisSpec, Order, Turns};

impl NemesisSpec {
    /// The first flaw: in the fault at this position, or in the fields of the whole.
    pub fn flaw(&self) -> Option<(Option<usize>, Flaw)> {
        if let Err(flaw) = self.check_turns() {
            return Some((None, flaw));
        }
        let flaw = |(position, fault): (usize, &Fault)| {
            let flaw = self.check_in_turn(fault).err().or_else(|| fault.flaw())?;
            Some((Some(position), flaw))
        };
        self.faults.iter().enumerate().find_map(flaw)
    }

    /// How its faults take turns; `None` where each has its own clock or trigger.
    pub fn turns(&self) -> Option<Turns> {
        match self.order {
            Order::Overlap => None,
            order => Some(Turns {
                order,
                after: self.after.unwrap_or_default(),
                quiet: self.quiet.unwrap_or_default(),
            }),
        }
    }

    fn check_turns(&self) -> Result<(), Flaw> {
        if self.order == Order::Overlap {
            let only =
                "only the orders sequence and random take it; each fault has its own `after`";
            require(self.after.is_none(), "after", || only.into())?;
            return require(self.quiet.is_none(), "quiet", || only.into());
        }
        require(!self.faults.is_empty(), "faults", || {
            "expected at least one to take turns".into()
        })?;
        require(self.after.is_some(), "after", || {
            "expected the quiet time before the first fault, such as 8s".into()
        })?;
        require(self.quiet.is_some(), "quiet", || {
            "expected the quiet time between two faults, such as 3s".into()
        })
    }

    /// Faults that take turns have no clocks of their own, others have no weight.
    fn check_in_turn(&self, fault: &Fault) -> Result<(), Flaw> {
        let is_random = self.order == Order::Random;
        require(is_random || fault.weight.is_none(), "weight", || {
            "only faults of the order random are drawn by weight; leave it out".into()
        })?;
        if self.order == Order::Overlap {
            return Ok(());
        }
        let own = [
            ("after", is_some_time(fault.after)),
            ("every", fault.every.is_some()),
            ("jitter", fault.jitter.is_some()),
            ("when", fault.when.is_some()),
            ("pace", fault.pace.is_some()),
        ];
        let foreign = own.into_iter().find_map(|(field, given)| given.then_some(field));
        foreign.map_or(Ok(()), |field| {
            Err((field, "a fault that takes turns has no clock of its own; leave it out".into()))
        })
    }
}
