//! What the runs of one cell come to together.

use std::collections::BTreeMap;
use std::fmt;

use super::table::Cell;
use super::trial::{Showing, hits, judge, run, scenario};

/// So many seeds that disagree are told.
const TOLD: usize = 5;

#[derive(Debug)]
pub struct Tally {
    pub cell: Cell,
    pub runs: usize,
    /// Runs whose every fault acted.
    pub hits: usize,
    pub kept: usize,
    pub verdicts: BTreeMap<String, usize>,
    /// Seeds of runs that speak against the cell.
    pub broken: Vec<(u64, String)>,
    /// Seeds of runs that hit and did not show what is promised.
    pub silent: Vec<(u64, String)>,
}

impl Tally {
    pub fn new(cell: Cell) -> Tally {
        Tally {
            cell,
            runs: 0,
            hits: 0,
            kept: 0,
            verdicts: BTreeMap::new(),
            broken: Vec::new(),
            silent: Vec::new(),
        }
    }

    /// One more run. Judged without expectations: those are of the command line.
    pub fn trial(cell: &Cell, seed: u64) -> (Showing, String, bool) {
        let (_, results) = run(&scenario(cell, seed, true));
        (judge(&cell.promise, &results), results.verdict.clone(), hits(&results))
    }

    pub fn add(&mut self, seed: u64, (showing, verdict, hit): (Showing, String, bool)) {
        self.runs += 1;
        self.hits += usize::from(hit);
        *self.verdicts.entry(verdict).or_default() += 1;
        match showing {
            Showing::Missed => {}
            Showing::Kept => self.kept += 1,
            Showing::Silent(why) => self.silent.push((seed, why)),
            Showing::Broken(why) => self.broken.push((seed, why)),
        }
        self.broken.sort();
        self.silent.sort();
    }

    /// Why the cell is not earned.
    pub fn flaw(&self) -> Option<&'static str> {
        match () {
            () if !self.broken.is_empty() => Some("other runs than promised"),
            () if self.hits * 2 < self.runs => Some("did not hit"),
            () if self.kept == 0 => Some("what is promised was never seen"),
            () => None,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdicts: Vec<String> =
            self.verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        let Tally { cell, runs, hits, kept, .. } = self;
        let promise = &cell.promise;
        write!(
            f,
            "{cell}: {promise}: {runs} runs, {hits} hit, {kept} kept ({})",
            verdicts.join(", ")
        )?;
        if let Some(flaw) = self.flaw() {
            write!(f, " NOT EARNED: {flaw}")?;
        }
        for (word, seeds) in [("against it", &self.broken), ("silent", &self.silent)] {
            for (seed, why) in seeds.iter().take(TOLD) {
                write!(f, "\n    {word}: seed {seed}: {why}")?;
            }
        }
        Ok(())
    }
}
