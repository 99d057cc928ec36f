//! A session with the simulated ensemble, as the rest of the project sees it.
//!
//! Arguments are checked here, as the wire client does; everything else is the server's word.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::client::{Answer, Established};
use super::message::{Operation, Part, Path, Read, Response, Write};
use super::{Client, Host, SessionId};
use crate::cluster::{
    Coordination, CoordinationError, CreateMode, MultiOp, MultiResult, SessionEvent, Stat, Watch,
    WatchEvent, WatchKind, Watched,
};
use crate::op::Nanos;
use crate::sim::world::{Handle, Home};

type Failure = CoordinationError;

/// One session; dropping it closes it.
pub struct ModelSession {
    claim: Claim,
    id: SessionId,
    timeout: Duration,
}

/// Keeps a client in the world; when it goes, the client closes its session and follows.
struct Claim {
    world: Handle,
    client: u32,
}

impl Claim {
    fn with<T>(&self, f: impl FnOnce(&mut Client, &mut Host) -> T) -> T {
        self.world.with_client(self.client, f).expect("a session's client lives as long as it")
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Where a whole process is gone, its clients are gone before: then nobody closes anything.
        self.world.with_client(self.client, |client, host| client.close(host));
        self.world.release_client(self.client);
    }
}

/// A watch that waits for its event.
pub struct ModelWatched {
    path: String,
    event: oneshot::Receiver<WatchEvent>,
}

impl Watched for ModelWatched {
    async fn fired(self) -> WatchEvent {
        let ended = WatchEvent { kind: WatchKind::SessionLost, path: self.path };
        self.event.await.unwrap_or(ended)
    }
}

impl ModelSession {
    /// Opens a session with this server and no other: from a program's process, or for a client.
    pub fn open(
        world: &Handle,
        home: Option<Home>,
        node: u8,
        timeout: Duration,
    ) -> impl Future<Output = Result<ModelSession, Failure>> + use<> {
        let (client, established) = Client::new(node, timeout.as_nanos() as Nanos);
        let claim = Claim { client: world.add_client(client, home), world: world.clone() };
        async move {
            let Ok(established): Result<Established, _> = established.await else {
                return Err(CoordinationError::NotConnected("the simulation has ended".into()));
            };
            let (id, timeout) = established?;
            let timeout = Duration::from_nanos(timeout);
            Ok(ModelSession { claim, id, timeout })
        }
    }

    fn ask(&self, operation: Result<Operation, Failure>) -> impl Future<Output = Answer> + use<> {
        let receiver =
            operation.map(|operation| self.claim.with(|client, host| client.ask(host, operation)));
        async move { receiver?.await.unwrap_or_else(|_| Err(world_ended())) }
    }
}

fn world_ended() -> Failure {
    CoordinationError::Other("the simulation has ended".into())
}

fn unexpected(response: Response) -> Failure {
    CoordinationError::Other(format!("unexpected answer {response:?}"))
}

impl Coordination for ModelSession {
    type Watched = ModelWatched;

