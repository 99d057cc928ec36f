//! Fast leader election: everybody votes for the longest log it knows of, until a quorum agrees.
//!
//! Votes travel on connections of their own, one per direction. Like TCP's, they survive a cut and
//! deliver what was sent meanwhile after the heal.

use std::collections::BTreeMap;

use super::host::Host;
use super::message::{Message, PeerState, Vote};
use super::server::{Alarm, Role, Server};
use super::{ELECTION_PORT, ServerId, Variant};
use crate::op::{MILLISECOND, Nanos, SECOND};
use crate::sim::network::ConnectionId;

/// How long a quorum's choice waits for a better vote.
const DECIDE_AFTER: Nanos = 200 * MILLISECOND;
/// Taking up a role costs a server this long: it stops and starts what serves its clients.
const SETTLE: (Nanos, Nanos) = (20 * MILLISECOND, 150 * MILLISECOND);
const RESEND_FIRST: Nanos = 200 * MILLISECOND;
const RESEND_LONGEST: Nanos = 60 * SECOND;
/// A handshake that takes longer is given up and begun anew.
const CONNECT_LIMIT: Nanos = 5 * SECOND;

/// The way out to one peer.
#[derive(Debug, Default)]
pub(super) struct Peer {
    connection: Option<ConnectionId>,
    opened: bool,
    since: Nanos,
    /// The last message that could not be sent yet; older ones are of no use.
    waiting: Option<Message>,
}

impl Peer {
    pub(super) fn close(self, host: &mut Host) {
        if let Some(connection) = self.connection {
            host.close(connection);
        }
    }
}

#[derive(Debug)]
pub(super) struct Election {
    /// Votes of this round.
    votes: BTreeMap<ServerId, (Vote, PeerState)>,
    /// Votes of servers that have a leader already.
    settled: BTreeMap<ServerId, (Vote, PeerState)>,
    resend_after: Nanos,
    /// Numbers what this server has proposed in the phase.
    ballot: u32,
    deciding: bool,
}

impl Server {
    pub(super) fn look_for_leader(&mut self, host: &mut Host) {
        self.leave_role(host);
        self.looking_since = host.monotonic();
        host.log(|| "Peer state changed: looking".to_owned());
        host.log(|| "LOOKING".to_owned());
        self.role = Role::Looking(Election {
            votes: BTreeMap::new(),
            settled: BTreeMap::new(),
            resend_after: RESEND_FIRST,
            ballot: 0,
            deciding: false,
        });
        self.round += 1;
        self.vote = self.own_vote();
        let Vote { leader, zxid, .. } = self.vote;
        host.log(|| format!("New election. My id = {leader}, proposed zxid=0x{zxid:x}"));
        self.propose_vote(host);
        self.wake(host, RESEND_FIRST, Alarm::Resend);
    }

    fn own_vote(&self) -> Vote {
        Vote {
            leader: self.id,
            zxid: self.storage.last_zxid(),
            peer_epoch: self.storage.current_epoch,
            round: self.round,
        }
    }

    /// Whether a vote is for a better leader than another one.
    fn beats(&self, vote: &Vote, other: &Vote) -> bool {
        if self.variant == Variant::VotesById {
            return vote.leader > other.leader;
        }
        (vote.peer_epoch, vote.zxid, vote.leader) > (other.peer_epoch, other.zxid, other.leader)
    }

    /// Tells everybody the current vote, which is new.
    fn propose_vote(&mut self, host: &mut Host) {
        let (id, vote) = (self.id, self.vote);
        if let Role::Looking(election) = &mut self.role {
            election.votes.insert(id, (vote, PeerState::Looking));
            election.ballot += 1;
            election.deciding = false;
        }
        self.send_votes(host);
        self.consider_vote(host);
    }

    fn send_votes(&mut self, host: &mut Host) {
        for peer in 1..=self.servers {
            if peer != self.id {
                self.send_vote(host, peer);
            }
        }
    }

    pub(super) fn resend_votes(&mut self, host: &mut Host) {
        let Role::Looking(election) = &mut self.role else { return };
        election.resend_after = (election.resend_after * 2).min(RESEND_LONGEST);
        let after = election.resend_after;
        self.send_votes(host);
        self.wake(host, after, Alarm::Resend);
    }

    pub(super) fn on_notification(
        &mut self,
        host: &mut Host,
        from: ServerId,
        state: PeerState,
        vote: Vote,
    ) {
        match (&self.role, state) {
            (Role::Booting, _) => {}
            (Role::Looking(_), PeerState::Looking) => self.on_vote(host, from, vote),
            (Role::Looking(_), _) => self.on_settled(host, from, state, vote),
            (_, PeerState::Looking) => self.send_vote(host, from),
            (_, _) => {}
        }
    }

