//! Answers in the real one's form: `{"data":…}` or `{"error":{"message":…},"data":null}`.

use serde::Serialize;

use super::super::document::json;
use super::super::failure::Failure;
use crate::http::Response;

pub const JSON: &str = "application/json; charset=utf-8";
pub const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

#[derive(Serialize)]
struct Data<T> {
    data: T,
}

#[derive(Serialize)]
struct Named<T> {
    error: Error<T>,
    data: (),
}

#[derive(Serialize)]
struct Error<T> {
    message: T,
}

/// One value under a name.
pub fn one(name: &'static str, value: impl Serialize) -> impl Serialize {
    std::collections::BTreeMap::from([(name, value)])
}

pub fn ok(data: impl Serialize) -> Response {
    Response::new(200, JSON, json(&Data { data }))
}

pub fn created(data: impl Serialize) -> Response {
    Response::new(201, JSON, json(&Data { data }))
}

pub fn no_content() -> Response {
    Response::new(204, JSON, "")
}

pub fn failed(failure: &Failure) -> Response {
    let body = Named { error: Error { message: &failure.message }, data: () };
    Response::new(failure.status, JSON, json(&body))
}

/// A body that could not be read: the real one has begun an answer of text by then.
pub fn unreadable(message: String) -> Response {
    let body = failed(&Failure::bad_request(message)).body;
    Response::new(400, TEXT, body)
}

pub fn located(mut answer: Response, location: String) -> Response {
    answer.headers.push(("Location".to_owned(), location));
    answer
}

/// A redirect's page with what was answered all the same behind it.
pub fn redirected(to: &str, done: &Response) -> Response {
    let mut escaped = String::new();
    for letter in to.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    let page = format!("<a href=\"{escaped}\">Temporary Redirect</a>.\n\n");
    let body = [page.as_bytes(), &done.body].concat();
    Response::new(307, HTML, body)
}
