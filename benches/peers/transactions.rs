//! Transactions: figures of Elle and AWDIT were measured elsewhere and stand beside ours as they were.

use super::table::Table;
use super::tools::{Taken, Tools};
use super::workload::{Scale, sized};

struct Transactions {
    name: &'static str,
    count: u64,
    arguments: &'static str,
    model: &'static str,
    options: &'static str,
    verdict: &'static str,
    /// At most so many milliseconds of CPU and megabytes.
    most: (f64, f64),
    /// Whether what was measured elsewhere has parsing in it.
    with_parsing: bool,
    elsewhere: &'static str,
}

const VALID: Transactions = Transactions {
    name: "list-append",
    count: 1_000_000,
    arguments: "",
    model: "list-append",
    options: "{}",
    verdict: "valid",
    most: (1_000.0, 400.0),
    with_parsing: false,
    elsewhere: "Elle, 1 M: 109 s, 4.9 GB",
};

/// Every cycle is found.
const BROKEN: Transactions = Transactions {
    verdict: "invalid",
    most: (1_500.0, 400.0),
    elsewhere: "Elle, 100 k: cycle search timed out",
    ..VALID
};

const REGISTERS: Transactions = Transactions {
    arguments: "-kind register -procs 20",
    model: "rw-register",
    with_parsing: true,
    ..VALID
};

const ALL: &[Transactions] = &[
    VALID,
    Transactions { name: "list-append, write skew", arguments: "-db si", ..BROKEN },
    Transactions { name: "list-append, read skew", arguments: "-db rc", ..BROKEN },
    Transactions {
        name: "list-append, lost updates",
        arguments: "-db lost",
        most: (f64::INFINITY, 400.0),
        elsewhere: "",
        ..BROKEN
    },
    Transactions {
        name: "rw-register, linearizable keys",
        count: 100_000,
        arguments: "-kind register",
        options: r#"{"linearizable_keys": true}"#,
        most: (2_000.0, f64::INFINITY),
        with_parsing: false,
        elsewhere: "Elle, 10 k: over 300 s, 7.6 GB",
        ..REGISTERS
    },
    Transactions {
        name: "read committed",
        options: r#"{"consistency_models": ["read-committed"]}"#,
        most: (2_900.0, f64::INFINITY),
        elsewhere: "AWDIT, 1 M: 2.9 s with parsing",
        ..REGISTERS
    },
    Transactions {
        name: "read atomic",
        options: r#"{"consistency_models": ["read-atomic"]}"#,
        most: (3_700.0, f64::INFINITY),
        elsewhere: "AWDIT, 1 M: 3.7 s with parsing",
        ..REGISTERS
    },
    Transactions {
        name: "causal",
        options: r#"{"consistency_models": ["causal"]}"#,
        most: (5_800.0, f64::INFINITY),
        elsewhere: "AWDIT, 1 M: 5.8 s with parsing",
        ..REGISTERS
    },
];

pub fn measure(tools: &Tools, scale: Scale, table: &mut Table) {
    println!(
        "\n{:<38} {:>9} {:>8} {:>10} {:>10} {:>6}   measured elsewhere",
        "transactions", "count", "verdict", "parsing ms", "CPU ms", "MB"
    );
    for case in ALL {
        let count = scale.of(case.count);
        let file = tools.generate_transactions(&sized(case.arguments, count), case.name);
        let ours = tools.ours(&file, case.model, case.options, 0);
        tools.forget(&file);
        let misses = case.misses(&ours);
        let told = if misses.is_empty() { "met" } else { "MISSED" };
        println!(
            "{:<38} {count:>9} {:>8} {:>10.0} {:>10.0} {:>6.0}   {}  {told}",
            case.name, ours.verdict, ours.parse_ms, ours.check_ms, ours.peak_mb, case.elsewhere
        );
        table.judge(case.name, &misses);
    }
}

impl Transactions {
    fn misses(&self, ours: &Taken) -> Vec<String> {
        let parsing = if self.with_parsing { ours.parse_ms } else { 0.0 };
        let (most_ms, most_mb) = self.most;
        let mut misses = Vec::new();
        if ours.verdict != self.verdict {
            misses.push(format!("{} instead of {}", ours.verdict, self.verdict));
        }
        if ours.check_ms + parsing > most_ms {
            misses.push(format!("more than {most_ms} ms"));
        }
        if ours.peak_mb > most_mb {
            misses.push(format!("more than {most_mb} MB"));
        }
        misses
    }
}
