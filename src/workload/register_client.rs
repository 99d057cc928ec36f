//! The client of the `register` workload: registers as znodes, over a coordination session.
//!
//! It sends nothing again of which the fate is unknown, and opens a new session only for the next
//! operation. What it answers follows one rule: `fail` only where the operation surely did not happen.

mod failure;
#[cfg(test)]
mod tests;

use std::future::Future;

use serde::{Deserialize, Serialize};

use crate::cluster::{Client, Coordination, CoordinationError, CreateMode, SessionEvent};
use crate::op::{Call, Completion, Outcome, Value};
use failure::Failure;

/// All znodes of the workload lie under this one.
const ROOT: &str = "/stormglass-register";

/// Refusals that a write follows before it gives up: somebody else keeps deleting what it needs.
const MOST_REFUSALS: u32 = 8;

/// How a read makes sure that what it sees is not stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadMode {
    /// Not at all: the session's own server answers.
    Local,
    /// `sync` first. It asks no quorum, so a deposed leader may answer it.
    Sync,
    /// Write a znode of this client first, in the same session. The only linearizable one.
    Barrier,
}

/// One logical client. `connect` opens a session with its one server.
pub struct RegisterClient<C, F> {
    connect: F,
    mode: ReadMode,
    /// The znode that barrier reads write.
    scratch: String,
    session: Option<C>,
}

impl<C, F> RegisterClient<C, F> {
    /// `name` tells this client's scratch znode from the other clients'.
    pub fn new(connect: F, mode: ReadMode, name: &str) -> RegisterClient<C, F> {
        RegisterClient { connect, mode, scratch: format!("{ROOT}/scratch-{name}"), session: None }
    }
}

impl<C, F, Connecting> Client for RegisterClient<C, F>
where
    C: Coordination,
    F: Fn() -> Connecting,
    Connecting: Future<Output = Result<C, CoordinationError>>,
{
    async fn invoke(&mut self, call: &Call) -> Completion {
        self.perform(call).await.into()
    }
}

impl<C, F, Connecting> RegisterClient<C, F>
where
    C: Coordination,
    F: Fn() -> Connecting,
    Connecting: Future<Output = Result<C, CoordinationError>>,
{
    async fn perform(&mut self, call: &Call) -> Outcome {
        // Taken out, so that a session whose operation is abandoned half-way is not used again.
        let session = match self.session.take().filter(is_alive) {
            Some(session) => session,
            None => match (self.connect)().await {
                Ok(session) => session,
                Err(error) => return Failure::not_done("no session", &error).outcome(),
            },
        };
        let result = match call {
            Call::Read { key } => self.read(&session, &path(*key)).await,
            Call::Write { key, value } => write(&session, &path(*key), *value).await,
            Call::Cas { key, from, to } => cas(&session, &path(*key), *from, *to).await,
            other => Err(Failure::refused(format!("znodes have no `{}`", other.f()))),
        };
        let over = result.as_ref().is_err_and(|failure| failure.ends_session);
        self.session = Some(session).filter(|session| !over && is_alive(session));
        match result {
            Ok(value) => Outcome::Ok(value),
            Err(failure) => failure.outcome(),
        }
    }
}

impl<C: Coordination, F> RegisterClient<C, F> {
    /// Reads have no effect, so whatever goes wrong, the read surely was not done.
    async fn read(&self, session: &C, path: &str) -> Result<Value, Failure> {
        match self.mode {
            ReadMode::Local => {}
            ReadMode::Sync => {
                session.sync(path).await.map_err(|error| Failure::not_done("sync", &error))?;
            }
            ReadMode::Barrier => {
                put(session, &self.scratch, b"").await.map_err(Failure::before_read)?;
            }
        }
        match session.get(path).await {
            Ok((data, _)) => Ok(observed(&data)),
            Err(CoordinationError::NoNode) => Ok(Value::Nil),
            Err(error) => Err(Failure::not_done("get", &error)),
        }
    }
}

async fn write<C: Coordination>(session: &C, path: &str, value: i64) -> Result<Value, Failure> {
    put(session, path, value.to_string().as_bytes()).await?;
    Ok(Value::Int(value))
}

/// Sets by the version at which the expected value was seen, so that nothing came between.
async fn cas<C: Coordination>(
    session: &C,
    path: &str,
    from: i64,
    to: i64,
) -> Result<Value, Failure> {
    let (data, stat) = match session.get(path).await {
        Ok(found) => found,
        Err(CoordinationError::NoNode) => {
            return Err(Failure::refused(format!("expected {from}, found nothing")));
        }
        Err(error) => return Err(Failure::not_done("get", &error)),
    };
    let found = observed(&data);
    if found != Value::Int(from) {
        return Err(Failure::refused(format!("expected {from}, found {found}")));
    }
    let set = session.set(path, to.to_string().as_bytes(), Some(stat.version));
    set.await.map_err(|error| Failure::perhaps_done("set", &error))?;
    Ok(Value::Pair(from, to))
}

/// Sets the znode, creating it where it is absent.
///
/// A further request follows only on a definite refusal of the one before it (no node, node exists),
/// so nothing is repeated of which the fate is unknown.
async fn put<C: Coordination>(session: &C, path: &str, data: &[u8]) -> Result<(), Failure> {
    for _ in 0..MOST_REFUSALS {
        match session.set(path, data, None).await {
            Ok(_) => return Ok(()),
            Err(CoordinationError::NoNode) => {}
            Err(error) => return Err(Failure::perhaps_done("set", &error)),
        }
        match session.create(path, data, CreateMode::Persistent).await {
            Ok(_) => return Ok(()),
            Err(CoordinationError::NodeExists) => {}
            Err(CoordinationError::NoNode) => make_root(session).await?,
            Err(error) => return Err(Failure::perhaps_done("create", &error)),
        }
    }
    Err(Failure::refused(format!("refused {MOST_REFUSALS} times: the znode comes and goes")))
}

/// Whether the root was made is beside the point: the operation itself has been refused so far.
async fn make_root<C: Coordination>(session: &C) -> Result<(), Failure> {
    match session.create(ROOT, b"", CreateMode::Persistent).await {
        Ok(_) | Err(CoordinationError::NodeExists) => Ok(()),
        Err(error) => Err(Failure::not_done("create the root", &error)),
    }
}

/// What a znode's data says. Data that nobody here writes is passed on for the checker to see.
fn observed(data: &[u8]) -> Value {
    let text = String::from_utf8_lossy(data);
    text.parse().map_or_else(|_| Value::Json(Box::new(text.into())), Value::Int)
}

fn is_alive<C: Coordination>(session: &C) -> bool {
    !matches!(session.state(), SessionEvent::Expired | SessionEvent::Closed)
}

fn path(key: i64) -> String {
    format!("{ROOT}/r{key}")
}
