//! The anomaly kinds that checkers may name, in one table.

/// One way in which a promise can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnomalyKind {
    /// Kebab-case, as it stands in results and expectations.
    pub name: &'static str,
    /// The wider kind that this one is a clear case of.
    pub within: Option<&'static str>,
    pub description: &'static str,
}

/// All kinds; `stormglass list anomalies`.
pub const ANOMALIES: &[AnomalyKind] = &[
    AnomalyKind {
        name: "nonlinearizable",
        within: None,
        description: "no order of the operations on a register explains what its clients saw",
    },
    AnomalyKind {
        name: "stale-read",
        within: Some("nonlinearizable"),
        description: "an operation saw a value after it had surely been replaced",
    },
    AnomalyKind {
        name: "lost-write",
        within: Some("nonlinearizable"),
        description: "a write was acknowledged and nobody, not even its own node, ever saw it",
    },
    AnomalyKind {
        name: "no-recovery",
        within: None,
        description: "the faults were healed, and the cluster did not serve all clients in time",
    },
];

/// Whether an anomaly of kind `found` is one of kind `expected`: the same, or a clear case of it.
pub fn is_within(found: &str, expected: &str) -> bool {
    found == expected
        || ANOMALIES.iter().any(|kind| kind.name == found && kind.within == Some(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_case_is_within_the_wider_kind_and_not_the_reverse() {
        assert!(is_within("stale-read", "nonlinearizable"));
        assert!(is_within("stale-read", "stale-read"));
        assert!(!is_within("nonlinearizable", "stale-read"));
        assert!(!is_within("lost-write", "stale-read"));
    }

    #[test]
    fn names_are_unique_kebab_case_and_wider_kinds_exist() {
        for (position, kind) in ANOMALIES.iter().enumerate() {
            assert!(kind.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", kind.name);
            assert!(ANOMALIES[..position].iter().all(|other| other.name != kind.name));
            let wider = kind.within.is_none_or(|name| ANOMALIES.iter().any(|k| k.name == name));
            assert!(wider, "{} is within an unknown kind", kind.name);
        }
    }
}
