//! The table of a node's own commands.

/// Which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Applybatch,
    Asking,
    Auth,
    Client,
    Cluster,
    Clusterx,
    Command,
    Config,
    Debug,
    Discard,
    Exec,
    Hello,
    Info,
    Multi,
    Psync,
    Quit,
    Readonly,
    Readwrite,
    Replconf,
    Role,
    Select,
    Slaveof,
    Time,
    Unwatch,
    Watch,
}

/// A command that is not on keys.
#[derive(Debug)]
pub struct Own {
    pub run: Name,
    /// In lower case.
    pub name: &'static str,
    /// The number of words, the name counted; where negative, the least number of them.
    pub arity: i32,
    /// True if it may stand between MULTI and EXEC.
    pub may_be_queued: bool,
    /// It is executed at once, also after MULTI.
    pub bypasses_queue: bool,
    pub writes: bool,
    /// All words behind its name are keys.
    pub has_keys: bool,
}

impl Own {
    pub fn takes(&self, words: usize) -> bool {
        let least = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { words >= least } else { words == least }
    }
}

const fn own(run: Name, name: &'static str, arity: i32) -> Own {
    Own {
        run,
        name,
        arity,
        may_be_queued: true,
        bypasses_queue: false,
        writes: false,
        has_keys: false,
    }
}

/// One that has no place in a transaction.
const fn alone(run: Name, name: &'static str, arity: i32) -> Own {
    Own { may_be_queued: false, ..own(run, name, arity) }
}

/// One that a transaction is made with.
const fn bypassing(run: Name, name: &'static str, arity: i32) -> Own {
    Own { bypasses_queue: true, ..own(run, name, arity) }
}

pub const TABLE: &[Own] = &[
    Own { writes: true, ..alone(Name::Applybatch, "applybatch", -2) },
    own(Name::Asking, "asking", 1),
    own(Name::Auth, "auth", -2),
    own(Name::Client, "client", -2),
    alone(Name::Cluster, "cluster", -2),
    alone(Name::Clusterx, "clusterx", -2),
    own(Name::Command, "command", -1),
    own(Name::Config, "config", -2),
    alone(Name::Debug, "debug", -2),
    bypassing(Name::Discard, "discard", 1),
    bypassing(Name::Exec, "exec", 1),
    own(Name::Hello, "hello", -1),
    own(Name::Info, "info", -1),
    bypassing(Name::Multi, "multi", 1),
    alone(Name::Psync, "psync", 3),
    bypassing(Name::Quit, "quit", -1),
    own(Name::Readonly, "readonly", 1),
    own(Name::Readwrite, "readwrite", 1),
    own(Name::Replconf, "replconf", -3),
    own(Name::Role, "role", 1),
    own(Name::Select, "select", 2),
    own(Name::Slaveof, "slaveof", 3),
    own(Name::Time, "time", 1),
    own(Name::Unwatch, "unwatch", 1),
    Own { has_keys: true, ..alone(Name::Watch, "watch", -2) },
];

/// The command of this name in any case.
pub fn lookup(name: &[u8]) -> Option<&'static Own> {
    TABLE.iter().find(|own| own.name.as_bytes().eq_ignore_ascii_case(name))
}

/// The names of all of them, in lower case.
#[cfg(test)]
pub fn own_names() -> Vec<&'static str> {
    TABLE.iter().map(|own| own.name).collect()
}
