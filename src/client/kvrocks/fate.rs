//! What a server's error says of the request that it answers: every text, and why. One table.
//!
//! Texts are those of kvrocks 2.10.1, and the general ones of RESP servers.

use crate::op::Outcome;

/// What became of a request that would have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It surely had no effect.
    NotDone,
    /// It may have had its effect.
    PerhapsDone,
}

/// An error that begins so.
struct Row {
    begins: &'static str,
    fate: Fate,
    why: &'static str,
}

const fn not_done(begins: &'static str, why: &'static str) -> Row {
    Row { begins, fate: Fate::NotDone, why }
}

const fn perhaps_done(begins: &'static str, why: &'static str) -> Row {
    Row { begins, fate: Fate::PerhapsDone, why }
}

/// The first row that fits decides.
const TABLE: &[Row] = &[
    not_done("MOVED ", "another node serves the slot; asked before anything is executed"),
    not_done("ASK ", "the slot is being imported elsewhere; asked before anything is executed"),
    not_done("TRYAGAIN", "the slot takes no writes while the last of it is migrated"),
    not_done("CLUSTERDOWN", "no topology yet, nobody owns the slot, or a lease on it has run out"),
    not_done("CROSSSLOT", "keys of several slots in one command"),
    not_done("READONLY", "a replica takes no writes of clients"),
    not_done("MASTERDOWN", "a replica without its master serves nothing"),
    not_done("LOADING", "the node still reads its data"),
    not_done("EXECABORT", "a command was refused when it was queued, so none was executed"),
    not_done("NOAUTH", "not authenticated"),
    not_done("NOPERM", "not permitted"),
    not_done("WRONGTYPE", "the key holds something else"),
    not_done("NOREPLICAS", "too few replicas, asked before execution"),
    not_done("ERR unknown command", "there is no such command"),
    not_done("ERR wrong number of arguments", "the request makes no sense"),
    not_done("ERR Syntax error", "the request makes no sense"),
    not_done("ERR syntax error", "the request makes no sense"),
    not_done(
        "ERR Invalid argument",
        "type or form of a value, looked at before anything is written",
    ),
    not_done("ERR value is not an integer", "looked at before anything is written"),
    not_done("ERR EXEC without MULTI", "nothing was queued"),
    not_done("ERR DISCARD without MULTI", "nothing was queued"),
    not_done("ERR MULTI calls can not be nested", "the queue stays as it was"),
    not_done("ERR WATCH inside MULTI is not allowed", "the queue stays as it was"),
    not_done("ERR Protocol error", "the request could not be read"),
    not_done("ERR max number of clients reached", "the connection was not taken"),
    not_done("ERR only support", "the node is configured otherwise"),
    perhaps_done("ERR IO error", "the store failed; the record may be in its log"),
    perhaps_done("ERR Corruption", "the store failed; the record may be in its log"),
    perhaps_done("ERR", "an error that is not known here"),
];

/// What an error means, with the reason.
pub fn fate(error: &str) -> (Fate, &'static str) {
    let row = TABLE.iter().find(|row| error.starts_with(row.begins));
    row.map_or((Fate::PerhapsDone, "an error of an unknown kind"), |row| (row.fate, row.why))
}

/// The outcome of a request that was answered by this error. What only reads has no effect, so it was
/// surely not done, whatever the error.
pub fn outcome_of(error: &str, changes: bool) -> Outcome {
    match fate(error) {
        (Fate::PerhapsDone, why) if changes => Outcome::Info(format!("{error} ({why})")),
        _ => Outcome::Fail(error.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors as kvrocks 2.10.1 puts them.
    #[test]
    fn refusals_of_the_real_server_are_definite() {
        for error in [
            "MOVED 8579 10.0.0.42:6666",
            "TRYAGAIN Can't write to slot being migrated which is in write forbidden phase",
            "CLUSTERDOWN Hash slot not served",
            "CLUSTERDOWN The cluster is not initialized",
            "CROSSSLOT Attempted to access keys that don't hash to the same slot",
            "READONLY You can't write against a read only slave.",
            "EXECABORT Transaction discarded",
            "ERR EXEC without MULTI",
            "ERR Invalid argument: WRONGTYPE Operation against a key holding the wrong kind of value",
            "ERR Invalid argument: value is not an integer or out of range",
            "ERR unknown command `WAIT`, with args beginning with: `0`, `0`",
            "ERR Syntax error, try CLIENT LIST|INFO|KILL ip:port|GETNAME|SETNAME",
        ] {
            assert_eq!(fate(error).0, Fate::NotDone, "{error}");
            assert_eq!(outcome_of(error, true), Outcome::Fail(error.into()));
        }
    }

    #[test]
    fn what_is_not_known_may_have_been_done_unless_it_only_reads() {
        for error in ["ERR IO error: No space left on device", "ERR odd", "ODD", "", "err moved"] {
            assert_eq!(fate(error).0, Fate::PerhapsDone, "{error}");
            assert!(matches!(outcome_of(error, true), Outcome::Info(_)), "{error}");
            assert!(matches!(outcome_of(error, false), Outcome::Fail(_)), "{error}");
        }
    }

    #[test]
    fn no_row_hides_a_later_one() {
        for (position, row) in TABLE.iter().enumerate() {
            let earlier = TABLE[..position].iter().find(|one| row.begins.starts_with(one.begins));
            assert!(earlier.is_none(), "`{}` is never reached", row.begins);
            assert!(!row.why.is_empty());
        }
    }
}
