//! ZooKeeper's transcripts, from records written as its specification has them.

use expect_test::expect;

use super::*;

/// Writes jute.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub fn int(mut self, value: i32) -> Writer {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn long(mut self, value: i64) -> Writer {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn byte(mut self, value: u8) -> Writer {
        self.0.push(value);
        self
    }

    pub fn buffer(self, value: impl AsRef<[u8]>) -> Writer {
        let mut writer = self.int(value.as_ref().len() as i32);
        writer.0.extend(value.as_ref());
        writer
    }

    fn rights(self) -> Writer {
        self.int(1).int(31).buffer("world").buffer("anyone")
    }

    fn stat(self, version: i32) -> Writer {
        let before = self.long(1).long(2).long(3).long(4);
        before.int(version).int(0).int(0).long(0).int(1).int(0).long(2)
    }

    /// The record behind its length.
    pub fn frame(self) -> Vec<u8> {
        Writer::default().buffer(self.0).0
    }
}

fn write() -> Writer {
    Writer::default()
}

pub fn connect() -> Vec<u8> {
    write().int(0).long(0).int(6000).long(0).buffer([0; 16]).byte(0).frame()
}

pub fn connected() -> Vec<u8> {
    write().int(0).int(6000).long(0x1001).buffer([7; 16]).byte(0).frame()
}

pub fn set(number: i32, path: &str, value: &[u8]) -> Vec<u8> {
    write().int(number).int(5).buffer(path).buffer(value).int(-1).frame()
}

pub fn done(number: i32, version: i32) -> Vec<u8> {
    write().int(number).long(0x1_0000_0007).int(0).stat(version).frame()
}

fn failed(number: i32, error: i32) -> Vec<u8> {
    write().int(number).long(9).int(error).frame()
}

fn opened() -> Vec<Said> {
    vec![client(connect()), server(connected())]
}

