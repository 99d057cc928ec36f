//! Replies of the node against those that were recorded from kvrocks 2.10.1, byte by byte.
//!
//! `recorded/resp.jsonl` holds requests and replies of the real program, in the order in which they were
//! seen, but not all that was asked: between them came other requests, waits and cut connections.
//! `recorded/directions.txt` says what these must have been, as far as later replies show it. What differs
//! on purpose is in the list of differences, each with its reason; a difference that is none fails too.

mod difference;
mod direction;
mod row;
mod stage;

use difference::DIFFERENCES;
use row::Row;
use stage::Stage;

const RECORDED: &str = include_str!("recorded/resp.jsonl");
const DIRECTIONS: &str = include_str!("recorded/directions.txt");

#[test]
fn every_recorded_reply_is_given_again() {
    let rows: Vec<Row> = RECORDED.lines().map(Row::read).collect();
    assert_eq!(rows.len(), 437, "all rows are there");
    let directions = direction::read(DIRECTIONS);
    let last = directions.keys().next_back().copied().unwrap_or(0);
    assert!(last <= rows.len(), "directions before row {last}, which is not there");
    let wrong = crate::reference::testing::on_paused_clock(async {
        let mut stage = Stage::new();
        let mut wrong = Vec::new();
        for (number, row) in (1..).zip(&rows) {
            for direction in directions.get(&number).into_iter().flatten() {
                if let Err(error) = stage.direct(direction).await {
                    wrong.push(format!("before row {number}: {error}\n{}", stage.logs(12)));
                    return wrong;
                }
            }
            let given = stage.ask(row).await;
            let listed = DIFFERENCES.iter().find(|difference| difference.rows.contains(&number));
            wrong.extend(difference::judge(number, row, &given, listed));
        }
        wrong
    });
    assert!(wrong.is_empty(), "{} of 437 replies:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn differences_are_few_and_each_has_its_reason() {
    let rows: Vec<usize> = DIFFERENCES.iter().flat_map(|listed| listed.rows).copied().collect();
    assert!(rows.is_sorted_by(|a, b| a < b), "in order, and none twice");
    assert!(DIFFERENCES.iter().all(|listed| listed.reason.ends_with('.')));
}
