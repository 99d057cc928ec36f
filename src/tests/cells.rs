//! The table of variants, nemeses and workloads (`cells/table.yaml`): the simulation earns each cell, some
//! are earned in containers, too, and the README shows it.
//!
//! `STORMGLASS_TESTS=cells cargo test --release --test all cells -- --nocapture` runs each cell with a few
//! seeds and says what came of it; `STORMGLASS_SEEDS=300` with so many, and `STORMGLASS_CELLS='reply-loss
//! as-shipped'` only those cells that have all of these words in their command.

mod table;
mod tally;
mod trial;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use stormglass::checker::Expectation;
use stormglass::cluster::Role;

use crate::gate::wanted;
use table::{Cell, Promise, groups};
use tally::Tally;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn all() -> Vec<Cell> {
    groups().iter().flat_map(|group| group.cells()).collect()
}

/// Runs each cell with seeds from 1, so many or as many as it needs, on all cores.
fn tallies(cells: Vec<Cell>, seeds: Option<u64>) -> Vec<Tally> {
    let seeds: Vec<u64> = cells.iter().map(|cell| seeds.unwrap_or(cell.seeds)).collect();
    let jobs: Vec<(usize, u64)> =
        (0..cells.len()).flat_map(|cell| (1..=seeds[cell]).map(move |seed| (cell, seed))).collect();
    let tallies = Mutex::new(cells.iter().cloned().map(Tally::new).collect::<Vec<_>>());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((cell, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let came = Tally::trial(&cells[*cell], *seed);
            let mut tallies = tallies.lock().expect("nobody panicked");
            tallies[*cell].add(*seed, came);
            if tallies[*cell].runs as u64 == seeds[*cell] {
                println!("{}", tallies[*cell]);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    tallies.into_inner().expect("nobody panicked")
}

#[test]
fn each_cell_is_earned_in_the_simulation() {
    if !wanted("cells") {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let words = std::env::var("STORMGLASS_CELLS").unwrap_or_default();
    let is_chosen =
        |cell: &Cell| words.split_whitespace().all(|word| cell.to_string().contains(word));
    let cells: Vec<Cell> = all().into_iter().filter(is_chosen).collect();
    assert!(!cells.is_empty(), "no cell has all of these words: {words}");
    let tallies = tallies(cells, number("STORMGLASS_SEEDS"));
    let flawed: Vec<String> =
        tallies.iter().filter(|tally| tally.flaw().is_some()).map(Tally::to_string).collect();
    assert!(flawed.is_empty(), "not earned:\n{}", flawed.join("\n"));
}

/// The three ways in which a migration goes wrong, and what loses nothing.
#[test]
fn the_three_schedules_are_found_as_shipped_and_not_on_the_sound_variant() {
    let schedules = [
        ("kvrocks/migration", "reply-loss"),
        ("kvrocks/migration", "source-dies-after-success"),
        ("kvrocks/migration-long", "failover-during-migration"),
    ];
    for (workload, nemesis) in schedules {
        let is_its = |cell: &Cell| cell.workload == workload && cell.nemesis == nemesis;
        let of = |variant: &str| {
            let found = all().into_iter().find(|cell| is_its(cell) && cell.variant == variant);
            found.unwrap_or_else(|| panic!("{workload} {nemesis} {variant} is in the table"))
        };
        let sound = of("freeze-until-topology");
        assert_eq!(sound.promise, Promise::Valid);
        assert_eq!(tallies(vec![sound], Some(1))[0].flaw(), None);
        let mut lost = 0;
        for seed in 1..=3 {
            // With the workload's own expectations: what is expected ends with exit code 0.
            let (_, results) = trial::run(&trial::scenario(&of("as-shipped"), seed, false));
            let which = format!("{workload} {nemesis} seed {seed}: {}", results.why);
            assert_eq!((results.verdict.as_str(), results.exit_code), ("invalid", 0), "{which}");
            assert!(results.expected.is_some_and(|expected| expected.found), "{which}");
            let all: Vec<_> = results.checkers.iter().flat_map(|found| &found.anomalies).collect();
            let mut split = all.iter().filter(|anomaly| anomaly.kind == "split-brain");
            let first = split.next().unwrap_or_else(|| panic!("{which}"));
            let shards: BTreeSet<usize> = first.nodes.iter().map(|node| shard(node)).collect();
            assert_eq!(shards.len(), 2, "source's and destination's side: {which}: {first:?}");
            lost += all.iter().filter(|anomaly| anomaly.kind == "lost-write").count();
        }
        assert!(lost > 0, "{workload} {nemesis}: acknowledged writes are lost");
    }
}

/// The shard of a data node, two nodes each.
fn shard(node: &str) -> usize {
    let number = node.strip_prefix("kvrocks").and_then(|number| number.parse::<usize>().ok());
    number.expect("a data node").div_ceil(2)
}

#[test]
fn workloads_expect_what_the_table_says() {
    let mut expected = 0;
    for cell in all() {
        let scenario = trial::scenario(&cell, 1, false);
        let is_of = |item: &&Expectation| item.nemesis.as_deref() == Some(&*cell.nemesis);
        let expects = scenario.workload.expect.iter().filter(is_of);
        let is_shipped = cell.variant == "as-shipped" && cell.role == Role::Kvrocks;
        for item in expects.filter(|_| is_shipped) {
            let Promise::Invalid(kinds) = &cell.promise else { panic!("{cell}: {item:?}") };
            assert!(kinds.contains(&item.anomaly), "{cell}: {item:?}");
            expected += 1;
        }
    }
    assert!(expected >= 4, "{expected} expectations are in the table");
}

#[test]
fn cells_in_containers_name_tests_that_exist() {
    let folder = Path::new(ROOT).join("src/tests/docker_kvrocks");
    let entries = std::fs::read_dir(&folder).expect("tests in containers");
    let texts = entries.map(|entry| std::fs::read_to_string(entry.expect("a file").path()));
    let tests: String = texts.map(|text| text.expect("a test's text")).collect();
    for cell in all() {
        let Some(test) = &cell.docker else { continue };
        assert!(tests.contains(&format!("fn {test}(")), "{cell} names no test: {test}");
    }
}

#[test]
fn the_readme_shows_the_table() {
    let readme = std::fs::read_to_string(Path::new(ROOT).join("README.md")).expect("a README");
    for group in groups() {
        let table = group.markdown();
        assert!(readme.contains(&table), "README.md lacks this table, put it there:\n\n{table}");
    }
}

#[test]
fn a_cell_stands_once_and_each_variant_somewhere() {
    let cells = all();
    let names: BTreeSet<String> = cells.iter().map(Cell::to_string).collect();
    assert_eq!(names.len(), cells.len(), "a cell stands twice");
    for known in stormglass::scenario::known_variants() {
        let is_its = |cell: &Cell| cell.role == known.role && cell.variant == known.name;
        let is_tried = known.role == Role::Zookeeper || cells.iter().any(is_its);
        assert!(is_tried, "{} {} is in no cell", known.role, known.name);
    }
    for group in groups() {
        for row in &group.rows {
            assert!(row.cells.iter().any(|cell| cell != "-"), "{} {}", row.workload, row.nemesis);
        }
    }
}
