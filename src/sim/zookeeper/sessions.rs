//! The leader's record of all sessions: who was heard when, and who is expired.

use std::collections::BTreeMap;

use super::{SessionId, TICK};
use crate::op::Nanos;

#[derive(Debug)]
struct Session {
    timeout: Nanos,
    deadline: Nanos,
    /// Its end has been proposed: it takes no request any more.
    closing: bool,
}

#[derive(Debug, Default)]
pub struct Sessions(BTreeMap<SessionId, Session>);

/// Deadlines stand on whole ticks, so that sessions are expired in batches.
fn deadline(now: Nanos, timeout: Nanos) -> Nanos {
    ((now + timeout) / TICK + 1) * TICK
}

impl Sessions {
    pub fn track(&mut self, now: Nanos, id: SessionId, timeout: Nanos) {
        let deadline = deadline(now, timeout);
        self.0.entry(id).or_insert(Session { timeout, deadline, closing: false });
    }

    pub fn remove(&mut self, id: SessionId) {
        self.0.remove(&id);
    }

    /// Notes that the session was heard; false where it is over.
    pub fn touch(&mut self, now: Nanos, id: SessionId) -> bool {
        match self.0.get_mut(&id) {
            Some(session) if !session.closing => {
                session.deadline = session.deadline.max(deadline(now, session.timeout));
                true
            }
            _ => false,
        }
    }

    pub fn is_open(&self, id: SessionId) -> bool {
        self.0.get(&id).is_some_and(|session| !session.closing)
    }

    pub fn set_closing(&mut self, id: SessionId) {
        if let Some(session) = self.0.get_mut(&id) {
            session.closing = true;
        }
    }

    /// Sessions that have not been heard in time and whose end has not been proposed.
    pub fn expired(&self, now: Nanos) -> Vec<SessionId> {
        self.0
            .iter()
            .filter(|(_, session)| !session.closing && session.deadline <= now)
            .map(|(id, _)| *id)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::SECOND;

    #[test]
    fn a_session_expires_at_a_whole_tick_after_its_timeout() {
        let mut sessions = Sessions::default();
        sessions.track(100, 7, 2 * SECOND);
        assert!(sessions.expired(2 * SECOND + 100).is_empty());
        assert_eq!(sessions.expired(2 * SECOND + TICK), [7]);
        assert!(sessions.touch(SECOND, 7));
        assert!(sessions.expired(2 * SECOND + TICK).is_empty());
    }

    #[test]
    fn a_closing_session_cannot_be_touched_nor_expired_again() {
        let mut sessions = Sessions::default();
        sessions.track(0, 7, SECOND);
        sessions.set_closing(7);
        assert!(!sessions.touch(0, 7) && !sessions.is_open(7));
        assert!(sessions.expired(10 * SECOND).is_empty());
        assert!(!sessions.touch(0, 8));
    }
}
