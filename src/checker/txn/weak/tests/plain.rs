//! Histories in AWDIT's text form: `r KEY VALUE` and `w KEY VALUE`, transactions parted by dashes,
//! sessions by equal signs; and in Plume's, `w(KEY,VALUE,SESSION,TRANSACTION)`.

use crate::checker::txn::table::{Shape, Table};
use crate::history::Datum;
use crate::op::{Event, Kind, Process};

/// A transaction: whether it writes, of which key, which value.
pub(crate) type Plain = Vec<(bool, i64, i64)>;

/// Transactions by session.
pub(crate) type Sessions = Vec<Vec<Plain>>;

/// A history of completions only; the value 0 stands for nil if `nil`.
pub(crate) fn table(sessions: &Sessions, nil: bool) -> Table {
    let mut table = Table::new(Shape::Registers);
    let txns = sessions.iter().zip(0..).flat_map(|(txns, s)| txns.iter().map(move |txn| (s, txn)));
    for (index, (session, txn)) in txns.enumerate() {
        let micro_op = |(write, key, value): &(bool, i64, i64)| match (write, value) {
            (true, value) => serde_json::json!(["w", key, value]),
            (false, 0) if nil => serde_json::json!(["r", key, null]),
            (false, value) => serde_json::json!(["r", key, value]),
        };
        let value: serde_json::Value = txn.iter().map(micro_op).collect();
        let event = Event::new(Kind::Ok, Process::Client(session), "txn");
        table.take(&Event { index: index as u64, ..event }, Datum::Json(&value));
    }
    table
}

pub(crate) fn parse(text: &str) -> Sessions {
    if text.contains('(') {
        return parse_plume(text);
    }
    let split = |text: &str, mark| -> Vec<String> {
        let parts = text.split(mark).map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let access = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0] == "w", words[1].parse().expect(line), words[2].parse().expect(line))
    };
    let txn = |text: String| text.lines().map(access).collect();
    let session = |text: String| split(&text, '-').into_iter().map(txn).collect();
    split(text, '=').into_iter().map(session).collect()
}

fn parse_plume(text: &str) -> Sessions {
    let mut sessions: Sessions = Vec::new();
    let mut last = (-1, -1);
    for line in text.lines() {
        let numbers = line[2..line.len() - 1].split(',').map(|part| part.parse().expect(line));
        let [key, value, session, txn] = numbers.collect::<Vec<i64>>()[..] else {
            panic!("{line}")
        };
        if sessions.len() <= session as usize {
            sessions.resize(session as usize + 1, Vec::new());
        }
        let of_session = &mut sessions[session as usize];
        if last != (session, txn) {
            of_session.push(Vec::new());
            last = (session, txn);
        }
        of_session.last_mut().expect("pushed").push((line.starts_with('w'), key, value));
    }
    sessions
}
