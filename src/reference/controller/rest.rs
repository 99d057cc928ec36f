//! The REST interface: who asks a follower is sent to the leader, and yet gets the work done, as by the real
//! one. Its variants that bind writes to the office only redirect them.

mod answer;
mod body;
mod clusters;
mod metrics;
mod namespaces;
mod route;
mod shards;

use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use futures::channel::oneshot;

use super::Shared;
use crate::http::{Method, Received, Response, serve_connection};
use crate::reference::ControllerVariant;
use crate::reference::host::{Host, Listener};

/// After a failure to take a connection it waits so long.
const REST: Duration = Duration::from_millis(100);

/// Takes connections until the process ends.
pub async fn serve<H: Host>(shared: Rc<Shared<H>>) -> anyhow::Result<()> {
    let port = shared.config.addr.port();
    let listening = shared.host.listen(port).await;
    let mut listener = listening.with_context(|| format!("cannot listen on port {port}"))?;
    let requests = Rc::new(metrics::Requests::default());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            shared.host.sleep(REST).await;
            continue;
        };
        let (serving, requests) = (shared.clone(), requests.clone());
        shared.host.run(async move {
            let handler = |request| answer(serving.clone(), requests.clone(), request);
            // How a connection ends tells nobody anything.
            let _ = serve_connection(stream, handler).await;
        });
    }
}

/// What was begun is finished, whether or not the client still waits.
async fn answer<H: Host>(
    shared: Rc<Shared<H>>,
    requests: Rc<metrics::Requests>,
    request: Received,
) -> Response {
    let (sender, done) = oneshot::channel();
    let host = shared.host.clone();
    let time = jiff::Timestamp::from_millisecond(host.wall_ms()).unwrap_or_default();
    host.run(async move {
        let answer = perform(&shared, &requests, &request).await;
        requests.count(answer.status);
        let _ = sender.send(answer);
    });
    let mut answer = done.await.unwrap_or_else(|_| Response::new(500, answer::TEXT, ""));
    let date = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    answer.headers.push(("Date".to_owned(), date));
    answer
}

async fn perform<H: Host>(
    shared: &Rc<Shared<H>>,
    requests: &metrics::Requests,
    request: &Received,
) -> Response {
    let leadership = &shared.leadership;
    if leadership.is_leader() {
        return route::route(shared, requests, request).await;
    }
    let query = request.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    let target = format!("{}{query}", request.path);
    let reads = request.method == Method::GET;
    let only_redirects = matches!(
        shared.config.variant,
        ControllerVariant::Fenced | ControllerVariant::WallClockLease
    );
    let right = format!("http://{}{target}", leadership.leader_addr());
    if !reads && only_redirects {
        return answer::located(Response::new(307, answer::TEXT, ""), right);
    }
    let done = route::route(shared, requests, request).await;
    match reads {
        true => answer::located(answer::redirected(&right, &done), right),
        // Id and all, which is no address.
        false => answer::located(done, format!("http://{}{target}", leadership.leader())),
    }
}
