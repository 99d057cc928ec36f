//! The nodes' logs of a run, `nodes/<name>/*.log`, judged for what they say of crashes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::checker::{CRASHES, Finding, LogPattern, Verdict};
use crate::scenario::Scenario;

/// Of a longer line the rest is taken for a line of its own.
const LINE_BYTES: u64 = 64 << 10;

const NAME: &str = "log-pattern";

/// What the logs below a results folder say; `None` where there are none, or nothing is to be looked for.
pub fn judge_logs(results: &Path, scenario: &Scenario) -> Option<Finding> {
    let pattern = scenario.workload.crash_pattern.as_deref().unwrap_or(CRASHES);
    let logs = logs(results);
    if pattern.is_empty() || logs.is_empty() {
        return None;
    }
    let mut pattern = match LogPattern::new(pattern) {
        Ok(pattern) => pattern,
        Err(error) => return Some(Finding::new(NAME, Verdict::Unknown, error)),
    };
    let mut unread = Vec::new();
    for (node, path) in &logs {
        if let Err(error) = look(&mut pattern, node, path) {
            unread.push(format!("cannot read {}: {error}", path.display()));
        }
    }
    let mut finding = pattern.finding();
    finding.figures.insert("logs".to_owned(), logs.len() as f64);
    if !unread.is_empty() && finding.verdict == Verdict::Valid {
        (finding.verdict, finding.why) = (Verdict::Unknown, unread.join("; "));
    }
    Some(finding)
}

/// Nodes and their logs, by name.
fn logs(results: &Path) -> Vec<(String, PathBuf)> {
    let mut logs = Vec::new();
    for folder in entries(&results.join("nodes")) {
        let node = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = entries(&folder).into_iter();
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "log"));
        logs.extend(files.map(|path| (node.clone(), path)));
    }
    logs
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn look(pattern: &mut LogPattern, node: &str, path: &Path) -> std::io::Result<()> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        if reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        number += 1;
        pattern.line(node, number, &String::from_utf8_lossy(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::World;
    use crate::scenario::Overrides;

    fn scenario(pattern: Option<&str>) -> Scenario {
        let load =
            |overrides| Scenario::load("zookeeper/register", "none", World::Sim, 1, overrides);
        let mut scenario = load(&Overrides::default()).expect("built-in names");
        scenario.workload.crash_pattern = pattern.map(ToOwned::to_owned);
        scenario
    }

    #[test]
    fn a_crash_is_found_with_its_node_and_line_and_where_no_log_is_nothing_is_said() {
        let name = format!("stormglass-node-logs-{}", std::process::id());
        let results = std::env::temp_dir().join(name);
        assert_eq!(judge_logs(&results, &scenario(None)), None);
        for (node, text) in [("n1", "all is well\n"), ("n2", "up\npanic: no quorum\n")] {
            let folder = results.join("nodes").join(node);
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join("service.log"), text).expect("written");
            std::fs::write(folder.join("other.txt"), "panic: none").expect("written");
        }
        let finding = judge_logs(&results, &scenario(None)).expect("logs");
        assert_eq!((finding.verdict, finding.anomalies.len()), (Verdict::Invalid, 1));
        assert_eq!(finding.anomalies[0].summary, "line 2 of the log of n2: panic: no quorum");
        let finding = judge_logs(&results, &scenario(Some("nobody"))).expect("logs");
        assert_eq!(finding.verdict, Verdict::Valid);
        assert_eq!(judge_logs(&results, &scenario(Some(""))), None);
        std::fs::remove_dir_all(&results).expect("removed");
    }
}
