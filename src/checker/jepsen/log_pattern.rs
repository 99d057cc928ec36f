//! Lines in the nodes' logs that must not be there: crashes, failed assertions. As Jepsen's
//! `log-file-pattern`. Lines come from whoever reads the logs.

use regex::Regex;

use super::tally::{Tally, Told};
use crate::checker::Finding;

/// How much of a line is told.
const LENGTH: usize = 200;

/// Looks for a pattern in lines, and finds them all.
pub struct LogPattern {
    pattern: Regex,
    tally: Tally,
}

impl LogPattern {
    /// An error says what is wrong with the pattern, and where.
    pub fn new(pattern: &str) -> Result<LogPattern, String> {
        let pattern = Regex::new(pattern).map_err(|error| {
            format!("log pattern `{pattern}`: expected a regular expression: {error}")
        })?;
        Ok(LogPattern { pattern, tally: Tally::default() })
    }

    /// Takes in one line of a node's log; `number` counts its lines from 1.
    pub fn line(&mut self, node: &str, number: u64, line: &str) {
        self.tally.count("lines", 1);
        let line = line.trim_end();
        if !self.pattern.is_match(line) {
            return;
        }
        self.tally.report("log-pattern", || Told {
            summary: format!("line {number} of {node}: {}", shortened(line)),
            ..Told::default()
        });
    }

    pub fn finding(&mut self) -> Finding {
        self.tally.finding("log-pattern")
    }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::Verdict;

    #[test]
    fn lines_that_match_are_told_with_node_and_number_and_few_of_them() {
        let mut pattern = LogPattern::new(r"panic: (\w+)$").expect("a pattern");
        pattern.line("n1", 1, "all is well");
        assert_eq!(pattern.finding().verdict, Verdict::Valid);
        for number in 0..100 {
            pattern.line("n2", number, "panic: invariant\n");
        }
        let long = format!("{} panic: x", "é".repeat(5000));
        pattern.line("n3", 7, &long);
        let finding = pattern.finding();
        assert_eq!((finding.verdict, finding.anomalies.len()), (Verdict::Invalid, 20));
        assert_eq!(finding.anomalies[0].summary, "line 0 of n2: panic: invariant");
        assert_eq!(finding.figures["log-pattern-count"], 101.0);
    }

    #[test]
    fn a_pattern_that_is_none_is_refused() {
        let error = LogPattern::new("panic(").err().expect("an error");
        assert!(
            error.starts_with("log pattern `panic(`: expected a regular expression"),
            "{error}"
        );
    }
}
