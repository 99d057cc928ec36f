//! One ZooKeeper session over the wire.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use futures::FutureExt;
use zookeeper_client::{Acls, Client, Error, OneshotWatcher, SessionState, StateWatcher};

use crate::client::zookeeper::convert;
use crate::client::zookeeper::error::{of_multi, of_request};
use crate::cluster::{
    Coordination, CoordinationError, CreateMode, MultiOp, MultiResult, SessionEvent, Stat, Watch,
    WatchEvent, Watched,
};

/// A session with one server.
#[derive(Debug)]
pub struct WireSession {
    client: Client,
}

/// A watch that has been set over the wire.
pub struct WireWatch {
    watcher: OneshotWatcher,
    path: String,
}

impl WireSession {
    /// Opens a session with exactly this server. Takes at most about `timeout`.
    pub async fn connect(
        server: SocketAddr,
        timeout: Duration,
    ) -> Result<WireSession, CoordinationError> {
        let connector = Client::connector().with_session_timeout(timeout).with_fail_eagerly();
        let address = server.to_string();
        let opened = tokio::time::timeout(timeout, connector.connect(&address)).await;
        let cause = match opened {
            Ok(Ok(client)) => return Ok(WireSession { client }),
            Ok(Err(Error::NoHosts)) => "it refuses or ends the connection".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer for {} ms", timeout.as_millis()),
        };
        Err(CoordinationError::NotConnected(format!("no session with {server}: {cause}")))
    }

    /// Sends a request now and returns the future of its answer.
    fn request<F, T, Made>(
        &self,
        make: impl FnOnce(Client) -> F,
        shape: impl FnOnce(T) -> Made + 'static,
    ) -> impl Future<Output = Result<Made, CoordinationError>> + 'static
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
        T: 'static,
    {
        let was_over = self.is_over();
        let answer = submit(make(self.client.clone()));
        async move { answer.await.map(shape).map_err(|error| of_request(error, was_over)) }
    }

    fn is_over(&self) -> bool {
        matches!(self.state(), SessionEvent::Expired | SessionEvent::Closed)
    }
}

/// Polls a future once, so that its request is sent at the call and not when it is awaited.
fn submit<F>(future: F) -> impl Future<Output = F::Output> + 'static
where
    F: Future + Send + 'static,
    F::Output: 'static,
{
    let mut future = Box::pin(future);
    let first = future.as_mut().now_or_never();
    async move {
        match first {
            Some(output) => output,
            None => future.await,
        }
    }
}

async fn left(mut states: StateWatcher, than: SessionEvent) -> SessionEvent {
    loop {
        let now = convert::session_event(states.state());
        if now != than {
            return now;
        }
        states.changed().await;
    }
}

/// Waits until the server has confirmed the end of the session.
///
/// After a lost connection the confirmation may have been for nobody, so that is not taken for one.
async fn ended(mut states: StateWatcher, was_over: bool) -> Result<(), CoordinationError> {
    let mut lost = false;
    loop {
        match states.state() {
            SessionState::Closed if !lost => return Ok(()),
            SessionState::Closed => return Err(CoordinationError::ConnectionLoss),
            SessionState::Expired => {
                return Err(CoordinationError::SessionExpired { sent: !was_over });
            }
            SessionState::Disconnected => lost = true,
            _ => {}
        }
        states.changed().await;
    }
}

impl Coordination for WireSession {
    type Watched = WireWatch;

    fn id(&self) -> i64 {
        self.client.session_id().0
    }

    fn timeout(&self) -> Duration {
        self.client.session_timeout()
    }

    fn state(&self) -> SessionEvent {
        convert::session_event(self.client.state())
    }