    fn id(&self) -> i64 {
        self.id
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn state(&self) -> SessionEvent {
        self.claim.with(|client, _| client.state())
    }

    fn changed(&self, than: SessionEvent) -> impl Future<Output = SessionEvent> + 'static {
        let receiver = self.claim.with(|client, _| client.changed(than));
        async move { receiver.await.unwrap_or(SessionEvent::Closed) }
    }

    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<String, Failure>> + 'static {
        let part = create_part(path, data, mode);
        let answer = self.ask(part.map(|part| Operation::Write(Write::Single(part))));
        async move {
            match answer.await? {
                Response::Path(path) => Ok(path.to_string()),
                other => Err(unexpected(other)),
            }
        }
    }

    fn get(&self, path: &str) -> impl Future<Output = Result<(Vec<u8>, Stat), Failure>> + 'static {
        let read = checked(path).map(|path| Operation::Read(Read::Get { path }));
        let answer = self.ask(read);
        async move {
            match answer.await? {
                Response::Data(data, stat) => Ok((data.to_vec(), stat)),
                other => Err(unexpected(other)),
            }
        }
    }

    fn exists(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, Failure>> + 'static {
        let read = checked(path).map(|path| Operation::Read(Read::Exists { path, watch: false }));
        let answer = self.ask(read);
        async move {
            match answer.await {
                Ok(Response::Stat(stat)) => Ok(Some(stat)),
                Err(CoordinationError::NoNode) => Ok(None),
                Ok(other) => Err(unexpected(other)),
                Err(error) => Err(error),
            }
        }
    }

    fn children(&self, path: &str) -> impl Future<Output = Result<Vec<String>, Failure>> + 'static {
        let read = checked(path).map(|path| Operation::Read(Read::Children { path, watch: false }));
        let answer = self.ask(read);
        async move {
            match answer.await? {
                Response::Children(names) => {
                    Ok(names.iter().map(|name| name.to_string()).collect())
                }
                other => Err(unexpected(other)),
            }
        }
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, Failure>> + 'static {
        let part = set_part(path, data, version);
        let answer = self.ask(part.map(|part| Operation::Write(Write::Single(part))));
        async move {
            match answer.await? {
                Response::Stat(stat) => Ok(stat),
                other => Err(unexpected(other)),
            }
        }
    }

    fn delete(
        &self,
        path: &str,
        version: Option<i32>,
    ) -> impl Future<Output = Result<(), Failure>> + 'static {
        let part = delete_part(path, version);
        let answer = self.ask(part.map(|part| Operation::Write(Write::Single(part))));
        async move { answer.await.map(drop) }
    }

    fn sync(&self, path: &str) -> impl Future<Output = Result<(), Failure>> + 'static {
        let answer = self.ask(checked(path).map(|path| Operation::Sync { path }));
        async move { answer.await.map(drop) }
    }

    fn multi(
        &self,
        parts: Vec<MultiOp>,
    ) -> impl Future<Output = Result<Vec<MultiResult>, (Option<usize>, Failure)>> + 'static {
        let numbered = parts.into_iter().enumerate();
        let parts: Result<Rc<[Part]>, _> =
            numbered.map(|(index, op)| part(op).map_err(|error| (Some(index), error))).collect();
        let answer = parts.map(|parts| {
            // An empty multi is done without asking anybody.
            let operation = Operation::Write(Write::Multi(Rc::clone(&parts)));
            (!parts.is_empty()).then(|| (Rc::clone(&parts), self.ask(Ok(operation))))
        });
        async move {
            let Some((parts, answer)) = answer? else {
                return Ok(Vec::new());
            };
            match answer.await.map_err(|error| (None, error))? {
                Response::Multi(responses) => {
                    Ok(parts.iter().zip(responses).map(multi_result).collect())
                }
                Response::MultiFailed { index, refusal } => Err((Some(index), refusal.into())),
                other => Err((None, unexpected(other))),
            }
        }
    }

    fn watch(
        &self,
        path: &str,
        watch: Watch,
    ) -> impl Future<Output = Result<ModelWatched, Failure>> + 'static {
        let set = checked(path).map(|path| {
            let read = match watch {
                Watch::Data => Read::Exists { path, watch: true },
                Watch::Children => Read::Children { path, watch: true },
            };
            self.claim.with(|client, host| client.watch(host, read))
        });
        let path = path.to_owned();
        async move {
            let event = set?.await.unwrap_or_else(|_| Err(world_ended()))?;
            Ok(ModelWatched { path, event })
        }
    }

    fn close(self) -> impl Future<Output = Result<(), Failure>> + 'static {
        let was_over = self.claim.with(|client, host| {
            let was_over = client.is_over();
            client.close(host);
            was_over
        });
        async move {
            let mut state = self.state();
            while !matches!(state, SessionEvent::Closed | SessionEvent::Expired) {
                state = self.changed(state).await;
            }
            match state {
                SessionEvent::Expired => Err(CoordinationError::SessionExpired { sent: !was_over }),
                _ => Ok(()),
            }
        }
    }
}

