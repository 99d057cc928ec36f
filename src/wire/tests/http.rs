//! HTTP's transcripts.

use expect_test::expect;

use super::*;

fn said(conversation: &[Said]) -> String {
    read(Protocol::Http, conversation)
}

#[test]
fn bodies_end_by_length_by_chunks_or_at_once() {
    let requests = "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc\
                    PUT /b?x=1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                    3;n=v\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n\
                    \r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n";
    let replies = "HTTP/1.1 201 Created\r\ncontent-length:2\r\n\r\nok\
                   HTTP/1.1 500 Server Error\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\
                   1\r\nx\r\n0\r\n\r\n\
                   HTTP/1.1 204 No Content\r\n\r\n";
    expect![[r#"
        > 1 POST /a ["POST", "/a"]
        > .
        > 2 PUT /b?x=1 ["PUT", "/b?x=1"]
        > .
        > 3 GET /c ["GET", "/c"]
        > .
        < 1 201 Created applied
        < .
        < 2 500 Server Error
        < .
        < 3 204 No Content applied
        < ."#]]
    .assert_eq(&said(&[client(requests), server(replies)]));
}

#[test]
fn some_replies_have_no_body_whatever_they_say() {
    let requests = "HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nPOST /c HTTP/1.1\r\n\r\n";
    let replies = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\
                   HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n\
                   HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let text = said(&[client(requests), server(replies)]);
    let replies = text.lines().filter(|line| line.starts_with('<') && *line != "< .");
    expect![[r#"
        < 1 200 OK applied
        < 2 304 Not Modified
        < - 100 Continue
        < 3 200 OK applied"#]]
    .assert_eq(&replies.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_body_without_a_length_lasts_as_long_as_the_connection() {
    let reply = "HTTP/1.0 200 OK\r\n\r\nHTTP/1.1 200 no reply but body";
    let text = said(&[client("GET / HTTP/1.0\r\n\r\n"), server(reply)]);
    assert!(text.ends_with("< 1 200 OK applied"), "{text}");
}

#[test]
fn an_upgraded_connection_and_a_tunnel_are_opaque() {
    let upgrade = "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
    let tunnel = "CONNECT x:1 HTTP/1.1\r\n\r\n";
    let cases = [
        (upgrade, "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        (tunnel, "HTTP/1.1 200 OK\r\n\r\n"),
    ];
    for (request, reply) in cases {
        let text = said(&[client(request), server([reply, "\u{1}\u{2}"].concat()), client("x")]);
        assert!(text.ends_with("< .\n< ?\n> ?"), "{text}");
    }
    let refused = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let text = said(&[client(upgrade), server(refused), client("GET / HTTP/1.1\r\n\r\n")]);
    assert!(text.ends_with("> 2 GET / [\"GET\", \"/\"]\n> ."), "{text}");
}

#[test]
fn what_is_no_request_is_opaque() {
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(HEAD_BYTES));
    let cases = [
        "\u{16}\u{3}",
        "get / HTTP/1.1\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/2\r\n\r\n",
        "GET / HTTP/1.1\r\nno field\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        &long,
    ];
    for bytes in cases {
        assert_eq!(said(&[client(bytes)]), "> ?", "{bytes:?}");
    }
    let chunks = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
    assert!(said(&[client(chunks)]).ends_with("> ?"));
}
