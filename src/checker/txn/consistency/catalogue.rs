//! The tables.

use super::Relation;

/// Where the one is found, the others are too.
pub const IMPLIED: Relation = &[
    ("G0", &["G1c", "G0-process"]),
    ("G0-process", &["G1c-process", "G0-realtime"]),
    ("G0-realtime", &["G1c-realtime"]),
    ("G1a", &["G1"]),
    ("G1b", &["G1"]),
    ("G1c", &["G1", "G1c-process"]),
    ("G1c-process", &["G1c-realtime", "G1-process"]),
    ("G1c-realtime", &["G1-realtime"]),
    ("G1", &["G1-process"]),
    ("G1-process", &["G1-realtime"]),
    ("G-single-item", &["G-single", "G-single-item-process", "G-nonadjacent-item"]),
    (
        "G-single-item-process",
        &["G-single-process", "G-single-item-realtime", "G-nonadjacent-item-process"],
    ),
    ("G-single-item-realtime", &["G-single-realtime", "G-nonadjacent-item-realtime"]),
    ("G-single", &["G-nonadjacent", "GSIb", "G-single-process"]),
    ("G-single-process", &["G-nonadjacent-process", "G-single-realtime"]),
    ("G-single-realtime", &["G-nonadjacent-realtime"]),
    ("G-nonadjacent-item", &["G-nonadjacent", "G2-item", "G-nonadjacent-item-process"]),
    (
        "G-nonadjacent-item-process",
        &["G-nonadjacent-process", "G2-item-process", "G-nonadjacent-item-realtime"],
    ),
    ("G-nonadjacent-item-realtime", &["G2-item-realtime", "G-nonadjacent-realtime"]),
    ("G-nonadjacent", &["G2", "G-nonadjacent-process"]),
    ("G-nonadjacent-process", &["G2-process", "G-nonadjacent-realtime"]),
    ("G-nonadjacent-realtime", &["G2-realtime"]),
    ("G2", &["G2-process"]),
    ("G2-item", &["G2", "G2-item-process"]),
    ("G2-item-process", &["G2-process", "G2-item-realtime"]),
    ("G2-item-realtime", &["G2-realtime"]),
    ("G2-process", &["G2-realtime"]),
    ("GSIa", &["GSI"]),
    ("GSIb", &["GSI"]),
    ("incompatible-order", &["G1a"]),
    ("future-read", &["G1c"]),
    ("dirty-update", &["G1a"]),
    // Not one of Elle's: nobody wrote what was read, so no committed transaction did.
    ("garbage-read", &["G1a"]),
    // `garbage-read-process`, `-realtime` and `unwritten-read` rule out nothing unless they are asked for: as
    // in Elle, what nobody wrote may have been there at first, or been written before the history began, if
    // nobody says what was there.
    ("garbage-read-process", &["garbage-read-realtime"]),
    ("unwritten-read", &[]),
    // Of weak levels as AWDIT decides them. If the writes of a key come in the order that such a cycle
    // excludes, it is one of who read from whom; in the other the reader read what was overwritten.
    ("forgotten-write", &["internal"]),
    ("session-cycle", &["G1c-process"]),
    ("non-monotonic-read", &["G-single-item", "fractured-read", "non-monotonic-read-process"]),
    ("non-monotonic-read-process", &["G-single-item-process", "fractured-read-process"]),
    ("fractured-read", &["G-single-item", "causality-violation", "fractured-read-process"]),
    ("fractured-read-process", &["G-single-item-process", "causality-violation-process"]),
    ("causality-violation", &["G-single-item", "prefix-violation", "causality-violation-process"]),
    ("causality-violation-process", &["G-single-item-process", "prefix-violation-process"]),
    ("prefix-violation", &["G-nonadjacent-item", "prefix-violation-process"]),
    ("prefix-violation-process", &["G-nonadjacent-item-process"]),
    ("lost-update", &["write-skew", "G2-item"]),
    ("write-skew", &["G2"]),
    // Found by trying all orders, and so not Elle's either.
    ("no-snapshot-order", &["no-serial-order", "no-snapshot-order-process"]),
    ("no-snapshot-order-process", &["no-serial-order-process", "no-snapshot-order-realtime"]),
    ("no-snapshot-order-realtime", &["no-serial-order-realtime"]),
    ("no-serial-order", &["no-serial-order-process"]),
    ("no-serial-order-process", &["no-serial-order-realtime"]),
];

