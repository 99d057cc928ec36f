//! What was not recorded: a small language for what came between the rows.
//!
//! `@12` begins what comes before row 12, `#` a comment. A line is one of
//!
//! ```text
//! start NODE ADDRESS
//! new CONN
//! wait MS
//! hold NODE NODE
//! release NODE NODE
//! lose NODE NODE
//! tap NODE NODE hold NODE NODE : WORDS
//! until CONN says TEXT : REQUEST
//! fill CONN PREFIX COUNT
//! CONN : REQUEST
//! ```
//!
//! Words may stand in double quotes, with `\n` for a line end.

use std::collections::BTreeMap;

pub enum Direction {
    /// A node starts with an empty disk.
    Start {
        node: String,
        address: String,
    },
    /// The next request opens a new connection.
    New {
        conn: String,
    },
    Wait {
        ms: u64,
    },
    /// What one node sends to another waits.
    Hold {
        from: String,
        to: String,
    },
    Release {
        from: String,
        to: String,
    },
    /// Connections from one node to another, as they are, carry nothing any more in that direction.
    Lose {
        from: String,
        to: String,
    },
    /// Once these words went from one node to another, a direction is held.
    Tap {
        from: String,
        to: String,
        hold: (String, String),
        words: Vec<String>,
    },
    /// Asks again and again until the reply has this text.
    Until {
        conn: String,
        text: String,
        request: Vec<String>,
    },
    /// `SET PREFIX0 v0` and so on.
    Fill {
        conn: String,
        prefix: String,
        count: usize,
    },
    /// A request whose reply was not recorded, but was no error.
    Say {
        conn: String,
        request: Vec<String>,
    },
}

/// Directions by the number of the row that they come before.
pub fn read(text: &str) -> BTreeMap<usize, Vec<Direction>> {
    let mut directions: BTreeMap<usize, Vec<Direction>> = BTreeMap::new();
    let mut row = 0;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.strip_prefix('@') {
            Some(number) => row = number.parse().expect("the number of a row"),
            None => directions.entry(row).or_default().push(direction(line)),
        }
    }
    directions
}

fn direction(line: &str) -> Direction {
    let (head, request) = match line.split_once(" : ") {
        Some((head, request)) => (words(head), words(request)),
        None => (words(line), Vec::new()),
    };
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let text = |word: &str| word.to_owned();
    match *head.as_slice() {
        ["start", node, address] => Direction::Start { node: text(node), address: text(address) },
        ["new", conn] => Direction::New { conn: text(conn) },
        ["wait", ms] => Direction::Wait { ms: ms.parse().expect("milliseconds") },
        ["hold", from, to] => Direction::Hold { from: text(from), to: text(to) },
        ["release", from, to] => Direction::Release { from: text(from), to: text(to) },
        ["lose", from, to] => Direction::Lose { from: text(from), to: text(to) },
        ["tap", from, to, "hold", held_from, held_to] => Direction::Tap {
            from: text(from),
            to: text(to),
            hold: (text(held_from), text(held_to)),
            words: request,
        },
        ["until", conn, "says", said] => {
            Direction::Until { conn: text(conn), text: text(said), request }
        }
        ["fill", conn, prefix, count] => Direction::Fill {
            conn: text(conn),
            prefix: text(prefix),
            count: count.parse().expect("a number"),
        },
        [conn] if !request.is_empty() => Direction::Say { conn: text(conn), request },
        _ => panic!("no direction: {line}"),
    }
}

fn words(text: &str) -> Vec<String> {
    let (mut words, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let (word, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').expect("a closing quote"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.replace("\\n", "\n"));
        rest = behind.trim_start();
    }
    words
}
