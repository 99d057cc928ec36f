//! Which operation each process has under way.

use rustc_hash::FxHashMap;

/// No operation.
const NONE: u32 = u32::MAX;
/// Processes below this number are looked up in a table, the others by hash.
const NEAR: u32 = 1 << 18;

/// By process the number of its operation.
#[derive(Debug, Default)]
pub struct InFlight {
    near: Vec<u32>,
    far: FxHashMap<u32, u32>,
}

impl InFlight {
    /// The process begins an operation; whatever it had under way will not end any more.
    pub fn begin(&mut self, process: u32, operation: u32) {
        if process >= NEAR {
            self.far.insert(process, operation);
            return;
        }
        if self.near.len() <= process as usize {
            self.near.resize(process as usize + 1, NONE);
        }
        self.near[process as usize] = operation;
    }

    /// What the process had under way is over.
    pub fn end(&mut self, process: u32) -> Option<u32> {
        if process >= NEAR {
            return self.far.remove(&process);
        }
        let operation = std::mem::replace(self.near.get_mut(process as usize)?, NONE);
        (operation != NONE).then_some(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_ends_once_whatever_its_process() {
        let mut in_flight = InFlight::default();
        for process in [0, 7, NEAR - 1, NEAR, u32::MAX] {
            assert_eq!(in_flight.end(process), None);
            in_flight.begin(process, 1);
            in_flight.begin(process, 2);
            assert_eq!((in_flight.end(process), in_flight.end(process)), (Some(2), None));
        }
    }
}
