//! The seam between the run loop and a world: topology, view, actions and the coordination service.
//!
//! Nothing here knows which world is behind it, and nothing here names a workload or a checker.

mod action;
mod coordination;
mod kvrocks_view;
mod lookout;
mod mechanism;
mod message_rule;
mod settings;
mod topology;
mod view;

use std::future::Future;

use futures::io::{AsyncRead, AsyncWrite};

pub use action::{
    Action, Applied, Check, Clock, Effect, FaultId, Link, Manner, Proof, Refusal, SessionPick,
    Side, Tap,
};
pub use coordination::{
    Coordination, CoordinationError, CreateMode, MultiOp, MultiResult, SessionEvent, Stat, Watch,
    WatchEvent, WatchKind, Watched,
};
pub use kvrocks_view::{ask_kvrocks, kvrocks_view};
pub use lookout::{Concerning, Lookout, LookoutId, Needs, Observed, Sight};
pub use mechanism::{Ability, Mechanism};
pub use message_rule::{Form, MessageRule, MessageSeen, Pattern, Protocol, Toxic};
pub use settings::{Settings, check_settings, fill_lines, fill_yaml};
pub use topology::{CLIENTS, Node, Role, Topology};
pub use view::{NodeState, NodeView, View};

use crate::op::{Call, Completion, NodeName};

/// One logical client, bound to one node. It sends each call at most once and hides nothing.
pub trait Client {
    /// Performs one call. Anything that may have happened is `Info`.
    fn invoke(&mut self, call: &Call) -> impl Future<Output = Completion>;
}

/// A running cluster in one of the two worlds.
pub trait Cluster {
    /// A session with the coordination service (ZooKeeper).
    type Session: Coordination + 'static;

    /// A TCP connection from the clients' place to a node.
    type Stream: AsyncRead + AsyncWrite + Unpin + 'static;

    fn topology(&self) -> &Topology;

    /// Opens a session with exactly this server; fails rather than trying another.
    fn connect(
        &self,
        node: &NodeName,
        session_timeout: std::time::Duration,
    ) -> impl Future<Output = Result<Self::Session, CoordinationError>> + 'static;

    /// Opens a connection from the clients' place to this port of a node. An error tells that nothing
    /// was sent; whoever calls bounds the time.
    fn dial(
        &self,
        node: &NodeName,
        port: u16,
    ) -> impl Future<Output = std::io::Result<Self::Stream>> + 'static;

    /// Who is up, who leads: best effort, asked from the services themselves.
    fn view(&self) -> impl Future<Output = View>;

    /// Waits until the world itself fails in a way that no request tells (its agent is gone).
    fn trouble(&self) -> impl Future<Output = String> {
        std::future::pending()
    }

    /// Mechanisms that the scenario's faults may use and that were found not to act here.
    fn lacks(&self) -> &[Ability] {
        &[]
    }

    /// Puts in place what the scenario's faults need from the start: idle interposers, lookouts.
    fn prepare(&self, needs: &Needs) -> impl Future<Output = anyhow::Result<()>>;

    /// Waits for the next thing that a lookout or an armed message fault has seen.
    fn observed(&self) -> impl Future<Output = Observed>;

    /// Performs one primitive action and proves it on the data plane.
    ///
    /// An error means that the harness broke, not that the fault did not act.
    fn apply(&self, action: &Action) -> impl Future<Output = anyhow::Result<Applied>>;
}
