//! When what was written goes to the disk itself.

use std::fmt;
use std::str::FromStr;

/// What a machine that loses power may lose. (A process that is killed loses nothing of what it wrote.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Nothing: every write is synced before it is answered.
    Always,
    /// About a second.
    EverySecond,
    /// Whatever the kernel has not written yet: kvrocks' own default.
    #[default]
    Never,
}

/// A word that is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected yes, everysec or no, got `{0}`")]
pub struct UnknownPolicy(String);

impl SyncPolicy {
    /// The key of kvrocks.conf. The real program knows `yes` and `no`; `everysec` is ours.
    pub const KEY: &str = "rocksdb.write_options.sync";

    fn name(self) -> &'static str {
        match self {
            SyncPolicy::Always => "yes",
            SyncPolicy::EverySecond => "everysec",
            SyncPolicy::Never => "no",
        }
    }
}

impl fmt::Display for SyncPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SyncPolicy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<SyncPolicy, UnknownPolicy> {
        let known = [SyncPolicy::Always, SyncPolicy::EverySecond, SyncPolicy::Never];
        let policy = known.into_iter().find(|policy| policy.name().eq_ignore_ascii_case(text));
        policy.ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}
