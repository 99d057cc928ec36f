//! Client and server against each other and against scripts of bytes, over pipes in memory.

use std::cell::RefCell;

use futures::future::join;
use futures::io::{AsyncReadExt, AsyncWriteExt};
use tokio::io::DuplexStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use super::*;
use crate::rng::Rng;

type Pipe = Compat<DuplexStream>;

fn pipe() -> (Pipe, Pipe) {
    let (here, there) = tokio::io::duplex(64 << 10);
    (here.compat(), there.compat())
}

fn get(target: &str) -> Request {
    Request::new(Method::GET, "10.0.0.21:9379", target)
}

/// What a server of these bytes, which closes behind them, does to a client.
async fn against(answer: &[u8], request: Request) -> Result<Response, HttpError> {
    let (here, mut there) = pipe();
    let script = async move {
        let mut asked = Vec::new();
        while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
            let mut piece = [0; 1024];
            match there.read(&mut piece).await {
                Ok(count @ 1..) => asked.extend_from_slice(&piece[..count]),
                _ => break,
            }
        }
        let _ = there.write_all(answer).await;
        let _ = there.close().await;
        asked
    };
    join(send(here, request), script).await.0
}

/// All that the server says to these bytes, behind which the client closes its side.
async fn say(bytes: &[u8]) -> String {
    let (mut here, there) = pipe();
    let echo = |request: Received| async move {
        let text = format!("{} {} {}", request.method, request.path, request.body.len());
        Response::new(200, "text/plain", text)
    };
    let speak = async move {
        let _ = here.write_all(bytes).await;
        let _ = here.close().await;
        let mut said = Vec::new();
        let _ = here.read_to_end(&mut said).await;
        String::from_utf8_lossy(&said).into_owned()
    };
    join(serve_connection(there, echo), speak).await.1
}

#[tokio::test]
async fn a_request_reaches_the_handler_whole_and_its_answer_comes_back() {
    let (here, there) = pipe();
    let seen = RefCell::new(None);
    let server = serve_connection(there, |request| {
        *seen.borrow_mut() = Some(request);
        async {
            let mut answer = Response::new(307, "application/json; charset=utf-8", "{}");
            answer.headers.push(("Location".into(), "http://10.0.0.22:9379/x".into()));
            answer
        }
    });
    let request =
        Request::new(Method::POST, "10.0.0.21:9379", "/api/v1/x?a=b").with_json("{\"slot\":\"1\"}");
    let (answer, served) = join(send(here, request), server).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.status, &answer.body[..]), (307, &b"{}"[..]));
    assert_eq!(answer.header("LOCATION"), Some("http://10.0.0.22:9379/x"));
    assert_eq!(answer.header("date"), None);
    assert_eq!(served, Ok(()));
    let seen = seen.into_inner().expect("a request");
    assert_eq!((seen.method, seen.path.as_str()), (Method::POST, "/api/v1/x"));
    assert_eq!(seen.query.as_deref(), Some("a=b"));
    assert_eq!(&seen.body[..], b"{\"slot\":\"1\"}");
    assert!(seen.headers.contains(&("host".into(), "10.0.0.21:9379".into())));
}

#[tokio::test]
async fn whole_answers_of_all_framings_are_taken() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    ] {
        let answer = against(answer, get("/")).await.expect("an answer");
        assert_eq!((answer.status, answer.text().as_ref()), (200, "hello"));
    }
    let none = against(b"HTTP/1.1 204 No Content\r\n\r\n", get("/")).await.expect("an answer");
    assert_eq!((none.status, none.body.len()), (204, 0));
}

#[tokio::test]
async fn what_was_sent_without_a_whole_answer_was_perhaps_done() {
    for answer in [
        &b""[..],
        b"HTTP/1.1 20",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n",
    ] {
        let error = against(answer, get("/")).await.expect_err("no whole answer");
        let shown = answer.escape_ascii();
        assert!(matches!(error, HttpError::PerhapsDone(_)), "{shown}: {error:?}");
        assert!(!error.surely_not_done());
    }
}

#[tokio::test]
async fn an_answer_longer_than_allowed_is_not_kept() {
    let request = Request { longest_answer: 4, ..get("/") };
    let error = against(b"HTTP/1.1 200 OK\r\n\r\nhello", request).await.expect_err("too long");
    assert_eq!(error.to_string(), "no whole answer: status 200 OK with a body longer than 4 bytes");
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_told_apart() {
    for answer in [
        &b"SSH-2.0-OpenSSH_9.2\r\n"[..],
        b"-ERR unknown command\r\n",
        b"\0\x01\x02\x03\0\0\0\0\0\0",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhe\r\n",
    ] {
        let error = against(answer, get("/")).await.expect_err("no HTTP");
        let shown = answer.escape_ascii();
        assert!(matches!(error, HttpError::NotHttp(_)), "{shown}: {error:?}");
    }
}

#[tokio::test]
async fn nothing_is_sent_on_a_dead_connection_nor_of_a_request_that_cannot_be_written() {
    let (here, there) = pipe();
    drop(there);
    let error = send(here, get("/")).await.expect_err("dead");
    assert!(error.surely_not_done(), "{error:?}");
    let request = Request { host: "a\r\nb".into(), ..get("/") };
    for request in [get("/a b"), get(""), request] {
        let (here, mut there) = pipe();
        let mut read = Vec::new();
        let (answer, _) = join(send(here, request.clone()), there.read_to_end(&mut read)).await;
        let error = answer.expect_err("no request");
        assert!(error.surely_not_done(), "{request:?}: {error:?}");
        assert_eq!(read, b"");
    }
}

#[tokio::test]
async fn requests_on_one_connection_are_answered_in_turn() {
    let two = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    let said = say(two.as_bytes()).await;
    let (first, second) = (said.find("GET /a 0"), said.find("POST /b 2"));
    assert!(first.is_some() && first < second, "{said}");
}

#[tokio::test]
async fn garbage_giants_and_half_requests_do_not_reach_the_handler() {
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(200));
    let giant =
        format!("POST / HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n{}", "x".repeat(2_000_000));
    for (bytes, status) in [
        ("\u{1}\u{2}\u{3}\r\n\r\n", "400"),
        ("PING\r\n\r\n", "400"),
        (&long, "414"),
        (&many, "431"),
        (&giant, "413"),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"),
    ] {
        let said = say(bytes.as_bytes()).await;
        let shown = &bytes[..bytes.len().min(60)];
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{shown:?}: {said:?}");
    }
    assert_eq!(say(b"GET / HT").await, "");
    assert!(!say(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhe").await.contains("200"));
}

#[tokio::test]
async fn arbitrary_bytes_neither_panic_nor_hang() {
    let mut rng = Rng::from_seed(5);
    let words: &[&[u8]] = &[
        b"GET ",
        b"POST ",
        b"/",
        b" HTTP/1.1\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"\r\n",
        b"\r\n\r\n",
        b"Host: a",
        b"Content-Length: 3",
        b"Transfer-Encoding: chunked",
        b"3\r\nabc\r\n",
        b"0\r\n",
        b"\0",
        b"\xff",
        b"Connection: keep-alive",
        b"Expect: 100-continue",
        b"Upgrade: h2c",
        b"{\"a\":1}",
    ];
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..rng.below(14))
            .flat_map(|_| words[rng.below(words.len() as u64) as usize].iter().copied())
            .collect();
        say(&bytes).await;
        let _ = against(&bytes, get("/")).await;
    }
}