fn read_opened(rest: Vec<Said>) -> String {
    let text = read(Protocol::Zookeeper, &[opened(), rest].concat());
    text.lines().skip(4).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_session_is_opened_with_the_first_records() {
    expect![[r#"
        > 1 connect session=0x0 timeout=6000 ["connect"]
        > .
        < 1 ok session=0x1001 timeout=6000 applied
        < ."#]]
    .assert_eq(&read(Protocol::Zookeeper, &opened()));
    let expired = write().int(0).int(0).long(0).buffer([0; 16]).byte(0).frame();
    let text = read(Protocol::Zookeeper, &[client(connect()), server(expired)]);
    assert!(text.ends_with("< 1 error SessionExpired\n< ."), "{text}");
}

#[test]
fn replies_find_their_requests_past_events_and_pings() {
    let ping = write().int(-2).int(11).frame();
    let requests = [set(1, "/r/3", b"17"), ping, set(2, "/r/3", b"18")].concat();
    let event = write().int(-1).long(-1).int(0).int(3).int(3).buffer("/r/3").frame();
    let pong = write().int(-2).long(7).int(0).frame();
    let replies = [pong, done(1, 4), event, failed(2, -103)].concat();
    expect![[r#"
        > 2 set /r/3 = "17" ["set", "/r/3"]
        > .
        > 3 ping ["ping"]
        > .
        > 4 set /r/3 = "18" ["set", "/r/3"]
        > .
        < 3 ok zxid=0x7
        < .
        < 2 ok zxid=0x100000007 version=4 applied
        < .
        < - no reply to a request
        < .
        < 4 error BadVersion
        < ."#]]
    .assert_eq(&read_opened(vec![client(requests), server(replies)]));
}

#[test]
fn every_operation_has_its_words() {
    let header = |operation| write().int(1).int(operation);
    let part = |writer: Writer, operation| writer.int(operation).byte(0).int(-1);
    let multi = part(header(14), 1).buffer("/a").buffer("1").rights().int(0);
    let multi = part(multi, 5).buffer("/b").buffer("2").int(3);
    let multi = part(multi, 13).buffer("/c").int(-1);
    let multi = part(multi, 2).buffer("/d").int(7).int(-1).byte(1).int(-1);
    let requests = [
        header(1).buffer("/a").buffer("x\n").rights().int(1),
        header(2).buffer("/a").int(-1),
        header(3).buffer("/a").byte(1),
        header(4).buffer("/a").byte(0),
        header(12).buffer("/a").byte(0),
        header(9).buffer("/a"),
        multi,
        write().int(-4).int(100).int(0).buffer("digest").buffer("secret"),
        write().int(-8).int(101).long(5),
        header(-11),
        header(77),
    ];
    let requests = requests.map(Writer::frame).concat();
    let text = read_opened(vec![client(requests)]);
    let heads: Vec<&str> = text.lines().filter(|line| *line != "> .").collect();
    expect![[r#"
        > 2 create /a = "x\n" ["create", "/a"]
        > 3 delete /a ["delete", "/a"]
        > 4 exists /a ["exists", "/a"]
        > 5 get /a ["get", "/a"]
        > 6 children /a ["children", "/a"]
        > 7 sync /a ["sync", "/a"]
        > 8 multi [create /a = "1", set /b = "2" if version=3, check /c, delete /d if version=7] ["multi", "/a", "/b", "/c", "/d"]
        > 9 auth ["auth"]
        > 10 set-watches ["set-watches"]
        > 11 close ["close"]
        > 12 operation77 ["operation77"]"#]]
    .assert_eq(&heads.join("\n"));
}

#[test]
fn replies_say_what_was_done() {
    let ask = |operation| write().int(1).int(operation).buffer("/a").frame();
    let ok = || write().int(1).long(5).int(0);
    let end = |writer: Writer| writer.int(-1).byte(1).int(-1);
    let multi_failed = ok().int(-1).byte(0).int(0).int(0).int(-1).byte(0).int(-101).int(-101);
    let cases = [
        (1, ok().buffer("/a")),
        (4, ok().buffer("17").stat(3)),
        (8, ok().int(2).buffer("x").buffer("y")),
        (3, write().int(1).long(5).int(-101)),
        (2, ok()),
        (14, end(ok().int(2).byte(0).int(0))),
        (14, end(multi_failed)),
        (5, write().int(1).long(5).int(-9999)),
    ];
    let conversation =
        cases.map(|(operation, reply)| vec![client(ask(operation)), server(reply.frame())]);
    let text = read_opened(conversation.concat());
    let replies = text.lines().filter(|line| line.starts_with('<') && *line != "< .");
    expect![[r#"
        < 2 ok zxid=0x5 path=/a applied
        < 3 ok zxid=0x5 version=3 "17"
        < 4 ok zxid=0x5 children=2
        < 5 error NoNode
        < 6 ok zxid=0x5 applied
        < 7 ok zxid=0x5 applied
        < 8 error NoNode
        < 9 error -9999"#]]
    .assert_eq(&replies.collect::<Vec<_>>().join("\n"));
}

#[test]
fn large_records_are_judged_by_their_head() {
    let large = set(1, "/big", &vec![b'x'; 3 * HEAD_BYTES]);
    let text = read_opened(vec![client(&large), server(done(1, 1))]);
    let shown = "x".repeat(60);
    assert!(text.starts_with(&format!("> 2 set /big = \"{shown}\"… (")), "{text}");
    assert!(text.contains("\n> .\n< 2 ok zxid=0x100000007 version=1 applied"), "{text}");
}

#[test]
fn what_is_no_record_is_opaque() {
    for word in ["ruok", "srvr", "GET / HTTP/1.1\r\n\r\n"] {
        assert_eq!(read(Protocol::Zookeeper, &[client(word), server("imok")]), "> ?\n< ?");
    }
    let election = [0, 0, 0, 11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(read(Protocol::Zookeeper, &[client(election)]), "> ?");
    let giant = write().int(0x7fff_ffff).0;
    assert_eq!(read_opened(vec![client(giant)]), "> ?");
    let negative = write().int(-5).0;
    // Once replies cannot be read, requests are no longer read either.
    let lost = read_opened(vec![server(negative), client(set(1, "/a", b""))]);
    assert_eq!(lost, "< ?\n> ?");
}

#[test]
fn a_forgotten_request_awaits_nothing_and_a_repeated_one_two_replies() {
    let mut dialogue = Dialogue::new(Protocol::Zookeeper);
    let mut lines = Vec::new();
    feed(&mut dialogue, 0, &connect(), &mut lines);
    feed(&mut dialogue, 1, &connected(), &mut lines);
    feed(&mut dialogue, 0, &[set(1, "/a", b""), set(2, "/b", b"")].concat(), &mut lines);
    dialogue.forget(2);
    assert_eq!(dialogue.repeat(3), Some(4));
    lines.clear();
    feed(&mut dialogue, 1, &[done(2, 1), done(2, 2)].concat(), &mut lines);
    let heads: Vec<&str> = lines.iter().map(|line| &line[..3]).collect();
    assert_eq!(heads, ["< 3", "< .", "< 4", "< ."]);
}
