//! Elle's names of cycles.

/// What a cycle consists of, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Writes that follow each other.
    G0,
    /// And reads of what was written.
    G1c,
    /// And one anti-dependency.
    Single,
    /// And several anti-dependencies, no two in a row.
    Nonadjacent,
    /// And several in a row.
    G2,
}

/// Whether a cycle needs an order that is no dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    Plain,
    Process,
    Realtime,
}

/// The anomaly's name.
pub fn name(class: Class, tag: Tag) -> &'static str {
    let names = match class {
        Class::G0 => ["G0", "G0-process", "G0-realtime"],
        Class::G1c => ["G1c", "G1c-process", "G1c-realtime"],
        Class::Single => ["G-single-item", "G-single-item-process", "G-single-item-realtime"],
        Class::Nonadjacent => {
            ["G-nonadjacent-item", "G-nonadjacent-item-process", "G-nonadjacent-item-realtime"]
        }
        Class::G2 => ["G2-item", "G2-item-process", "G2-item-realtime"],
    };
    names[tag as usize]
}
