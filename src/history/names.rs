//! The names that a history's events have, found again without asking the table of all names.

use crate::name::Name;

/// A history has few operations and nodes; beyond so many they are not remembered.
const MOST: usize = 32;

#[derive(Debug, Default)]
pub struct Names {
    known: Vec<Name>,
}

impl Names {
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
