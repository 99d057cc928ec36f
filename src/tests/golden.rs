//! A split brain that was found is judged anew from its history alone, and tells the same story.
//!
//! Where the checkers tell it better, `UPDATE_EXPECT=1 cargo test --test all golden` writes the story. The run is
//! `stormglass run kvrocks/migration --nemesis reply-loss --seed 5 --time 16s --rate 60`, of which `scenario.yaml` and
//! `history.jsonl.zst` are kept; another history is needed only where these cannot be read any more.

use std::path::Path;

use expect_test::expect_file;
use stormglass::conclude::{Limits, conclude};
use stormglass::report::Results;
use stormglass::results_folder::ResultsFolder;

/// Further lines that one anomaly may take.
const DETAILS: usize = 12;

fn story(results: &Results) -> String {
    let mut text =
        format!("{} (exit code {})\n{}\n", results.verdict, results.exit_code, results.why);
    for finding in results.checkers.iter().filter(|finding| !finding.anomalies.is_empty()) {
        text += &format!("\n{}: {}\n", finding.name, finding.why);
        let split_or_lost = finding
            .anomalies
            .iter()
            .filter(|found| ["split-brain", "lost-write"].contains(&&*found.kind));
        for anomaly in split_or_lost {
            text += &format!(
                "  {} at {}: {}\n",
                anomaly.kind,
                anomaly.nodes.join(", "),
                anomaly.summary
            );
            for line in anomaly.details.iter().take(DETAILS) {
                text += &format!("    {line}\n");
            }
        }
    }
    text
}

#[test]
fn a_split_brain_that_was_found_tells_the_same_story() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/golden/split-brain");
    let folder = ResultsFolder::open(&path).expect("scenario.yaml and history.jsonl.zst");
    assert_eq!(folder.damage, None);
    let results = conclude(&folder.scenario, &folder.history, &[], &Limits::default());
    assert_eq!((results.verdict.as_str(), results.exit_code), ("invalid", 0), "{}", results.why);
    expect_file!["golden/split-brain/story.txt"].assert_eq(&story(&results));
}
