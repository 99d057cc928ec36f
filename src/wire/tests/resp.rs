//! RESP's transcripts.

use expect_test::expect;

use super::*;

fn said(conversation: &[Said]) -> String {
    read(Protocol::Resp, conversation)
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let requests = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n1\r\n2\r\n*1\r\n$4\r\nPING\r\nGET  b\r\n";
    expect![[r#"
        > 1 SET a 1\r\n2 ["SET", "a", "1\\r\\n2"]
        > .
        > 2 PING ["PING"]
        > .
        > 3 GET b ["GET", "b"]
        > .
        < 1 OK applied
        < .
        < 2 error ERR no
        < .
        < 3 nil applied
        < ."#]]
    .assert_eq(&said(&[client(requests), server("+OK\r\n-ERR no\r\n$-1\r\n")]));
}

#[test]
fn replies_of_every_type_are_one_reply_each() {
    let replies = [
        "*2\r\n*2\r\n:1\r\n$1\r\nx\r\n*0\r\n",
        "*-1\r\n",
        "$0\r\n\r\n",
        "%1\r\n+k\r\n,1.5\r\n",
        "~1\r\n#t\r\n",
        "!5\r\nERR x\r\n",
        ">2\r\n+invalidate\r\n_\r\n:7\r\n",
        "*10\r\n:0\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n:9\r\n",
    ];
    let requests = "*1\r\n$1\r\nX\r\n".repeat(replies.len());
    let text = said(&[client(requests), server(replies.concat())]);
    let replies = text.lines().filter(|line| line.starts_with('<') && *line != "< .");
    expect![[r#"
        < 1 [[1, "x"], []] applied
        < 2 nil applied
        < 3 "" applied
        < 4 [k, 1.5] applied
        < 5 [t] applied
        < 6 error "ERR x"
        < - [invalidate, nil] applied
        < 7 7 applied
        < 8 [0, 1, 2, 3, 4, 5, 6, 7, …] applied"#]]
    .assert_eq(&replies.collect::<Vec<_>>().join("\n"));
}

#[test]
fn subscriptions_end_the_order_behind_what_was_asked_before() {
    let requests = "*1\r\n$4\r\nPING\r\n*2\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n*1\r\n$1\r\nX\r\n";
    let replies = "+PONG\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n";
    expect![[r#"
        > 1 PING ["PING"]
        > .
        > ?
        < 1 PONG applied
        < .
        < ?"#]]
    .assert_eq(&said(&[client(requests), server(replies)]));
}

#[test]
fn empty_requests_are_not_answered() {
    let text = said(&[client("\r\n*0\r\nPING\n"), server("+PONG\r\n")]);
    assert!(text.ends_with("> 3 PING [\"PING\"]\n> .\n< 3 PONG applied\n< ."), "{text}");
}

#[test]
fn large_values_are_judged_by_their_head() {
    let value = "x".repeat(3 * HEAD_BYTES);
    let length = value.len();
    let request = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${length}\r\n{value}\r\n");
    let reply = format!("${length}\r\n{value}\r\n");
    let text = said(&[client(request), server(reply)]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("> 1 SET k xxx") && lines[0].len() < 1400, "{text}");
    assert!(lines[2].starts_with("< 1 \"xxx"), "{text}");
    assert_eq!((lines[1], lines[3], lines.len()), ("> .", "< .", 4));
}

#[test]
fn what_is_no_request_is_opaque() {
    let cases: [&[u8]; 9] = [
        &[0x16, 3, 1],
        b"*x\r\n",
        b"*1\r\n+OK\r\n",
        b"*1\r\n$-7\r\n",
        b"*1\r\n$1\r\nabc\r\n",
        b"*1\r\n$99999999999\r\n",
        b"*1\n",
        b"GET \x01\r\n",
        &[b'a'; HEAD_BYTES + 9],
    ];
    for bytes in cases {
        let text = said(&[client(bytes)]);
        assert!(text.ends_with("> ?"), "{:?}: {text}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn what_is_no_reply_is_opaque() {
    let ping = "*1\r\n$4\r\nPING\r\n";
    let deep = "*1\r\n".repeat(40);
    for reply in ["PONG\r\n", "$x\r\n", "*1\r\n?", &deep, "+OK\n"] {
        let text = said(&[client(ping), server(reply), client(ping)]);
        assert_eq!(text, "> 1 PING [\"PING\"]\n> .\n< ?\n> ?", "{reply:?}");
    }
}
