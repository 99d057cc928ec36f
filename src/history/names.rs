//! The names that a history's events have, found again without asking the table of all names; and the
//! numbers of processes that have names instead.

use rustc_hash::FxHashMap;

use crate::name::Name;

/// A history has few operations and nodes; beyond so many they are not remembered.
const MOST: usize = 32;

#[derive(Debug, Default)]
pub struct Names {
    known: Vec<Name>,
    processes: Processes,
}

/// How a history tells its processes apart: all by number, or all by name.
#[derive(Debug, Default)]
enum Processes {
    #[default]
    Unseen,
    Numbered,
    Named(FxHashMap<String, u32>),
}

impl Names {
    /// The number of a process that has a name: they are numbered from 0 as they come. None if others have
    /// numbers.
    pub fn process(&mut self, name: &str) -> Option<u32> {
        if let Processes::Unseen = self.processes {
            self.processes = Processes::Named(FxHashMap::default());
        }
        let Processes::Named(known) = &mut self.processes else { return None };
        if let Some(number) = known.get(name) {
            return Some(*number);
        }
        let number = u32::try_from(known.len()).ok()?;
        known.insert(name.to_owned(), number);
        Some(number)
    }

    /// Whether a process may have a number: unless others have names.
    pub fn number_processes(&mut self) -> bool {
        if let Processes::Unseen = self.processes {
            self.processes = Processes::Numbered;
        }
        matches!(self.processes, Processes::Numbered)
    }

    /// The names of processes that have some, by their numbers.
    pub fn into_processes(self) -> Vec<String> {
        let Processes::Named(known) = self.processes else { return Vec::new() };
        let mut known: Vec<_> = known.into_iter().collect();
        known.sort_unstable_by_key(|(_, number)| *number);
        known.into_iter().map(|(name, _)| name).collect()
    }

    pub fn get(&mut self, text: &str) -> Name {
        if let Some(known) = self.known.iter().find(|known| known.as_str() == text) {
            return *known;
        }
        let name = Name::from(text);
        if self.known.len() < MOST && name.as_str() == text {
            self.known.push(name);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_have_names_or_numbers_but_never_both() {
        let mut names = Names::default();
        assert_eq!(
            [names.process("b"), names.process("a"), names.process("b")],
            [Some(0), Some(1), Some(0)]
        );
        assert!(!names.number_processes());
        assert_eq!(names.into_processes(), ["b", "a"]);
        let mut names = Names::default();
        assert!(names.number_processes());
        assert_eq!(names.process("a"), None);
        assert_eq!(names.into_processes(), [""; 0]);
    }
}
