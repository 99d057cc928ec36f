//! HTTP/1.1 over any stream of bytes: one request of a client, the connections of a server.
//!
//! hyper does the protocol. A ready-made client such as reqwest would be less work, but it dials for itself,
//! on real sockets and a real clock; here a stream of either world is handed in, and no timer is inside:
//! who calls bounds the time. Nothing is retried and no redirect is followed, since a server that redirects
//! may have done the work already.

mod adapter;
mod client;
mod server;
#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use client::{HttpError, send};
pub use hyper::Method;
pub use server::{Received, serve_connection};

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    /// For the `Host` header: `10.0.0.21:9379`.
    pub host: String,
    /// Path and query: `/api/v1/namespaces`.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// An answer's body may be so long.
    pub longest_answer: usize,
}

impl Request {
    const LONGEST_ANSWER: usize = 4 << 20;

    pub fn new(method: Method, host: impl Into<String>, target: impl Into<String>) -> Request {
        Request {
            method,
            host: host.into(),
            target: target.into(),
            headers: Vec::new(),
            body: Bytes::new(),
            longest_answer: Request::LONGEST_ANSWER,
        }
    }

    /// With a JSON document as its body.
    pub fn with_json(mut self, document: impl Into<Bytes>) -> Request {
        self.headers.push(("content-type".to_owned(), "application/json".to_owned()));
        self.body = document.into();
        self
    }
}

/// A whole answer: what a client got, or what a server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Names in small letters when they were received.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Response {
    pub fn new(status: u16, content_type: &str, body: impl Into<Bytes>) -> Response {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Response { status, headers, body: body.into() }
    }

    /// The first header of this name, however it is written.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}
