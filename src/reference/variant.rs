//! The reference servers' variants: the real ones' defects, proposed fixes, planted bugs.

use std::fmt;
use std::str::FromStr;

use crate::cluster::Role;

/// A name that no variant of this role has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{role} has no variant `{name}`; it has {known}")]
pub struct UnknownVariant {
    pub role: Role,
    pub name: String,
    pub known: String,
}

macro_rules! variants {
    ($(#[$doc:meta])* $type:ident of $role:expr; $($(#[doc = $about:literal])+ $case:ident = $name:literal,)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[doc = $about])+ $case,)+
        }

        impl $type {
            pub const ALL: &[$type] = &[$($type::$case),+];

            pub fn name(self) -> &'static str {
                match self { $($type::$case => $name,)+ }
            }

            /// What it does otherwise, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $($type::$case => concat!($($about),+).trim_ascii(),)+ }
            }
        }

        /// The first one, which is as the real one is.
        impl Default for $type {
            fn default() -> $type {
                $type::ALL[0]
            }
        }

        impl FromStr for $type {
            type Err = UnknownVariant;

            fn from_str(name: &str) -> Result<$type, UnknownVariant> {
                $type::ALL.iter().copied().find(|one| one.name() == name).ok_or_else(|| UnknownVariant {
                    role: $role,
                    name: name.to_owned(),
                    known: $type::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", "),
                })
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

variants! {
    /// How a kvrocks node behaves.
    NodeVariant of Role::Kvrocks;
    /// As kvrocks 2.10.1: an imported slot is served to everybody from SUCCESS on.
    AsShipped = "as-shipped",
    /// An imported slot is served only to connections that said ASKING, until a topology names its owner; the source answers ASK.
    AskingOnly = "asking-only",
    /// From SUCCESS on the destination serves nothing of the slot, and the source takes no writes, until a higher topology version comes; after a restart a master serves nothing before it has heard a controller.
    FreezeUntilTopology = "freeze-until-topology",
    /// The destination never serves a slot that no topology gives it; until one comes the source sends clients there all the same.
    NoImportedSlots = "no-imported-slots",
    /// A master takes no writes once it has not heard a controller for a while.
    Lease = "lease",
    /// Planted: acknowledges a write before it is in its log.
    AckBeforeLog = "ack-before-log",
    /// Planted: a replica whose replication has a gap goes on as if it had none.
    ReplicaGap = "replica-gap",
    /// Planted: takes a topology of a lower version than its own.
    LowerVersion = "lower-version",
}

variants! {
    /// How a controller behaves.
    ControllerVariant of Role::Controller;
    /// As kvrocks-controller 1.2.0: metadata are written without compare-and-set.
    AsShipped = "as-shipped",
    /// Metadata are written only over the znode version that was read.
    Cas = "cas",
    /// As `cas`, and a write is bound to its own leadership: in one transaction with a check of the leader znode.
    Fenced = "fenced",
    /// Leadership is a lease that is judged by the wall clock.
    WallClockLease = "wall-clock-lease",
}