    fn on_vote(&mut self, host: &mut Host, from: ServerId, vote: Vote) {
        if vote.round < self.round {
            self.send_vote(host, from);
            return;
        }
        if vote.round > self.round {
            self.round = vote.round;
            if let Role::Looking(election) = &mut self.role {
                election.votes.clear();
            }
            let own = self.own_vote();
            self.vote = if self.beats(&vote, &own) { vote } else { own };
            self.propose_vote(host);
        } else if self.beats(&vote, &self.vote) {
            self.vote = vote;
            self.propose_vote(host);
        }
        if let Role::Looking(election) = &mut self.role {
            election.votes.insert(from, (vote, PeerState::Looking));
        }
        self.consider_vote(host);
    }

    /// Waits a little once a quorum votes alike: a better vote may be on its way.
    fn consider_vote(&mut self, host: &mut Host) {
        let (quorum, vote) = (self.quorum(), self.vote);
        let Role::Looking(election) = &mut self.role else { return };
        let alike = election.votes.values().filter(|(other, _)| *other == vote).count();
        if alike >= quorum && !election.deciding {
            election.deciding = true;
            let ballot = election.ballot;
            self.wake(host, DECIDE_AFTER, Alarm::Decide { ballot });
        }
    }

    pub(super) fn decide(&mut self, host: &mut Host, ballot: u32) {
        let Role::Looking(election) = &self.role else { return };
        if election.deciding && election.ballot == ballot {
            self.elect(host, self.vote);
        }
    }

    /// A vote from a server that follows or leads.
    fn on_settled(&mut self, host: &mut Host, from: ServerId, state: PeerState, vote: Vote) {
        let (id, quorum, round) = (self.id, self.quorum(), self.round);
        // Rounds may differ among followers of one leader; the epoch that it established does not.
        let of = (vote.leader, vote.peer_epoch);
        let Role::Looking(election) = &mut self.role else { return };
        let confirmed = |votes: &BTreeMap<ServerId, (Vote, PeerState)>| {
            let alike =
                votes.values().filter(|(other, _)| (other.leader, other.peer_epoch) == of).count();
            let leads = if vote.leader == id {
                vote.round == round
            } else {
                votes.get(&vote.leader).is_some_and(|(_, state)| *state == PeerState::Leading)
            };
            alike >= quorum && leads
        };
        if vote.round == round {
            election.votes.insert(from, (vote, state));
        }
        election.settled.insert(from, (vote, state));
        if (vote.round == round && confirmed(&election.votes)) || confirmed(&election.settled) {
            self.round = vote.round;
            self.elect(host, vote);
        }
    }

    fn elect(&mut self, host: &mut Host, vote: Vote) {
        self.leave_role(host);
        self.vote = vote;
        self.role = Role::Settling;
        let after = host.rng.between(SETTLE.0, SETTLE.1);
        self.wake(host, after, Alarm::Settle);
    }

    pub(super) fn settle(&mut self, host: &mut Host) {
        let took = host.monotonic().saturating_sub(self.looking_since) / MILLISECOND;
        if self.vote.leader == self.id {
            host.log(|| format!("LEADING - LEADER ELECTION TOOK - {took} MS"));
            self.lead(host);
        } else {
            host.log(|| format!("FOLLOWING - LEADER ELECTION TOOK - {took} MS"));
            self.follow(host, self.vote.leader);
        }
    }

    /// Sends the current vote to one peer, connecting first where needed.
    fn send_vote(&mut self, host: &mut Host, to: ServerId) {
        let message =
            Message::Notification { from: self.id, state: self.peer_state(), vote: self.vote };
        let peer = &mut self.peers[to as usize - 1];
        if let Some(connection) = peer.connection {
            if peer.opened {
                host.send(connection, message);
                return;
            }
            if host.monotonic().saturating_sub(peer.since) > CONNECT_LIMIT {
                host.close(connection);
                peer.connection = None;
            }
        }
        peer.waiting = Some(message);
        if peer.connection.is_none() {
            peer.connection = Some(host.connect(to - 1, ELECTION_PORT));
            peer.since = host.monotonic();
            peer.opened = false;
        }
    }

    pub(super) fn peer_opened(&mut self, host: &mut Host, connection: ConnectionId) {
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.connection == Some(connection))
        else {
            return;
        };
        peer.opened = true;
        if let Some(message) = peer.waiting.take() {
            host.send(connection, message);
        }
    }

    pub(super) fn peer_closed(&mut self, connection: ConnectionId) {
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.connection == Some(connection)) {
            *peer = Peer::default();
        }
    }
}
