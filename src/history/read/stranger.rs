//! Files that are no history but are given for one by mistake: each is named for what it is, with what to
//! give instead.

use super::super::tape::{Cursor, Node};

/// The first bytes of files that hold no text.
const MAGICS: [(&[u8], &str); 9] = [
    (b"\x1f\x8b", "a file packed by gzip; unpack it with `gunzip` first"),
    (b"\xfd7zXZ\0", "a file packed by xz; unpack it with `unxz` first"),
    (b"BZh91AY&SY", "a file packed by bzip2; unpack it with `bunzip2` first"),
    (b"\x04\"M\x18", "a file packed by lz4; unpack it with `unlz4` first"),
    (b"PK\x03\x04", "a zip archive; unpack it with `unzip` first"),
    (b"JEPSEN", "a test as Jepsen stores it (test.jepsen); give the history.edn beside it"),
    (b"SQLite format", "an SQLite database"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture; give the history that it was drawn from"),
];

/// What a file of such first bytes is.
pub fn of_bytes(head: &[u8]) -> Option<&'static str> {
    MAGICS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, found)| *found)
}

/// What a text is of which no line begins with an operation.
pub fn of_text(text: &str) -> Option<&'static str> {
    const TAR: std::ops::Range<usize> = 257..262;
    let begin = text.trim_start();
    if text.as_bytes().get(TAR) == Some(b"ustar") {
        return Some("a tar archive; unpack it with `tar xf` first");
    }
    // A log's priority, `<14>`, is none.
    let is_tag = |next: char| next.is_alphabetic() || matches!(next, '!' | '?');
    if begin.strip_prefix('<').is_some_and(|rest| rest.starts_with(is_tag)) {
        return Some(
            "a page or picture, such as Jepsen's timeline.html or what porcupine draws; give the history \
             that it was drawn from",
        );
    }
    let mut commas = begin.lines().take(2).map(|line| line.matches(',').count());
    let is_table = !begin.lines().next().unwrap_or_default().contains(['\t', ':', '(', '{']);
    match (commas.next(), commas.next()) {
        (Some(first), Some(second)) if is_table && first >= 2 && first == second => Some(
            "a table of comma-separated values; write each event as a line \
             {\"type\":\"invoke\",\"process\":0,\"f\":\"read\",\"value\":null}, its type one of invoke, ok, fail \
             and info",
        ),
        _ => None,
    }
}

/// What the first map of a file is, if it is no operation.
pub fn of_map(map: Cursor) -> Option<&'static str> {
    let Node::Map { count, .. } = map.node() else { return None };
    let mut names = Vec::new();
    let mut key = map.inner();
    for _ in 0..count {
        names.extend(key.as_str());
        key = key.next().next();
    }
    let has = |wanted: &[&str]| wanted.iter().all(|name| names.contains(name));
    if has(&["type"]) {
        return None;
    }
    if has(&["valid?"]) {
        return Some("what a checker said (results.edn); give the history.edn beside it");
    }
    if has(&["verdict", "checkers"]) {
        return Some("the results of a run; give its folder");
    }
    if has(&["history"]) {
        return Some(
            "a map with a history in it; give what is under `history` alone, as a file of its own",
        );
    }
    if has(&["ClientId", "Call", "Return"]) || has(&["ClientId", "Kind", "Id"]) {
        return Some(
            "porcupine's own operations, which only its model understands; write each as two events, \
             {\"type\":\"invoke\",\"process\":0,\"f\":\"read\",\"value\":null} at its call and the same with `ok` \
             and what was read at its return",
        );
    }
    None
}
