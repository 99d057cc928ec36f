//! Why and where a text is not what it should be.

/// Forms within forms; deeper ones are refused rather than overflow the stack.
pub const MOST_DEPTH: usize = 100;

/// Where parsing stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In bytes of the text.
    pub at: usize,
    pub why: String,
    /// The text ends within something: more of it may help.
    pub ends: bool,
}

impl Fault {
    pub fn wrong<T>(at: usize, why: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { at, why: why.into(), ends: false })
    }

    pub fn ends<T>(at: usize, why: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { at, why: why.into(), ends: true })
    }

    pub fn too_deep<T>(at: usize) -> Result<T, Fault> {
        Fault::wrong(at, format!("more than {MOST_DEPTH} forms within each other"))
    }

    /// What stands at a place, for people.
    pub fn unexpected<T>(text: &str, at: usize, expected: &str) -> Result<T, Fault> {
        match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some('\n' | '\r') => {
                Fault::wrong(at, format!("expected {expected}, found the end of the line"))
            }
            Some(found) => Fault::wrong(at, format!("expected {expected}, found {found:?}")),
            None => Fault::ends(at, format!("expected {expected}, found the end of the text")),
        }
    }
}
