//! The table of what was measured, and which targets were met.

use std::path::Path;

use super::tools::{Taken, Tools};
use super::workload::{Target, Workload};

pub struct Row {
    pub name: String,
    pub ours: Taken,
    pub theirs: Taken,
    pub target: Option<Target>,
}

impl Row {
    pub fn measured(tools: &Tools, workload: &Workload, file: &Path) -> Row {
        Row {
            name: workload.name.to_owned(),
            ours: tools.ours(file, "cas-register", "{}", 0),
            theirs: tools.porcupine(file, "jsonl"),
            target: Some(workload.target),
        }
    }

    fn ratio(&self) -> f64 {
        self.theirs.check_ms / self.ours.check_ms.max(0.001)
    }

    /// Where porcupine gave up, the ratio is at least this.
    fn told_ratio(&self) -> String {
        let at_least = if self.theirs.is_decided() { "" } else { "> " };
        format!("{at_least}{:.0}x", self.ratio())
    }

    /// Whether both decided and said different things.
    fn contradicts(&self) -> bool {
        let decided = self.ours.is_decided() && self.theirs.is_decided();
        decided && self.ours.verdict != self.theirs.verdict
    }

    fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        let mut miss = |is_missed: bool, what: String| {
            if is_missed {
                misses.push(what);
            }
        };
        miss(!self.ours.is_decided(), "undecided".to_owned());
        miss(self.contradicts(), "the verdicts differ".to_owned());
        let mb_most = match self.target {
            Some(Target::Within { cpu_ms, mb }) => {
                miss(self.ours.check_ms > cpu_ms, format!("more than {cpu_ms} ms"));
                mb
            }
            Some(Target::Times { ratio, mb }) => {
                miss(self.ratio() < ratio, format!("less than {ratio}x"));
                mb
            }
            None => f64::INFINITY,
        };
        miss(self.ours.peak_mb > mb_most, format!("more than {mb_most} MB"));
        misses
    }
}

#[derive(Default)]
pub struct Table {
    rows: usize,
    missed: Vec<String>,
}

impl Table {
    pub fn new() -> Table {
        println!(
            "{:<38} {:>8} {:>10} {:>6}   {:<13} {:>10} {:>6} {:>9}",
            "history", "verdict", "CPU ms", "MB", "porcupine", "CPU ms", "MB", "ratio"
        );
        Table::default()
    }

    /// Prints a row as soon as it is known.
    pub fn add(&mut self, row: Row) {
        let Row { name, ours, theirs, .. } = &row;
        let misses = row.misses();
        let told = match (row.target, misses.is_empty()) {
            (None, true) => String::new(),
            (Some(_), true) => "met".to_owned(),
            (_, false) => format!("MISSED: {}", misses.join(", ")),
        };
        println!(
            "{name:<38} {:>8} {:>10.1} {:>6.0}   {:<13} {:>10.1} {:>6.0} {:>9}  {told}",
            ours.verdict,
            ours.check_ms,
            ours.peak_mb,
            theirs.verdict,
            theirs.check_ms,
            theirs.peak_mb,
            row.told_ratio()
        );
        self.judge(&row.name, &misses);
    }

    /// Counts what is no row of its own.
    pub fn judge(&mut self, name: &str, misses: &[String]) {
        self.rows += 1;
        if !misses.is_empty() {
            self.missed.push(format!("{name}: {}", misses.join(", ")));
        }
    }

    pub fn conclude(&self) {
        println!("\n{} of {} as wanted", self.rows - self.missed.len(), self.rows);
        self.missed.iter().for_each(|missed| println!("  {missed}"));
    }
}
