//! Lines in the nodes' logs that must not be there: crashes, failed assertions. As Jepsen's
//! `log-file-pattern`. Lines come from whoever reads the logs.

use regex::Regex;

use super::tally::{Tally, Told};
use crate::checker::Finding;

/// What the programs that we run write when they crash, and never else: Go's runtime, kvrocks' own handler,
/// the C++ library, a failed assertion of C, Java's virtual machine, Rust.
pub const CRASHES: &str = concat!(
    r"^panic: |^fatal error: |^\[signal SIG[A-Z]+: ",
    r"|======= Ooops! .* got signal: |^terminate called |: Assertion `.*' failed\.$",
    r"|^# A fatal error has been detected by the Java Runtime|^Terminating due to java\.lang\.OutOfMemoryError",
    r"|^thread '.*' .*panicked at ",
);

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
            summary: format!("line {number} of the log of {node}: {}", shortened(line)),
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
        assert_eq!(finding.anomalies[0].summary, "line 0 of the log of n2: panic: invariant");
        assert_eq!(finding.figures["log-pattern-count"], 101.0);
    }

    #[test]
    fn crashes_are_known_from_what_programs_that_live_say() {
        let told = |line: &str| {
            let mut pattern = LogPattern::new(CRASHES).expect("a pattern");
            pattern.line("n1", 1, line);
            pattern.finding().verdict == Verdict::Invalid
        };
        for line in [
            "panic: runtime error: invalid memory address or nil pointer dereference",
            "fatal error: concurrent map writes",
            "E1130 10:00:00 main.cc:83] ======= Ooops! kvrocks 2.9 got signal: Segmentation fault (11) =======",
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "kvrocks: slot.cc:7: void f(): Assertion `n > 0' failed.",
            "# A fatal error has been detected by the Java Runtime Environment:",
            "thread 'main' panicked at src/main.rs:1:1:",
        ] {
            assert!(told(line), "{line}");
        }
        for line in [
            "",
            r#"{"level":"error","msg":"fatal error: lost the leader, panic: none"}"#,
            "2026-11-30 10:00:00 [Recovery] panic recovered",
            "Got signal SIGTERM, shutting down",
            "FATAL: the previous run ended by a crash, recovering",
            "WARN java.lang.OutOfMemoryError was avoided",
        ] {
            assert!(!told(line), "{line}");
        }
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
