//! Jepsen's `history.txt` and logs, as its versions write them: operations with other lines between them.

use expect_test::{Expect, expect};

use super::super::{ReadOptions, Recording, stream};
use crate::history::write_text;
use crate::op::Process;
use std::ops::ControlFlow;

/// The operations that are read, and what was passed over.
fn read(text: &str) -> String {
    let mut out = Vec::new();
    let summary = stream(text.as_bytes(), "h", &ReadOptions::default(), &mut |head, value| {
        let event = crate::op::Event { value: value.to_value(), ..head.clone() };
        write_text(&mut out, &event);
        ControlFlow::Continue(())
    });
    let told = summary.map(|summary| summary.passed_over.to_string());
    format!("{}{}", String::from_utf8_lossy(&out), told.unwrap_or_else(|error| error.to_string()))
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&read(text));
}

/// The same operations in each form that consoles and files have had.
#[test]
fn every_form_of_jepsens_logs_is_read() {
    for (first, second) in [
        ("INFO  jepsen.util - ", "INFO  jepsen.util - "),
        (
            "INFO [2018-02-04 22:13:53,377] jepsen worker 4 - jepsen.util ",
            "INFO [2018-02-04 22:14:06,936] jepsen nemesis - jepsen.util ",
        ),
        ("INFO\t[jepsen worker 4] jepsen.util: ", "INFO\t[jepsen nemesis] jepsen.util: "),
        (
            "2018-02-04 22:13:53,377{GMT}\tINFO\t[jepsen worker 4] jepsen.util: ",
            "2018-02-04 22:14:06,936{GMT}\tINFO\t[jepsen nemesis] jepsen.util: ",
        ),
        ("2026-05-09T12:00:01.0Z INFO [a] jepsen worker 4 - jepsen.util ", "control-1  | "),
        ("<14>Feb  4 n1 jepsen: ", "<14>Feb  4 n1 jepsen: "),
        ("[jepsen worker 4] jepsen.util: ", "[jepsen nemesis] jepsen.util: "),
        ("\u{1b}[32mINFO \u{1b}[0m [jepsen worker 4] jepsen.util: ", "[jepsen nemesis] x: "),
    ] {
        for gap in ["\t", "   "] {
            let text = format!(
                "{first}a test of 3 nodes - begins, 2 ok INFO\n\
                 {first}4{gap}:invoke{gap}:add{gap}2\n\
                 \n\
                 WARN [2018-02-04 22:13:53,377] jepsen worker 4 - jepsen.core it is late\n\
                 java.lang.Exception: late\n\tat jepsen.core$run.invoke(core.clj:20)\n\
                 {second}:nemesis{gap}:info{gap}:stop{gap}\"n1\"\n\
                 ...\n\
                 {first}4{gap}:info{gap}:add{gap}2{gap}\"in 5 s\"\n"
            );
            assert_eq!(
                read(&text),
                "4\t:invoke\t:add\t2\n:nemesis\t:info\t:stop\t\"n1\"\n4\t:info\t:add\t2\t\"in 5 s\"\n\
                 5 entries are no operations and were passed over, the first in line 1",
                "{text}"
            );
        }
    }
}

#[test]
fn an_error_goes_on_in_the_next_lines() {
    check(
        "0\t:invoke\t:read\tnil\n\
         0\t:info\t:read\tnil\tindeterminate: Assert failed: expected {:type :ok} (or\n\
         (= t :ok) (= t :fail)\n\
         \n\
         \tat jepsen.core$invoke (core.clj:7)\n\
         1\t:ok\t:read\t3\n",
        expect![[r#"
            0	:invoke	:read	nil
            0	:info	:read	nil	"indeterminate: Assert failed: expected {:type :ok} (or"
            1	:ok	:read	3
            2 entries are no operations and were passed over, the first in line 3"#]],
    );
    // Behind an operation without an error, a line that is none is damage.
    check(
        "0\t:info\t:read\tnil\tlate\n0\t:ok\t:read\t7\n1\t:okay\t:read\t7\n",
        expect![[r#"
            0	:info	:read	nil	"late"
            0	:ok	:read	7
            h: line 3, column 1: not an operation: expected process, type, f and value, separated by tabs, found 1	:okay	:read	7"#]],
    );
}

#[test]
fn an_error_is_text_or_a_value_and_further_columns_are_none() {
    check(
        "0\t:fail\t:read\tnil\t[:timeout 5]\n0\t:fail\t:read\tnil\tno (such node\n\
         0\t:ok\t:read\t7\t:hint 2\n0\t:fail\t:cas\t:timed-out\n",
        expect![[r#"
            0	:fail	:read	nil	"[\"timeout\",5]"
            0	:fail	:read	nil	"no (such node"
            0	:ok	:read	7
            0	:fail	:cas	nil	"timed-out"
            all of it is operations"#]],
    );
}

#[test]
fn processes_may_have_names() {
    for text in [
        ":w1\t:invoke\t:read\tnil\nclient-2\t:invoke\t:read\tnil\n:nemesis\t:info\t:stop\tnil\n",
        "w1 :invoke :read nil\n10.0.0.1:80 :ok :read 7\nnemesis :info :stop nil\n",
        "\"w1\"\t:invoke\t:read\tnil\n\"b\"\t:ok\t:read\t7\n\"nemesis\"\t:info\t:stop\tnil\n",
        "INFO  jepsen.util - w1\t:invoke\t:read\tnil\nINFO  jepsen.util - :b\t:ok\t:read\t7\n\
         INFO  jepsen.core - done :ok :read\nINFO  jepsen.util - :nemesis :info :stop nil\n",
    ] {
        let read = Recording::read(text.as_bytes(), "h", &ReadOptions::default()).expect(text);
        let processes: Vec<Process> =
            read.history.events().iter().map(|event| event.process).collect();
        assert_eq!(processes, [Process::Client(0), Process::Client(1), Process::Nemesis], "{text}");
    }
}
