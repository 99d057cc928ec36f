//! All forms of a history lead to the same events, and what is wrong with one is named.

mod any_bytes;
mod bad_input;
mod logs;
mod property;
mod recorded;
mod samples;
mod strangers;

use expect_test::{Expect, expect};

use super::super::{FrameEncoder, parse_line, write_edn, write_line, write_text};
use super::*;
use crate::{history, op};

use crate::op::{Key, Value};

const LINES: [&str; 6] = [
    r#"{"index":0,"time":10,"type":"invoke","process":0,"node":"n1","f":"cas","key":7,"value":[1,2]}"#,
    r#"{"index":1,"time":10,"type":"info","process":"nemesis","f":"cut","value":{"step":"begin"}}"#,
    r#"{"index":2,"time":11,"type":"invoke","process":1,"node":"n2","f":"read","key":8,"value":null}"#,
    r#"{"index":3,"time":12,"type":"ok","process":1,"node":"n2","f":"read","key":8,"value":3}"#,
    r#"{"index":4,"time":13,"type":"fail","process":0,"node":"n1","f":"cas","key":7,"value":[1,2],"error":"a \"b\""}"#,
    r#"{"index":5,"time":14,"type":"invoke","process":1,"node":"n2","f":"write","key":8,"value":4}"#,
];

fn events() -> Vec<Event> {
    LINES.iter().map(|line| parse_line(line, 0).expect(line)).collect()
}

fn packed(frames: &[&[Event]]) -> Vec<u8> {
    let mut encoder = FrameEncoder::new().expect("an encoder");
    let pack = |events: &&[Event]| {
        let mut lines = Vec::new();
        events.iter().for_each(|event| write_line(&mut lines, event));
        encoder.encode(&lines).expect("in memory")
    };
    frames.iter().flat_map(pack).collect()
}

fn written(write: impl Fn(&mut Vec<u8>, &Event)) -> Vec<u8> {
    let mut out = Vec::new();
    events().iter().for_each(|event| write(&mut out, event));
    out
}

fn sound(bytes: &[u8], keys: Keys) -> (Vec<Event>, Format) {
    let recording = read_with(bytes, "h", keys).expect("a history");
    assert_eq!(recording.damage, None);
    assert_eq!(recording.flaws, []);
    (recording.history.events().to_vec(), recording.format)
}

#[test]
fn every_form_is_told_and_read() {
    let events = events();
    let all = packed(&[&events[..2], &events[2..]]);
    assert_eq!(sound(&all, Keys::Plain), (events.clone(), Format::Packed));
    let lines = written(write_line);
    assert_eq!(sound(&lines, Keys::Plain), (events.clone(), Format::JsonLines));
    assert_eq!(sound(lines.trim_ascii_end(), Keys::Plain), (events.clone(), Format::JsonLines));
    for keys in [Keys::Plain, Keys::Independent] {
        let edn = written(|out, event| write_edn(out, event, keys));
        assert_eq!(sound(&edn, keys), (events.clone(), Format::Edn));
        let vector = [b"; a comment\n[", edn.as_slice(), b"]\n"].concat();
        assert_eq!(sound(&vector, keys), (events.clone(), Format::Edn));
    }
}

#[test]
fn the_text_form_keeps_what_it_has_columns_for() {
    let (read, format) = sound(&written(write_text), Keys::Independent);
    assert_eq!(format, Format::Text);
    let mut expected = events();
    for event in &mut expected {
        (event.time, event.node) = (0, None);
    }
    assert_eq!(read, expected);
}

#[test]
fn keys_in_values_are_taken_out_only_when_asked() {
    let edn = b"{:type :invoke, :process 0, :f :read, :value [\"a\" nil]}";
    let (event, _) = sound(edn, Keys::Independent);
    assert_eq!(
        (&event[0].key, &event[0].value),
        (&Some(Key::Text(std::sync::Arc::new("a".into()))), &Value::Nil)
    );
    let (event, _) = sound(edn, Keys::Plain);
    assert_eq!(event[0].key, None);
    assert!(matches!(event[0].value, Value::Json(_)));
}

/// Wherever a packed history ends, all events of whole frames are read, and damage is told.
#[test]
fn a_packed_history_is_readable_wherever_it_ends() {
    let events = events();
    let frames = [&events[..2], &events[2..3], &events[3..]];
    let ends: Vec<usize> = (1..=3).map(|count| packed(&frames[..count]).len()).collect();
    let bytes = packed(&frames);
    assert!(read(b"", "history.jsonl.zst").is_ok_and(|recording| recording.history.is_empty()));
    for end in 1..=bytes.len() {
        let recording = read(&bytes[..end], "h").unwrap_or_else(|error| panic!("{end}: {error}"));
        let whole = ends.iter().filter(|frame_end| **frame_end <= end).count();
        let sure: usize = frames[..whole].iter().map(|frame| frame.len()).sum();
        let read = recording.history.events();
        assert!(read.len() >= sure && *read == events[..read.len()], "cut at {end}");
        assert_eq!(recording.damage.is_none(), ends.contains(&end), "cut at {end}");
        assert_eq!(recording.flaws, []);
    }
}

#[test]
fn plain_lines_may_end_in_the_middle_of_one() {
    let bytes = written(write_line);
    for end in 1..=bytes.len() {
        let recording = read(&bytes[..end], "h").unwrap_or_else(|error| panic!("{end}: {error}"));
        let whole = bytes[..end].iter().filter(|byte| **byte == b'\n').count();
        let read = recording.history.events();
        assert!(read.len() - whole <= 1 && *read == events()[..read.len()], "cut at {end}");
        assert_eq!(recording.damage.is_some(), read.len() == whole && bytes[end - 1] != b'\n');
    }
}

