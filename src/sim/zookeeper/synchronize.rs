//! Bringing a learner up to the leader's history, and the beginning of the leader's service.

use std::rc::Rc;

use super::discovery::Summary;
use super::host::Host;
use super::leader::Stage;
use super::message::{Message, SyncPlan};
use super::server::{Alarm, Role, Server};
use super::{ServerId, TICK, zxid as make_zxid};
use crate::sim::network::ConnectionId;

impl Server {
    /// Sends a learner what makes its log a prefix of this one, then the proposals under way.
    pub(super) fn synchronize(&mut self, host: &mut Host, connection: ConnectionId) {
        let Role::Leading(leading) = &mut self.role else { return };
        let Some(learner) = leading.learner(connection) else { return };
        let Some(summary) = learner.summary else { return };
        learner.forwarding = true;
        let plan = self.sync_plan(summary);
        host.send(connection, Message::Sync(Rc::new(plan)));
        let Role::Leading(leading) = &self.role else { return };
        for txn in leading.proposed() {
            host.send(connection, Message::Proposal(Rc::clone(txn)));
        }
    }

    fn sync_plan(&self, learner: Summary) -> SyncPlan {
        let (epoch, history_end) = match &self.role {
            Role::Leading(leading) if leading.stage == Stage::Broadcast => {
                (leading.epoch, self.committed)
            }
            Role::Leading(leading) => (leading.epoch, self.storage.last_zxid()),
            _ => (self.storage.current_epoch, self.committed),
        };
        let shared = self.storage.floor(learner.last_zxid.min(history_end));
        // What lies before the learner's snapshot it cannot undo.
        let shared = shared.filter(|shared| *shared >= learner.snapshot_zxid);
        let from = shared.unwrap_or(self.storage.snapshot().zxid);
        SyncPlan {
            epoch,
            snapshot: shared.is_none().then(|| Rc::clone(self.storage.snapshot())),
            truncate_after: shared.filter(|shared| *shared < learner.last_zxid),
            entries: self
                .storage
                .after(from)
                .take_while(|txn| txn.zxid <= history_end)
                .map(Rc::clone)
                .collect(),
        }
    }

    pub(super) fn on_ack_new_leader(&mut self, host: &mut Host, connection: ConnectionId) {
        let committed = self.committed;
        let Role::Leading(leading) = &mut self.role else { return };
        let serves = leading.stage == Stage::Broadcast;
        let Some(learner) = leading.learner(connection) else { return };
        learner.synchronized = true;
        if serves {
            host.send(connection, Message::UpToDate { committed });
        } else {
            self.conclude_synchronization(host);
        }
    }

    fn log_broadcast(&self, host: &mut Host, synchronized: Vec<ServerId>) {
        let zxid = make_zxid(self.storage.current_epoch, 0);
        host.log(|| {
            let mut sids: Vec<ServerId> = synchronized;
            sids.push(self.id);
            sids.sort_unstable();
            format!(
                "Have quorum of supporters, sids: [{sids:?},{sids:?}]; starting up and setting last \
                 processed zxid: 0x{zxid:x}"
            )
        });
        host.log(|| "Peer state changed: leading - broadcast".to_owned());
    }

    /// Once a quorum has the history, all of it is committed, and the ensemble serves.
    pub(super) fn conclude_synchronization(&mut self, host: &mut Host) {
        let quorum = self.quorum();
        let Role::Leading(leading) = &mut self.role else { return };
        let synchronized = leading.learners.iter().filter(|learner| learner.synchronized).count();
        if leading.stage != Stage::Synchronization || synchronized + 1 < quorum {
            return;
        }
        leading.stage = Stage::Broadcast;
        let synchronized = leading.synchronized().collect::<Vec<_>>();
        self.committed = self.storage.last_zxid();
        self.log_broadcast(host, synchronized);
        self.apply_committed(host);
        let committed = self.committed;
        self.vote.peer_epoch = self.storage.current_epoch;
        let Role::Leading(leading) = &mut self.role else { return };
        for (session, timeout) in self.tree.sessions() {
            leading.sessions.track(host.monotonic(), *session, *timeout);
        }
        for learner in leading.learners.iter_mut().filter(|learner| learner.synchronized) {
            learner.last_heard = host.monotonic();
            host.send(learner.connection, Message::UpToDate { committed });
        }
        self.begin_serving();
        self.wake(host, TICK / 2, Alarm::HalfTick);
    }
}
