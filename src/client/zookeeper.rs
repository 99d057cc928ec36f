//! ZooKeeper's client protocol: one session with exactly one server, and its four-letter words.
//!
//! Nothing is retried. A request whose connection broke is reported as such, because it may have been
//! performed. After a disconnection the session itself is taken up again at the same server.

mod convert;
mod error;
mod expire;
mod four_letter;
mod session;

pub use expire::{ExpireError, expire, knows_session, sessions};
pub use four_letter::{Mode, Srvr, ask, srvr};
pub use session::{WireSession, WireWatch};

/// The port on which a ZooKeeper server takes clients.
pub const CLIENT_PORT: u16 = 2181;