fn check_error(bytes: &[u8], expected: Expect) {
    let error = read(bytes, "h.edn").expect_err("a bad history").to_string();
    expected.assert_eq(&error.replace(": ", ":\n"));
}

#[test]
fn what_is_no_history_is_named_with_what_is() {
    for (bytes, found) in [
        (&b""[..], "an empty file"),
        (b" \n", "nothing but blanks"),
        (b"\x7fELF\x01", "binary data"),
    ] {
        let error = read(bytes, "h.edn").expect_err(found).to_string();
        assert!(error.starts_with("h.edn: not a history: expected `history.jsonl.zst`"), "{error}");
        assert!(error.ends_with(&format!("found {found}")), "{error}");
    }
}

#[test]
fn errors_name_the_file_and_line_and_field() {
    check_error(
        b"once upon a time\n",
        expect![[r#"
            h.edn:
            line 1, column 1:
            not an operation:
            expected process, type, f and value, separated by tabs, found once upon a time"#]],
    );
    let broken = [LINES[0], r#"{"type":"ok","process":"x","f":"read"}"#, ""].join("\n");
    check_error(
        broken.as_bytes(),
        expect![[r#"
            h.edn:
            line 2, column 14:
            field `process`:
            expected a number, as other processes here have, or "nemesis", found "x""#]],
    );
    let cut = [LINES[0], &LINES[1][..20], LINES[2], ""].join("\n");
    check_error(
        cut.as_bytes(),
        expect![[r#"
            h.edn:
            line 2, column 21:
            not JSON:
            the line ends within a map"#]],
    );
    let lost = [LINES[0], r#"{"type":"ok","f":"read"}"#, ""].join("\n");
    check_error(
        lost.as_bytes(),
        expect![[r#"
            h.edn:
            line 2, column 1:
            field `process`:
            expected a number, a name or "nemesis", found nothing"#]],
    );
    let edn = b"[{:type :ok, :process 1, :f :read}\n {:type :okay,\n :process 1}]";
    check_error(
        edn,
        expect![[r#"
            h.edn:
            line 2, column 3:
            field `type`:
            expected invoke, ok, fail or info, found "okay""#]],
    );
    check_error(
        b"[{:type :ok, :process 1, :f :read}\n {:type :ok,\n \xff",
        expect![[r#"
            h.edn:
            line 3, column 2:
            not text:
            expected UTF-8, found other bytes"#]],
    );
    let edn = b"[{:type :ok, :process 1, :f :read}\n {:type :ok,\n :process]";
    check_error(
        edn,
        expect![[r#"
            h.edn:
            line 3, column 10:
            not EDN:
            `]` closes nothing"#]],
    );
    let events = events();
    let mut bytes = packed(&[&events[..2], &events[2..]]);
    let checksum = packed(&[&events[..2]]).len() - 1;
    bytes[checksum] ^= 1;
    check_error(
        &bytes,
        expect![[r#"
        h.edn:
        frame 1 at byte 0 is corrupted (Restored data doesn't match checksum) and frames follow it, so no crash did this:
        restore the file from a copy, or run the command in `repro.txt` again"#]],
    );
}

#[test]
fn an_edited_history_is_named_with_its_lines() {
    let mut edited: Vec<String> = LINES.iter().map(|line| line.to_string()).collect();
    edited.remove(2);
    let recording = read((edited.join("\n") + "\n").as_bytes(), "h").expect("readable");
    let flaws: Vec<String> = recording.flaws.iter().map(Flaw::to_string).collect();
    expect![[r#"
        line 3 (index 3): expected index 2
        line 3 (index 3): completes process 1, which has no operation under way"#]]
    .assert_eq(&flaws.join("\n"));
}

#[test]
fn histories_without_processes_or_names_are_read_as_elle_reads_them() {
    let edn =
        b"{:index 0 :type :invoke :value [[:r 1 nil]]}\n{:index 1 :type :ok :value [[:r 1 [2]]]}";
    let (events, _) = sound(edn, Keys::Plain);
    assert_eq!((&*events[1].f, events[1].process), ("txn", crate::op::Process::Client(0)));
}

#[test]
fn a_list_may_have_a_tag_as_its_operations_have() {
    for list in ["[{}]", " [{}]", "({})", "\n[#jepsen.history.Op{}]"] {
        let op = "{:type :invoke, :process 1, :f :read, :value #{3}}";
        let edn = format!("; a store\n#jepsen.history.DenseHistory{}", list.replace("{}", op));
        let (events, format) = sound(edn.as_bytes(), Keys::Plain);
        assert_eq!((events.len(), format), (1, Format::Edn), "{edn}");
    }
}

#[test]
fn a_compare_and_set_may_have_its_key_beside_what_it_swaps() {
    for (value, key, rest) in [
        (r#"["k1",null,"v1"]"#, "k1", r#"[null,"v1"]"#),
        (r#"["k1",[1,{"a":[2]}],[]]"#, "k1", r#"[[1,{"a":[2]}],[]]"#),
        (r#"["k1",[1,2]]"#, "k1", "[1,2]"),
    ] {
        let line =
            format!(r#"{{"index":0,"type":"invoke","process":1,"f":"cas","value":{value}}}"#);
        let (events, _) = sound(line.as_bytes(), Keys::Independent);
        assert_eq!(events[0].key, Some(Key::Text(std::sync::Arc::new(key.into()))));
        assert_eq!(crate::history::Datum::Value(&events[0].value).to_text(), rest);
        let (events, _) = sound(line.as_bytes(), Keys::Plain);
        assert_eq!(events[0].key, None);
    }
}
