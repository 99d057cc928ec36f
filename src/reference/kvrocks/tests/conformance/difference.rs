//! What the reference node answers otherwise than the real one, and why.

use super::row::Row;
use super::stage::shown;

/// Rows that differ for one reason.
pub struct Difference {
    pub rows: &'static [usize],
    pub reason: &'static str,
    /// The part of the reply that may differ; the rest may not. Given the recorded bytes and ours.
    may_differ: fn(&str, &str) -> bool,
}

pub const DIFFERENCES: &[Difference] = &[Difference {
    rows: &[109],
    reason: "A cursor of SCAN stands for a place in the node's memory and has the time in it.",
    may_differ: |recorded, ours| {
        let behind = |reply: &str| reply.split_once("*3\r\n").map(|(_, keys)| keys.to_owned());
        behind(recorded).is_some() && behind(recorded) == behind(ours)
    },
}];

/// What is wrong with a reply, if anything.
pub fn judge(
    number: usize,
    row: &Row,
    given: &[u8],
    listed: Option<&Difference>,
) -> Option<String> {
    let recorded = row.reply();
    let (ours, theirs) = (String::from_utf8_lossy(given), String::from_utf8_lossy(&recorded));
    let what = match (given == recorded, listed) {
        (true, None) => return None,
        (true, Some(_)) => "is listed as a difference, and is none",
        (false, Some(listed)) if (listed.may_differ)(&theirs, &ours) => return None,
        (false, Some(_)) => "differs otherwise than listed",
        (false, None) => "differs",
    };
    let mut request = row.request.join(" ");
    request.truncate(request.floor_char_boundary(60));
    Some(format!(
        "row {number} ({}, {}) {request:?} {what}:\n  recorded {}\n  ours     {}",
        row.state,
        row.conn,
        shown(&recorded),
        shown(given)
    ))
}
