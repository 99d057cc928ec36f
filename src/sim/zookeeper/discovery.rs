//! How a leader begins: it collects a quorum, agrees on a new epoch with it, and hands out its history.

use super::host::Host;
use super::leader::{Leading, Stage};
use super::message::Message;
use super::server::{Alarm, Role, Server};
use super::{INIT_LIMIT, ServerId, TICK, Variant, Zxid};
use crate::sim::network::ConnectionId;

/// What a learner said of its log when it accepted the epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    current_epoch: Option<u32>,
    pub(super) last_zxid: Zxid,
    pub(super) snapshot_zxid: Zxid,
}

impl Server {
    pub(super) fn lead(&mut self, host: &mut Host) {
        self.role = Role::Leading(Leading::default());
        host.log(|| "Peer state changed: leading - discovery".to_owned());
        self.wake(host, INIT_LIMIT * TICK, Alarm::InitLimit);
        self.choose_epoch(host);
    }

    pub(super) fn accept_learner(&mut self, host: &mut Host, connection: ConnectionId) {
        match &mut self.role {
            Role::Leading(leading) => leading.accept(host.monotonic(), connection),
            _ => host.close(connection),
        }
    }

    pub(super) fn check_established(&mut self, host: &mut Host) {
        if matches!(&self.role, Role::Leading(leading) if leading.stage != Stage::Broadcast) {
            self.look_for_leader(host);
        }
    }

    pub(super) fn on_follower_info(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        (server, accepted_epoch): (ServerId, u32),
    ) {
        let Role::Leading(leading) = &mut self.role else { return };
        leading.register(host, connection, (server, accepted_epoch));
        if leading.stage == Stage::Election {
            self.choose_epoch(host);
        } else if accepted_epoch > leading.epoch {
            self.look_for_leader(host);
        } else {
            let epoch = leading.epoch;
            host.send(connection, Message::LeaderInfo { epoch });
        }
    }

    /// With a quorum at hand, the epoch is one more than any of it has accepted.
    fn choose_epoch(&mut self, host: &mut Host) {
        let quorum = self.quorum();
        let Role::Leading(leading) = &mut self.role else { return };
        let registered = leading.learners.iter().filter(|learner| learner.server.is_some());
        if registered.clone().count() + 1 < quorum {
            return;
        }
        let highest = registered.map(|learner| learner.accepted_epoch).max().unwrap_or(0);
        leading.epoch = highest.max(self.storage.accepted_epoch) + 1;
        leading.stage = Stage::Discovery;
        self.storage.accepted_epoch = leading.epoch;
        let epoch = leading.epoch;
        for learner in leading.learners.iter().filter(|learner| learner.server.is_some()) {
            host.send(learner.connection, Message::LeaderInfo { epoch });
        }
        self.conclude_discovery(host);
    }

    pub(super) fn on_ack_epoch(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        (current_epoch, last_zxid, snapshot_zxid): (Option<u32>, Zxid, Zxid),
    ) {
        let own = (self.storage.current_epoch, self.storage.last_zxid());
        let Role::Leading(leading) = &mut self.role else { return };
        let undecided = leading.stage == Stage::Discovery;
        let ahead = current_epoch.is_some_and(|epoch| (epoch, last_zxid) > own);
        if undecided && ahead && self.variant != Variant::VotesById {
            self.look_for_leader(host);
            return;
        }
        if let Some(learner) = leading.learner(connection) {
            learner.summary = Some(Summary { current_epoch, last_zxid, snapshot_zxid });
        }
        if undecided {
            self.conclude_discovery(host);
        } else {
            self.synchronize(host, connection);
        }
    }

    /// Once a quorum has accepted the epoch, everybody who has gets the leader's history.
    fn conclude_discovery(&mut self, host: &mut Host) {
        let quorum = self.quorum();
        let Role::Leading(leading) = &mut self.role else { return };
        let accepted = leading
            .learners
            .iter()
            .filter(|learner| learner.summary.is_some_and(|it| it.current_epoch.is_some()))
            .count();
        if accepted + 1 < quorum {
            return;
        }
        leading.stage = Stage::Synchronization;
        host.log(|| "Peer state changed: leading - synchronization".to_owned());
        self.storage.current_epoch = leading.epoch;
        let summarized: Vec<ConnectionId> = leading
            .learners
            .iter()
            .filter(|learner| learner.summary.is_some())
            .map(|learner| learner.connection)
            .collect();
        for connection in summarized {
            self.synchronize(host, connection);
        }
        self.conclude_synchronization(host);
    }
}
