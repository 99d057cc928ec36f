//! Wire clients: each speaks one service's protocol, sends a request at most once and hides nothing.

pub mod kvrocks;
pub mod zookeeper;
