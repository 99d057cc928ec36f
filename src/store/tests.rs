//! Results folders on a real disk, each test in a folder of its own.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::cluster::{Action, FaultId};
use crate::generator::{Asked, Reply, Threads, What, arrivals, simulate, time_limit};
use crate::op::{Event, MILLISECOND, Outcome};
use crate::rng::Rng;
use crate::workload::register::{Register, RegisterOptions};

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stormglass-store-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a fresh folder");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn noon() -> Timestamp {
    "2026-09-04T10:15:00.1234Z".parse().expect("a time")
}

fn create(root: &Path, seed: u64) -> Store {
    Store::create(root, "zookeeper/register", noon(), seed).expect("a results folder")
}

#[test]
fn a_run_has_its_folder_and_the_links_follow_the_newest() {
    let scratch = Scratch::new();
    let results = scratch.0.join("results");
    let first = create(&results, 7);
    assert_eq!(first.path(), results.join("zookeeper/register/20260904T101500.123Z-s7"));
    let second = create(&results, 8);
    let again = create(&results, 8);
    assert_eq!(again.path().file_name(), Some("20260904T101500.123Z-s8-2".as_ref()));
    let link = |path: &str| fs::canonicalize(results.join(path)).expect("a link");
    for latest in ["latest", "zookeeper/register/latest"] {
        assert_eq!(link(latest), fs::canonicalize(again.path()).expect("a folder"));
    }
    assert_eq!(
        fs::read_link(results.join("latest")).expect("a link"),
        Path::new("zookeeper/register/20260904T101500.123Z-s8-2")
    );
    assert_eq!(Store::open(second.path()).expect("a folder").path(), second.path());
    let names = fs::read_dir(&results).expect("a folder").count();
    assert_eq!(names, 2, "`zookeeper` and `latest`, nothing half-made");
}

#[test]
fn a_run_that_came_to_nothing_is_taken_back_with_its_links() {
    let scratch = Scratch::new();
    let results = scratch.0.join("deep/results");
    let store = create(&results, 1);
    store.write_file("nodes/zookeeper1/service.log", b"some").expect("written");
    store.abandon();
    assert!(!scratch.0.join("deep").exists(), "folders made for it go with it");

    let kept = create(&results, 2);
    let (first, second) = (create(&results, 3), create(&results, 4));
    first.abandon();
    let latest = || fs::canonicalize(results.join("latest")).expect("a link");
    assert_eq!(latest(), fs::canonicalize(second.path()).expect("a folder"), "taken over");
    second.abandon();
    assert!(!results.join("latest").exists() && !results.join("latest").is_symlink());
    let third = create(&results, 5);
    create(&results, 6).abandon();
    assert_eq!(latest(), fs::canonicalize(third.path()).expect("a folder"), "as before");
    assert!(kept.path().exists());
}

#[test]
fn what_stands_in_the_way_is_named_and_nothing_is_left() {
    let scratch = Scratch::new();
    let file = scratch.0.join("results");
    fs::write(&file, "not a folder").expect("a file");
    let error = Store::create(&file, "a/b", noon(), 1).unwrap_err().to_string();
    assert!(error.contains(&file.display().to_string()), "{error}");
    assert!(error.contains("move it away"), "{error}");

    let root = scratch.0.join("blocked");
    fs::create_dir_all(root.join("latest")).expect("a folder");
    let error = Store::create(&root, "a/b", noon(), 1).unwrap_err().to_string();
    assert!(error.contains("cannot link") && error.contains("blocked/latest"), "{error}");
    assert!(!root.join("a").exists());
    fs::create_dir_all(scratch.0.join("inner/a/b/latest")).expect("a folder");
    let error = Store::create(&scratch.0.join("inner"), "a/b", noon(), 1).unwrap_err().to_string();
    assert!(error.contains("inner/a/b/latest"), "{error}");
    assert!(!scratch.0.join("inner/latest").is_symlink(), "a link to nothing");

    for name in ["", "..", "a/../../b", "/etc", "./a"] {
        let error = Store::create(&root, name, noon(), 1).unwrap_err().to_string();
        assert!(error.contains("expected a name below that folder"), "{name}: {error}");
    }
    let error = Store::open(&scratch.0.join("nowhere")).unwrap_err().to_string();
    assert!(error.contains("nowhere") && error.contains("check the path"), "{error}");
}

#[test]
fn files_are_written_whole_also_in_new_folders() {
    let scratch = Scratch::new();
    let store = create(&scratch.0, 1);
    store.write_file("nodes/zookeeper1/out.log", b"one").expect("written");
    store.write_file("nodes/zookeeper1/out.log", b"two").expect("written again");
    let folder = store.path().join("nodes/zookeeper1");
    assert_eq!(fs::read(folder.join("out.log")).expect("a file"), b"two");
    assert_eq!(fs::read_dir(folder).expect("a folder").count(), 1);
    assert!(store.write_file("../escaped", b"").is_err());
    assert!(store.write_file("nodes", b"").is_err(), "a folder has that name");
}