fn part(op: MultiOp) -> Result<Part, Failure> {
    match op {
        MultiOp::Create { path, data, mode } => create_part(&path, &data, mode),
        MultiOp::Set { path, data, version } => set_part(&path, &data, version),
        MultiOp::Delete { path, version } => delete_part(&path, version),
        MultiOp::Check { path, version } => Ok(Part::Check { path: checked(&path)?, version }),
    }
}

fn create_part(path: &str, data: &[u8], mode: CreateMode) -> Result<Part, Failure> {
    let checked = validate(path, mode.is_sequential())?;
    if path == "/" {
        return Err(bad("the root cannot be created"));
    }
    Ok(Part::Create { path: checked, data: data.into(), mode })
}

fn set_part(path: &str, data: &[u8], version: Option<i32>) -> Result<Part, Failure> {
    Ok(Part::Set { path: checked(path)?, data: data.into(), version: version.unwrap_or(-1) })
}

fn delete_part(path: &str, version: Option<i32>) -> Result<Part, Failure> {
    let checked = checked(path)?;
    if path == "/" {
        return Err(bad("the root cannot be deleted"));
    }
    Ok(Part::Delete { path: checked, version: version.unwrap_or(-1) })
}

fn multi_result((part, response): (&Part, Response)) -> MultiResult {
    match (part, response) {
        (_, Response::Path(path)) => MultiResult::Create { path: path.to_string() },
        (_, Response::Stat(stat)) => MultiResult::Set { stat },
        (Part::Delete { .. }, _) => MultiResult::Delete,
        (_, _) => MultiResult::Check,
    }
}

fn bad(why: &str) -> Failure {
    CoordinationError::BadArguments(why.to_owned())
}

fn checked(path: &str) -> Result<Path, Failure> {
    validate(path, false)
}

/// A path's form: absolute, no empty or relative names, no trailing slash (unless a number follows).
fn validate(path: &str, slash_may_follow: bool) -> Result<Path, Failure> {
    let Some(names) = path.strip_prefix('/') else {
        return Err(bad("a path must begin with `/`"));
    };
    let names = match names.strip_suffix('/') {
        Some(names) if slash_may_follow => names,
        Some(_) => return Err(bad("a path must not end with `/`")),
        None => names,
    };
    if path.len() > 1 && names.split('/').any(str::is_empty) {
        return Err(bad("a path must not have an empty name"));
    }
    if names.split('/').any(|name| name == "." || name == "..") {
        return Err(bad("a path must not have a relative name"));
    }
    let unsupported = |letter: char| {
        matches!(letter as u32,
            0x00..=0x1f | 0x7f..=0x9f | 0xd800..=0xf8ff | 0xfff0..=0xffff)
    };
    if path.contains(unsupported) {
        return Err(bad("a path must not have control or private characters"));
    }
    Ok(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_checked_as_by_the_wire_client() {
        for good in ["/", "/a", "/a/b", "/a/.b/..c", "/a/ä"] {
            assert!(validate(good, false).is_ok(), "{good}");
        }
        for wrong in ["", "a", "/a/", "//", "/a//b", "/./a", "/a/..", "/a\u{7}", "/a/../b"] {
            assert!(validate(wrong, false).is_err(), "{wrong}");
        }
        assert!(validate("/a/", true).is_ok());
        assert!(validate("/a//", true).is_err());
    }

    #[test]
    fn the_root_can_be_neither_created_nor_deleted() {
        assert!(create_part("/", b"", CreateMode::Persistent).is_err());
        assert!(create_part("/", b"", CreateMode::PersistentSequential).is_err());
        assert!(delete_part("/", None).is_err());
        assert!(set_part("/", b"", None).is_ok());
    }
}
