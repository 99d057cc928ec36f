//! An operator: asks its one controller to change the topology, or to show it.
//!
//! No redirect is followed and nothing is asked twice.

#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use futures::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout};

use super::client::Common;
use super::rest::{self, Ask};
use crate::cluster::Client;
use crate::http::{Response, send};
use crate::op::{Call, Completion, Hop, Manage, NodeName, Outcome, Route};

/// One logical operator. `dial` opens a connection to its controller.
pub struct Operator<F> {
    dial: F,
    common: Rc<Common>,
    home: NodeName,
}

/// Why no answer came.
#[derive(Clone, Debug, PartialEq)]
pub struct Unanswered {
    pub why: String,
    pub was_sent: bool,
}

/// One request on a connection of its own, within this time altogether.
pub async fn exchange<S>(
    dialing: impl Future<Output = io::Result<S>>,
    ask: &Ask,
    host: &str,
    limit: Duration,
) -> Result<Response, Unanswered>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let end = Instant::now() + limit;
    let unanswered = |why: String, was_sent| Unanswered { why, was_sent };
    let stream = match timeout(limit, dialing).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(unanswered(format!("no connection: {error}"), false)),
        Err(_) => return Err(unanswered(format!("no connection in {limit:?}"), false)),
    };
    match tokio::time::timeout_at(end, send(stream, ask.request(host))).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(unanswered(error.to_string(), !error.surely_not_done())),
        Err(_) => Err(unanswered(format!("no answer in {limit:?}"), true)),
    }
}

impl<S, F, Dialing> Operator<F>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    pub fn new(dial: F, common: Rc<Common>, home: NodeName) -> Operator<F> {
        Operator { dial, common, home }
    }

    async fn perform(&self, manage: &Manage) -> (Outcome, String) {
        let ask = rest::ask_for(manage);
        match exchange((self.dial)(self.home), &ask, &self.home, self.common.budget).await {
            Ok(response) => {
                let said = match response.is_success() {
                    true => "ok".to_owned(),
                    false => rest::message(&response, &self.common.addresses),
                };
                (rest::outcome(manage, &response, &self.common.addresses), said)
            }
            Err(Unanswered { why, was_sent }) => {
                let told = format!("{}: {why}", self.home);
                let changes = *manage != Manage::Topology;
                let outcome = match was_sent && changes {
                    true => Outcome::Info(told),
                    false => Outcome::Fail(told),
                };
                (outcome, why)
            }
        }
    }
}

impl<S, F, Dialing> Client for Operator<F>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    async fn invoke(&mut self, call: &Call) -> Completion {
        let Call::Manage(manage) = call else {
            return Outcome::Fail(format!("a controller has no `{}`", call.f())).into();
        };
        let began = Instant::now();
        let (outcome, said) = self.perform(manage).await;
        let after_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let hops = vec![Hop { node: self.home, said, after_us }];
        Completion { outcome, route: Some(Box::new(Route { hops, slot: None })) }
    }
}