#[test]
fn the_ledger_is_read_back_and_may_be_absent() {
    let scratch = Scratch::new();
    let store = create(&scratch.0, 1);
    assert_eq!(store.read_ledger().expect("none"), LedgerReading::default());
    let mut ledger = store.ledger().expect("a ledger");
    let kill = Action::Kill { node: "n1".into() };
    ledger.begin(FaultId(1), 5, std::slice::from_ref(&kill)).expect("on disk");
    ledger.begin(FaultId(2), 6, std::slice::from_ref(&kill)).expect("on disk");
    ledger.done(FaultId(1), 7).expect("on disk");
    let reading = store.read_ledger().expect("a ledger");
    assert_eq!(reading.open, [(FaultId(2), vec![kill])].into());
    assert!(store.ledger().is_err(), "an old ledger is not written over");
}

/// Register operations at 200/s for this many seconds, with latencies of a few milliseconds.
fn realistic_events(seconds: u64) -> Vec<Event> {
    let register = Register::new(RegisterOptions::default()).expect("sound options");
    let rng = Rng::from_seed(4);
    let rate = 200.0.try_into().expect("a rate");
    let work = arrivals(rate, rng.fork("arrivals"), register.source(rng.fork("operations")));
    let mut latency = rng.fork("latency");
    let mut last = 0;
    let world = |asked: &Asked| {
        let What::Call(call) = asked.what else { return None };
        let outcome = match (call, latency.below(40)) {
            (_, 0) => Outcome::Fail("get: connection loss".into()),
            (crate::op::Call::Read { .. }, _) => Outcome::Ok(crate::op::Value::Int(last)),
            (call, _) => {
                last += 2;
                Outcome::Ok(call.value())
            }
        };
        let after = latency.exponential(3.0 * MILLISECOND as f64) as u64 + 234_567;
        Some(Reply { after, outcome })
    };
    let mut work = time_limit(std::time::Duration::from_secs(seconds), work);
    simulate(&mut work, Threads::new(15, 5), world).events
}

fn write(store: &Store, events: &[Event]) -> u64 {
    let mut writer = store.history_writer().expect("a history");
    for event in events {
        writer.push(event).expect("written");
    }
    writer.flush().expect("written");
    writer.written()
}

#[test]
fn a_history_is_small_and_read_back_as_it_was() {
    let scratch = Scratch::new();
    let events = realistic_events(60);
    let operations = events.len() as u64 / 2;
    assert!(operations > 10_000);
    let store = create(&scratch.0, 1);
    let bytes = write(&store, &events);
    assert!(bytes <= 64 * operations, "{bytes} bytes for {operations} operations");
    let recording = store.read_history().expect("a history");
    assert_eq!(recording.history.events(), events);
    assert_eq!((recording.damage, recording.flaws), (None, vec![]));
    let other = create(&scratch.0, 2);
    write(&other, &events);
    let file = |store: &Store| fs::read(store.path().join(HISTORY)).expect("a history");
    assert_eq!(file(&store), file(&other), "the same events, the same bytes");
}

#[test]
fn what_has_gone_out_is_readable_while_the_run_goes_on() {
    let scratch = Scratch::new();
    let store = create(&scratch.0, 1);
    let mut writer = store.history_writer().expect("a history");
    let events = realistic_events(2);
    for event in &events {
        writer.push(event).expect("written");
    }
    let recording = store.read_history().expect("so far");
    let newest = recording.history.events().last().expect("frames went out by age").time;
    let last = events.last().expect("events").time;
    assert!(last - newest <= 400 * MILLISECOND, "{newest} of {last}");
    writer.flush_stale(last + 250 * MILLISECOND).expect("written");
    assert_eq!(store.read_history().expect("all").history.events(), events);
    assert!(store.history_writer().is_err(), "an old history is not written over");
}

/// The folder of recorded histories, if there is one.
fn recorded() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        eprintln!("not run: STORMGLASS_HISTORIES names no folder of recorded histories");
        return None;
    };
    Some(PathBuf::from(folder))
}

fn read_file(path: &Path) -> Recording {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    history::read(&bytes, &path.display().to_string()).unwrap_or_else(|error| panic!("{error}"))
}

/// Foreign histories in their original form and in JSON lines are the same events.
#[test]
fn recorded_histories_are_read_alike_in_both_forms() {
    let Some(folder) = recorded() else { return };
    let manifest = fs::read(folder.join("manifest.json")).expect("the folder's manifest.json");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    let mut compared = 0;
    for entry in manifest.as_array().expect("a list") {
        let path = |field: &str| entry[field].as_str().map(|path| folder.join(path));
        let Some(lines) = path("path").filter(|path| path.extension() == Some("jsonl".as_ref()))
        else {
            continue;
        };
        let lines = read_file(&lines);
        assert!(!lines.history.is_empty(), "{entry}");
        let Some(raw) = path("raw") else { continue };
        let raw = read_file(&raw);
        assert_eq!(raw.history.len(), lines.history.len(), "{entry}");
        for (raw, line) in raw.history.events().iter().zip(lines.history.events()) {
            let alike = |event: &Event| {
                let Event { kind, process, f, key, value, .. } = event.clone();
                (kind, process, f, key, value)
            };
            assert_eq!(alike(raw), alike(line), "{entry}");
        }
        compared += 1;
    }
    assert!(compared > 0, "no history is there in both forms");
}
