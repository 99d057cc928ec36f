//! The anomaly kinds that checkers may name, in one table.

/// One way in which a promise can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnomalyKind {
    /// Kebab-case, as it stands in results and expectations.
    pub name: &'static str,
    /// The wider kind that this one is a clear case of.
    pub within: Option<&'static str>,
    /// What may bring this one about: where that is expected, this is no surprise.
    pub follows_from: &'static [&'static str],
    pub description: &'static str,
}

/// What two writers for one slot bring about, and writes that vanish.
const LOSS: &[&str] = &["split-brain", "lost-write"];

/// An older topology that displaces a newer one takes what only that one had.
const WENT_BACK: &[&str] = &["topology-went-back"];

const fn kind(name: &'static str, description: &'static str) -> AnomalyKind {
    AnomalyKind { name, within: None, follows_from: &[], description }
}

const fn after(
    follows_from: &'static [&'static str],
    name: &'static str,
    description: &'static str,
) -> AnomalyKind {
    AnomalyKind { name, within: None, follows_from, description }
}

/// All kinds; `stormglass list anomalies`.
pub const ANOMALIES: &[AnomalyKind] = &[
    after(
        LOSS,
        "nonlinearizable",
        "no order of the operations on an object explains what its clients saw",
    ),
    AnomalyKind {
        name: "stale-read",
        within: Some("nonlinearizable"),
        follows_from: LOSS,
        description: "an operation saw a value after it had surely been replaced",
    },
    AnomalyKind {
        name: "lost-write",
        within: Some("nonlinearizable"),
        follows_from: &["split-brain"],
        description: "a write was acknowledged, and later reads prove that it is gone",
    },
    kind(
        "no-recovery",
        "the faults were healed, and the cluster did not serve all clients in time",
    ),
    after(
        LOSS,
        "incompatible-order",
        "two reads of one list cannot both be, and no failover lies between them",
    ),
    after(
        LOSS,
        "vanished-element",
        "an element of a list or set was there, and a later read lacks it without a failover between",
    ),
    kind("duplicate-element", "an element of a list or set was added once and is there twice"),
    kind("unwritten-element", "an element of a list or set is there that nobody can have added"),
    kind("torn-transaction", "a transaction on lists did not take effect as a whole at one moment"),
    after(LOSS, "duplicate-count", "two increments of one counter were answered the same count"),
    after(
        LOSS,
        "backward-count",
        "an increment was answered no more than what had been told before it was asked for",
    ),
    kind(
        "impossible-count",
        "a count was told that is more than the increments that can have been",
    ),
    after(LOSS, "two-holders", "a lock was given to somebody while another surely held it"),
    after(
        LOSS,
        "stale-token",
        "a lock came with, or its store took, a fencing token older than one before",
    ),
    kind(
        "topology-went-back",
        "a node or the controllers' store went from one version of the topology to a lower one, or two documents bear one version",
    ),
    AnomalyKind {
        name: "lost-change",
        within: None,
        follows_from: WENT_BACK,
        description: "a failover or a namespace was acknowledged by a controller, and vanished though nobody undid it",
    },
    AnomalyKind {
        name: "lost-migration",
        within: Some("lost-change"),
        follows_from: WENT_BACK,
        description: "a migration was acknowledged by a controller, and its mark vanished though nobody said that it had ended",
    },
    kind(
        "redirect-loop",
        "nodes sent clients to each other for a slot, for long and with no fault in force",
    ),
    kind("stuck-slot", "a slot was refused for too long after the faults were healed"),
    kind(
        "stuck-migration",
        "a migration was still under way too long after the faults were healed",
    ),
    kind(
        "starved-failover",
        "a master stayed dead while controllers were elected one after the other, and none replaced it",
    ),
    after(
        LOSS,
        "replica-divergence",
        "in the end nodes of one shard hold different values, and nothing is written any more",
    ),
    kind("lost", "an element was surely added, and the last reads of its set lack it"),
    kind("unexpected", "an element was read or dequeued that nobody added"),
    kind("duplicated", "an element was read, dequeued or handed out more often than it can be"),
    kind("revived", "the add of a row failed, and the last read has it"),
    kind("off-order-sts", "rows that were read in the order of their timestamps are not"),
    kind(
        "off-order-val",
        "a row was inserted after another, and its timestamp is before that one's",
    ),
    kind("no-ok", "of all operations of one name none was ok"),
    kind("stale", "a read of a set began after an element was known, and lacks it"),
    kind("counter-out-of-bounds", "a count was read that the adds so far cannot have made"),
    kind("wrong-total", "the balances of all accounts do not sum to what they did at first"),
    kind("negative-value", "an account was read with a balance below 0"),
    kind("nil-balance", "an account was read without a balance"),
    kind("unexpected-key", "an account was read that there is not"),
    kind("long-fork", "two reads saw two writes in opposite orders"),
    kind("causal-reverse", "a read saw a write, and lacks one that had completed before it began"),
    kind("nonsequential", "a read saw a later insert of a process, and then not an earlier one"),
    kind("forgotten-write", "a transaction wrote a register and then read something else there"),
    kind(
        "session-cycle",
        "transactions read from each other in a circle, if each process did its own in order",
    ),
    kind(
        "non-monotonic-read",
        "a transaction read from another, and then something older than what that one wrote",
    ),
    kind("fractured-read", "a transaction saw one write of another, and missed a second"),
    kind(
        "causality-violation",
        "a transaction missed a write that had happened before it, by who read from whom",
    ),
    kind(
        "non-monotonic-read-process",
        "non-monotonic-read, if each process did its own transactions in order",
    ),
    kind(
        "fractured-read-process",
        "a transaction missed a write of its own process before, or fractured-read in process order",
    ),
    kind(
        "causality-violation-process",
        "a transaction missed a write that had happened before it, by processes and reads",
    ),
    kind(
        "prefix-violation",
        "transactions that saw one another's writes do not agree on an order in which the writes came",
    ),
    kind(
        "prefix-violation-process",
        "prefix-violation, if each process did its own transactions in order",
    ),
    kind(
        "garbage-read-process",
        "a process wrote a register and then read there what nobody had written",
    ),
    kind(
        "garbage-read-realtime",
        "a transaction read what nobody had written, after a write had been acknowledged",
    ),
    kind(
        "unwritten-read",
        "transactions read several values of a register that nobody had written in this history",
    ),
    kind("noncausal", "a step of a register did not see the one before it"),
    kind("read-your-writes", "a process read an older value than it had written"),
    kind("monotonic-reads", "a process read an older value than it had read"),
    kind("monotonic-writes", "a process's writes took effect in another order than it wrote"),
    kind("writes-follow-reads", "a process's write took effect before one that it had read"),
    kind("nonmonotonic", "one number was seen grown and another one shrunk, or one went back"),
    kind("predicate-g2", "two inserts succeeded, each of which had looked for the other"),
    kind("dirty-read", "a value was read that is nowhere in the end"),
    kind("not-on-all", "some nodes have a value in the end, and others do not"),
    kind("no-serial-order", "no order of the transactions one after the other explains all reads"),
    kind(
        "no-serial-order-process",
        "no such order in which each process does its own in turn explains all reads",
    ),
    kind(
        "no-serial-order-realtime",
        "no such order in which what was over comes before what began then explains all reads",
    ),
    kind(
        "no-snapshot-order",
        "no order of beginnings and commits explains all reads as snapshot isolation would",
    ),
    kind(
        "no-snapshot-order-process",
        "no such order in which each process does its own in turn explains all reads",
    ),
    kind(
        "no-snapshot-order-realtime",
        "no such order in which what was over comes before what began then explains all reads",
    ),
    kind("inconsistent-offsets", "one offset of a log has several messages"),
    kind("duplicate", "one message is at several offsets of a log"),
    kind("precommitted-read", "a transaction polled a message that it sent itself"),
    kind("unseen", "a message was acknowledged and never polled"),
    kind("poll-skip", "a process polled on beyond messages that it had not polled"),
    kind("nonmonotonic-poll", "a process polled again what it had polled, or what lies before"),
    kind("int-poll-skip", "one operation polled a log and left messages out"),
    kind("int-send-skip", "one operation sent messages to a log, and another's lie between"),
    kind("int-nonmonotonic-poll", "one operation polled a log not in its order"),
    kind("nonmonotonic-send", "messages of a process are in the log not in the order of its sends"),
    kind("int-nonmonotonic-send", "messages of one operation are in the log not in its order"),
    kind("two-leaders", "two became leader in one epoch"),
    kind("epoch-went-back", "an epoch was given out that is lower than one given out before"),
    kind("too-stale", "a read returned a value that had been replaced for longer than allowed"),
    kind("no-progress", "somebody waited too long for an answer while no fault was in force"),
    kind(
        "log-pattern",
        "a line in a node's log says that its program crashed, or is one that the workload forbids",
    ),
    kind("split-brain", "two nodes took writes for one slot, and no transfer of it explains that"),
    kind("G0", "transactions overwrote each other's writes in a circle"),
    kind("G1a", "a transaction read what a failed one had written"),
    kind("G1b", "a transaction read what another had written only in between"),
    kind(
        "G1c",
        "transactions wrote and read in a circle: each saw or overwrote what the last left",
    ),
    kind(
        "G-single-item",
        "a transaction missed one write of another, though that one came before it by all else",
    ),
    kind(
        "G-nonadjacent-item",
        "transactions missed writes of others in a circle, no two in a row; a long fork is one",
    ),
    kind("G2-item", "transactions missed each other's writes in a circle; write skew is one"),
    kind(
        "G0-process",
        "transactions overwrote each other's writes in a circle that the order within a process closes",
    ),
    kind(
        "G1c-process",
        "transactions wrote and read in a circle that the order within a process closes",
    ),
    kind(
        "G-single-item-process",
        "a transaction missed one write of another that came before it, by the order within a process among others",
    ),
    kind(
        "G-nonadjacent-item-process",
        "transactions missed writes of others, no two in a row, in a circle that the order within a process closes",
    ),
    kind(
        "G2-item-process",
        "transactions missed each other's writes in a circle that the order within a process closes",
    ),
    kind(
        "G0-realtime",
        "transactions overwrote each other's writes in a circle that real-time order closes",
    ),
    kind("G1c-realtime", "transactions wrote and read in a circle that real-time order closes"),
    kind(
        "G-single-item-realtime",
        "a transaction missed one write of another that came before it, by real-time order among others",
    ),
    kind(
        "G-nonadjacent-item-realtime",
        "transactions missed writes of others, no two in a row, in a circle that real-time order closes",
    ),
    kind(
        "G2-item-realtime",
        "transactions missed each other's writes in a circle that real-time order closes",
    ),
    kind("internal", "a transaction read something else than it had itself read or written before"),
    kind("future-read", "a transaction read what it wrote only later"),
    kind("dirty-update", "a committed transaction built on what a failed one had written"),
    kind("lost-update", "committed transactions read the same of a key and then each wrote it"),
    kind("duplicate-elements", "a list held an element twice that was appended once"),
    kind("garbage-read", "a transaction read what nobody had written"),
    kind(
        "cyclic-versions",
        "the values of a key would each have to come before the next in a circle",
    ),
];

