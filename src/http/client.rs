//! One request on one connection, and what can be said when no answer comes.

use std::error::Error;
use std::pin::pin;

use bytes::Bytes;
use futures::future::{Either, select};
use futures::io::{AsyncRead, AsyncWrite};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderMap};

use super::adapter::Adapter;
use super::{Request, Response};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Not one byte left: surely nothing was done.
    #[error("the request was not sent: {0}")]
    NotSent(String),
    /// The request, or part of it, was sent, and no whole answer came: it may have been done.
    #[error("no whole answer: {0}")]
    PerhapsDone(String),
    /// Something answered that is no HTTP. The request was sent, so it may have been done.
    #[error("the answer is no HTTP: {0}")]
    NotHttp(String),
}

impl HttpError {
    /// True if the request surely had no effect.
    pub fn surely_not_done(&self) -> bool {
        matches!(self, HttpError::NotSent(_))
    }
}

/// Sends a request on a fresh connection and reads the answer; the connection is not used again.
///
/// A redirect is an answer like any other. If this is dropped before it is done, then the request may have
/// been sent.
pub async fn send<S>(stream: S, request: Request) -> Result<Response, HttpError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let adapter = Adapter::new(stream);
    let wrote = adapter.wrote();
    let failure = |error: &(dyn Error + 'static)| match wrote.any() {
        false => HttpError::NotSent(explained(error)),
        true if is_no_http(error) => HttpError::NotHttp(explained(error)),
        true => HttpError::PerhapsDone(explained(error)),
    };
    let longest = request.longest_answer;
    let request = built(request).map_err(|error| failure(&error))?;
    let (mut sender, connection) =
        http1::handshake(adapter).await.map_err(|error| failure(&error))?;
    let exchange = pin!(async {
        let (head, body) =
            sender.send_request(request).await.map_err(|error| failure(&error))?.into_parts();
        let body =
            Limited::new(body, longest).collect().await.map_err(|error| match error
                .is::<LengthLimitError>()
            {
                true => HttpError::PerhapsDone(format!(
                    "status {} with a body longer than {longest} bytes",
                    head.status
                )),
                false => failure(&*error),
            })?;
        let (status, headers) = (head.status.as_u16(), texts(&head.headers));
        Ok(Response { status, headers, body: body.to_bytes() })
    });
    // The connection does the work; what it came to is told to the exchange.
    match select(exchange, pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((_, exchange)) => exchange.await,
    }
}

fn built(request: Request) -> Result<hyper::Request<Full<Bytes>>, hyper::http::Error> {
    let mut builder = hyper::Request::builder()
        .method(request.method)
        .uri(request.target)
        .header(HOST, request.host)
        .header(CONNECTION, "close");
    for (name, value) in request.headers {
        builder = builder.header(name, value);
    }
    builder.body(Full::new(request.body))
}

pub fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}

/// Whether bytes came that no HTTP/1 server sends; a connection that ends or breaks is not that.
fn is_no_http(error: &(dyn Error + 'static)) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput};
    causes(error).any(|cause| {
        let parsed = cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
        let chunked = cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| matches!(error.kind(), InvalidData | InvalidInput));
        parsed || chunked
    })
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}

/// An error with its causes, which hyper's own text leaves out.
pub fn explained(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
