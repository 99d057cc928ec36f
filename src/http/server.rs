//! The connections of a server: requests in, answers out, one after the other.

use std::convert::Infallible;

use bytes::Bytes;
use futures::io::{AsyncRead, AsyncWrite};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, StatusCode};

use super::Response;
use super::adapter::Adapter;
use super::client::{explained, texts};

/// A request's body may be so long.
const LONGEST_BODY: usize = 1 << 20;

/// What a server was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub method: Method,
    pub path: String,
    pub query: Option<String>,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// Answers the requests of one connection until it ends; an error tells why it ended early.
///
/// What is no HTTP, or too long, is answered by 400, 413, 414 or 431 and never reaches the handler. A client that
/// closes its side after it has asked still gets its answer.
pub async fn serve_connection<S, A>(
    stream: S,
    handler: impl Fn(Received) -> A,
) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Future<Output = Response>,
{
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let handler = &handler;
        async move {
            let answer = match received(request).await {
                Ok(request) => handler(request).await,
                Err(refusal) => refusal,
            };
            Ok::<_, Infallible>(built(answer))
        }
    });
    let mut builder = http1::Builder::new();
    // The header `date` would be read from the machine's own clock.
    builder.half_close(true).auto_date_header(false).title_case_headers(true);
    let served = builder.serve_connection(Adapter::new(stream), service).await;
    served.map_err(|error| explained(&error))
}

async fn received(request: hyper::Request<Incoming>) -> Result<Received, Response> {
    let (head, body) = request.into_parts();
    let refused = |status, why: String| Response::new(status, "text/plain; charset=utf-8", why);
    let body =
        Limited::new(body, LONGEST_BODY).collect().await.map_err(|error| match error
            .is::<LengthLimitError>(
        ) {
            true => refused(413, format!("a body of at most {LONGEST_BODY} bytes is taken")),
            false => refused(400, explained(&*error)),
        })?;
    Ok(Received {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        headers: texts(&head.headers),
        body: body.to_bytes(),
    })
}

/// Headers that cannot be written are left out.
fn built(response: Response) -> hyper::Response<Full<Bytes>> {
    let mut built = hyper::Response::new(Full::new(response.body));
    *built.status_mut() =
        StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &response.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            built.headers_mut().append(name, value);
        }
    }
    built
}