/// What satisfies the one model satisfies the others too.
///
/// Elle has `parallel-snapshot-isolation` and `prefix` below `snapshot-isolation`. Here the order of each
/// session counts in them, and in what they hold, and so they are below its form with sessions; what breaks
/// them without sessions is an anomaly that snapshot isolation forbids by itself.
pub const MODELS: Relation = &[
    (
        "strict-serializable",
        &[
            "serializable",
            "linearizable",
            "snapshot-isolation",
            "strong-snapshot-isolation",
            "strong-session-serializable",
            "session-serializable",
        ],
    ),
    ("strong-session-serializable", &["serializable", "strong-session-snapshot-isolation"]),
    (
        "serializable",
        &["repeatable-read", "snapshot-isolation", "view-serializable", "update-serializable"],
    ),
    ("strong-snapshot-isolation", &["strong-session-snapshot-isolation", "strong-read-committed"]),
    (
        "strong-session-snapshot-isolation",
        &[
            "snapshot-isolation",
            "strong-session-read-committed",
            "parallel-snapshot-isolation",
            "prefix",
        ],
    ),
    (
        "snapshot-isolation",
        &["forward-consistent-view", "monotonic-atomic-view", "monotonic-snapshot-read"],
    ),
    ("session-serializable", &["1SR"]),
    ("1SR", &[]),
    ("view-serializable", &[]),
    ("update-serializable", &["forward-consistent-view"]),
    ("repeatable-read", &["cursor-stability", "monotonic-atomic-view"]),
    ("forward-consistent-view", &["consistent-view"]),
    ("consistent-view", &["cursor-stability", "monotonic-view"]),
    ("parallel-snapshot-isolation", &["causal-cerone", "ROLA"]),
    ("prefix", &["causal-cerone"]),
    ("causal-cerone", &["read-atomic"]),
    ("ROLA", &["read-atomic"]),
    ("read-atomic", &["monotonic-atomic-view"]),
    ("cursor-stability", &["read-committed"]),
    ("monotonic-atomic-view", &["read-committed"]),
    ("monotonic-view", &["read-committed"]),
    ("monotonic-snapshot-read", &["read-committed"]),
    ("strong-read-committed", &["strong-session-read-committed", "strong-read-uncommitted"]),
    ("strong-session-read-committed", &["read-committed", "strong-session-read-uncommitted"]),
    ("read-committed", &["read-uncommitted"]),
    ("strong-read-uncommitted", &["strong-session-read-uncommitted"]),
    ("strong-session-read-uncommitted", &["read-uncommitted"]),
    ("read-uncommitted", &[]),
    ("linearizable", &["sequential"]),
    ("sequential", &["causal"]),
    ("causal", &["writes-follow-reads", "PRAM"]),
    ("PRAM", &["monotonic-reads", "monotonic-writes", "read-your-writes"]),
    ("writes-follow-reads", &[]),
    ("monotonic-reads", &[]),
    ("monotonic-writes", &[]),
    ("read-your-writes", &[]),
];

/// What each model forbids beyond what weaker ones do.
pub const PROSCRIBED: Relation = &[
    ("strict-serializable", &["G1", "G1c-realtime", "G2-realtime", "no-serial-order-realtime"]),
    ("strong-session-serializable", &["G1-process", "G2-process", "no-serial-order-process"]),
    ("serializable", &["G1", "G2", "internal", "predicate-read-miss", "no-serial-order"]),
    (
        "strong-snapshot-isolation",
        &["internal", "G1-realtime", "G-nonadjacent-realtime", "no-snapshot-order-realtime"],
    ),
    (
        "strong-session-snapshot-isolation",
        &["internal", "G1-process", "G-nonadjacent-process", "no-snapshot-order-process"],
    ),
    ("snapshot-isolation", &["internal", "G1", "G-SI", "G-nonadjacent", "no-snapshot-order"]),
    ("update-serializable", &["G1", "G-update"]),
    ("repeatable-read", &["G1", "G2-item", "lost-update"]),
    ("forward-consistent-view", &["G1", "G-SIb"]),
    ("consistent-view", &["G1", "G-single"]),
    ("parallel-snapshot-isolation", &["internal", "G1a", "G-single-process"]),
    ("prefix", &["internal", "G1a", "prefix-violation-process"]),
    ("causal-cerone", &["internal", "G1a", "causality-violation-process"]),
    ("ROLA", &["lost-update"]),
    ("read-atomic", &["internal", "G1a", "future-read", "G1c-process", "fractured-read-process"]),
    ("cursor-stability", &["G1", "G-cursor", "lost-update"]),
    ("monotonic-view", &["G1", "G-monotonic"]),
    ("monotonic-snapshot-read", &["G1", "G-MSR"]),
    ("strong-read-committed", &["G1c-realtime"]),
    ("strong-session-read-committed", &["G1c-process"]),
    ("read-committed", &["G1"]),
    ("strong-read-uncommitted", &["G0-realtime"]),
    ("strong-session-read-uncommitted", &["G0-process"]),
    ("read-uncommitted", &["G0", "duplicate-elements", "cyclic-versions", "garbage-read"]),
];

/// Other names of models; the first of them are Adya's.
pub const SYNONYMS: &[(&str, &str)] = &[
    ("PL-1", "read-uncommitted"),
    ("PL-2", "read-committed"),
    ("PL-CS", "cursor-stability"),
    ("PL-2L", "monotonic-view"),
    ("PL-MSR", "monotonic-snapshot-read"),
    ("PL-2+", "consistent-view"),
    ("PL-FCV", "forward-consistent-view"),
    ("PL-SI", "snapshot-isolation"),
    ("PL-2.99", "repeatable-read"),
    ("PL-3U", "update-serializable"),
    ("PL-3", "serializable"),
    ("PL-SS", "strict-serializable"),
    ("strong-session-PL-1", "strong-session-read-uncommitted"),
    ("strong-session-PL-2", "strong-session-read-committed"),
    ("strong-PL-1", "strong-read-uncommitted"),
    ("strong-PL-2", "strong-read-committed"),
    ("conflict-serializable", "serializable"),
    ("strong-serializable", "strict-serializable"),
    // Elle's newer name of it.
    ("update-atomic", "ROLA"),
];
