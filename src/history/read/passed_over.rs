//! What stands between a history's operations and is none: other lines of a log, marks of a program.

use std::fmt;

/// How many lines, or maps, were passed over, and where the first stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PassedOver {
    pub count: u64,
    /// From 1; 0 if there are none.
    pub first_line: u64,
}

impl PassedOver {
    pub(super) fn add(&mut self, line: u64) {
        if self.count == 0 {
            self.first_line = line;
        }
        self.count += 1;
    }
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PassedOver { count, first_line } = self;
        match count {
            0 => f.write_str("all of it is operations"),
            1 => write!(f, "line {first_line} is no operation and was passed over"),
            _ => write!(
                f,
                "{count} entries are no operations and were passed over, the first in line {first_line}"
            ),
        }
    }
}
