//! What the world has seen unasked: one queue that every source feeds, the logs and the agent alike.
//!
//! It decides nothing: sources say what concerns whom, and the run loop reads in the order of arrival.

use tokio::sync::{Mutex, mpsc};

use crate::cluster::Observed;

/// A source's end of the queue. It never waits, and never fails: once nobody reads, nobody cares.
#[derive(Clone, Debug)]
pub(in crate::docker) struct Sighter {
    sender: mpsc::UnboundedSender<Observed>,
}

impl Sighter {
    pub fn tell(&self, observed: Observed) {
        let _ = self.sender.send(observed);
    }
}

/// The queue.
pub(in crate::docker) struct Sightings {
    sighter: Sighter,
    receiver: Mutex<mpsc::UnboundedReceiver<Observed>>,
}

impl Sightings {
    pub fn new() -> Sightings {
        let (sender, receiver) = mpsc::unbounded_channel();
        Sightings { sighter: Sighter { sender }, receiver: Mutex::new(receiver) }
    }

    /// An end for one more source.
    pub fn sighter(&self) -> Sighter {
        self.sighter.clone()
    }

    /// Waits for the next thing seen. Nothing is lost where the wait is given up.
    pub async fn next(&self) -> Observed {
        match self.receiver.lock().await.recv().await {
            Some(observed) => observed,
            // We hold a sender ourselves, so the queue never closes.
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::cluster::{Concerning, LookoutId};

    fn seen(what: &str) -> Observed {
        Observed {
            concerning: Concerning::Lookout(LookoutId(1)),
            node: "n1".into(),
            what: what.to_owned(),
            message: None,
            age_us: 0,
        }
    }

    #[test]
    fn sources_are_read_in_the_order_of_arrival_and_a_wait_given_up_loses_nothing() {
        let sightings = Sightings::new();
        assert_eq!(sightings.next().now_or_never(), None);
        let (one, two) = (sightings.sighter(), sightings.sighter());
        one.tell(seen("a"));
        two.tell(seen("b"));
        drop((one, two));
        assert_eq!(sightings.next().now_or_never(), Some(seen("a")));
        assert_eq!(sightings.next().now_or_never(), Some(seen("b")));
        assert_eq!(sightings.next().now_or_never(), None);
    }
}