/// Whether an anomaly of kind `found` is one of kind `expected`: the same, or a clear case of it.
pub fn is_within(found: &str, expected: &str) -> bool {
    found == expected
        || ANOMALIES.iter().any(|kind| kind.name == found && kind.within == Some(expected))
}

/// Whether an anomaly of kind `found` may be brought about by one of kind `cause`.
pub fn follows(found: &str, cause: &str) -> bool {
    ANOMALIES.iter().any(|kind| kind.name == found && kind.follows_from.contains(&cause))
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
    fn what_follows_from_a_split_brain_is_none_by_itself() {
        assert!(follows("lost-write", "split-brain") && follows("stale-read", "split-brain"));
        assert!(!follows("split-brain", "lost-write") && !follows("no-recovery", "split-brain"));
        assert!(!is_within("lost-write", "split-brain"));
    }

    #[test]
    fn names_are_unique_kebab_case_and_wider_kinds_exist() {
        for (position, kind) in ANOMALIES.iter().enumerate() {
            assert!(
                kind.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'),
                "{}",
                kind.name
            );
            assert!(ANOMALIES[..position].iter().all(|other| other.name != kind.name));
            let wider = kind.within.is_none_or(|name| ANOMALIES.iter().any(|k| k.name == name));
            assert!(wider, "{} is within an unknown kind", kind.name);
            for cause in kind.follows_from {
                let known = ANOMALIES.iter().any(|other| other.name == *cause);
                assert!(known && *cause != kind.name, "{} follows from {cause}", kind.name);
            }
        }
    }
}
