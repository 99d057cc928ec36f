//! `check --html`: one page that needs nothing else, and stays small.

use std::fmt::Write;

use super::STALE;
use crate::binary::Folder;

#[test]
fn a_page_tells_the_verdict_and_draws_the_anomaly() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    let said = folder.run("check stale.jsonl --html page.html");
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{said:?}");
    let page = folder.read("page.html");
    for part in
        ["Invalid", "stale-read", "<svg class=\"timeline\"", "exit code <b>1</b>", "register"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script") && !page.contains("src="), "something is loaded");
    folder.run("check stale.jsonl --html again.html");
    assert_eq!(page, folder.read("again.html"));
    let said = folder.run("check stale.jsonl --html nowhere/page.html");
    assert!(said.err.contains("cannot write nowhere/page.html: "), "{said:?}");
    assert_eq!(said.code, Some(64));
}

#[test]
fn a_page_is_bounded_whatever_the_history() {
    let folder = Folder::new();
    let mut text = String::new();
    let mut index = 0;
    let mut line = |kind: &str, process: usize, f: &str, key: usize, value: &str| {
        let _ = writeln!(
            text,
            r#"{{"index":{index},"time":{},"type":"{kind}","process":{process},"f":"{f}","key":{key},"value":{value}}}"#,
            index * 1_000_000
        );
        index += 1;
    };
    // On each key a stale read, with long words.
    for key in 0..400 {
        let value = format!("\"{}{key}\"", "long ".repeat(200));
        line("invoke", 0, "write", key, &value);
        line("ok", 0, "write", key, &value);
        line("invoke", 1, "read", key, "null");
        line("ok", 1, "read", key, "null");
    }
    folder.write("long.jsonl", text);
    let said = folder.run("check long.jsonl --html page.html");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.lines().count() < 120, "{}", said.out);
    let page = folder.read("page.html");
    assert!((50_000..300_000).contains(&page.len()), "{} bytes", page.len());
}

#[test]
fn a_history_without_times_is_drawn_by_its_events() {
    let folder = Folder::new();
    let timeless: String = STALE
        .lines()
        .zip(1..)
        .map(|(line, time)| line.replace(&format!("\"time\":{time}000000,"), "") + "\n")
        .collect();
    assert!(!timeless.contains("time"));
    folder.write("timeless.jsonl", timeless);
    assert_eq!(folder.run("check timeless.jsonl --html page.html").code, Some(1));
    let page = folder.read("page.html");
    assert!(page.contains("its events are told and drawn by their indices"), "no word of it");
    assert!(page.contains("event 0 to event 3"), "the anomaly has no place");
    assert!(!page.contains(".0 s") && !page.contains(".000 s"), "times are invented");
}