    fn changed(&self, than: SessionEvent) -> impl Future<Output = SessionEvent> + 'static {
        left(self.client.state_watcher(), than)
    }

    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<String, CoordinationError>> + 'static {
        let (path, data) = (path.to_owned(), data.to_vec());
        let asked = path.clone();
        let options = convert::wire_mode(mode).with_acls(Acls::anyone_all());
        self.request(
            |client| async move { client.create(&path, &data, &options).await },
            move |(_, sequence)| {
                if mode.is_sequential() { format!("{asked}{sequence}") } else { asked }
            },
        )
    }

    fn get(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Vec<u8>, Stat), CoordinationError>> + 'static {
        let path = path.to_owned();
        self.request(
            |client| async move { client.get_data(&path).await },
            |(data, stat)| (data, convert::stat(&stat)),
        )
    }

    fn exists(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<Option<Stat>, CoordinationError>> + 'static {
        let path = path.to_owned();
        self.request(
            |client| async move { client.check_stat(&path).await },
            |stat| stat.as_ref().map(convert::stat),
        )
    }

    fn children(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<Vec<String>, CoordinationError>> + 'static {
        let path = path.to_owned();
        self.request(
            |client| async move { client.list_children(&path).await },
            |mut names: Vec<String>| {
                names.sort();
                names
            },
        )
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, CoordinationError>> + 'static {
        let (path, data) = (path.to_owned(), data.to_vec());
        self.request(
            move |client| async move { client.set_data(&path, &data, version).await },
            |stat| convert::stat(&stat),
        )
    }

    fn delete(
        &self,
        path: &str,
        version: Option<i32>,
    ) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        let path = path.to_owned();
        self.request(move |client| async move { client.delete(&path, version).await }, |done| done)
    }

    fn sync(&self, path: &str) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        let path = path.to_owned();
        self.request(|client| async move { client.sync(&path).await }, |done| done)
    }

    fn multi(
        &self,
        parts: Vec<MultiOp>,
    ) -> impl Future<Output = Result<Vec<MultiResult>, (Option<usize>, CoordinationError)>> + 'static
    {
        let (client, was_over) = (self.client.clone(), self.is_over());
        submit(async move { perform_multi(&client, &parts, was_over).await })
    }

    fn watch(
        &self,
        path: &str,
        watch: Watch,
    ) -> impl Future<Output = Result<WireWatch, CoordinationError>> + 'static {
        let path = path.to_owned();
        let asked = path.clone();
        self.request(
            move |client| async move {
                match watch {
                    Watch::Data => Ok(client.check_and_watch_stat(&path).await?.1),
                    Watch::Children => Ok(client.list_and_watch_children(&path).await?.1),
                }
            },
            |watcher| WireWatch { watcher, path: asked },
        )
    }

    fn close(self) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        let patience = self.timeout();
        let end = ended(self.client.state_watcher(), self.is_over());
        // The last handle on the session sends the request to close it.
        drop(self.client);
        async move {
            let late = Err(CoordinationError::ConnectionLoss);
            tokio::time::timeout(patience, end).await.unwrap_or(late)
        }
    }
}

impl Watched for WireWatch {
    async fn fired(self) -> WatchEvent {
        convert::watch_event(&self.watcher.changed().await, self.path)
    }
}

async fn perform_multi(
    client: &Client,
    parts: &[MultiOp],
    was_over: bool,
) -> Result<Vec<MultiResult>, (Option<usize>, CoordinationError)> {
    let mut writer = client.new_multi_writer();
    for (index, part) in parts.iter().enumerate() {
        let added = match part {
            MultiOp::Create { path, data, mode } => {
                let options = convert::wire_mode(*mode).with_acls(Acls::anyone_all());
                writer.add_create(path, data, &options)
            }
            MultiOp::Set { path, data, version } => writer.add_set_data(path, data, *version),
            MultiOp::Delete { path, version } => writer.add_delete(path, *version),
            MultiOp::Check { path, version } => writer.add_check_version(path, *version),
        };
        added.map_err(|error| (Some(index), of_request(error, was_over)))?;
    }
    let results = writer.commit().await.map_err(|error| of_multi(error, was_over))?;
    results.into_iter().map(convert::multi_result).collect()
}
