//! `ledger.jsonl`: every fault, written and synced before it is applied, and marked when it is undone.
//!
//! Whoever comes after a crash reads here what may still be in force.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::cluster::{Action, FaultId};
use crate::op::Nanos;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum LedgerEntry {
    /// These actions are about to be performed.
    Begin {
        fault: FaultId,
        time: Nanos,
        actions: Vec<Action>,
        /// The kernel's name for the time since it was booted: rules, frozen processes and moved clocks
        /// do not outlive that.
        #[serde(default)]
        boot: String,
    },
    /// All actions of the fault have been undone, and that has been proven.
    Done { fault: FaultId, time: Nanos },
}

pub struct Ledger {
    path: PathBuf,
    file: File,
    boot: String,
}

/// The name of this boot, as the kernel gives it; empty where it gives none.
pub fn this_boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.unwrap_or_default().trim().to_owned()
}

impl Ledger {
    pub fn create(path: &Path) -> Result<Ledger, StoreError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(|error| StoreError::new("create", path, error))?;
        Ok(Ledger { path: path.into(), file, boot: this_boot() })
    }

    /// Takes up the ledger of a run that was killed: a last line that was not finished is cut off.
    pub fn reopen(path: &Path) -> Result<Ledger, StoreError> {
        let open = || {
            let bytes = std::fs::read(path)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            let file = OpenOptions::new().append(true).open(path)?;
            file.set_len(whole as u64)?;
            Ok(file)
        };
        let file = open().map_err(|error| StoreError::new("take up", path, error))?;
        Ok(Ledger { path: path.into(), file, boot: this_boot() })
    }

    /// Returns when the disk has it; only then may the actions be performed.
    pub fn begin(
        &mut self,
        fault: FaultId,
        time: Nanos,
        actions: &[Action],
    ) -> Result<(), StoreError> {
        let (actions, boot) = (actions.to_vec(), self.boot.clone());
        self.append(&LedgerEntry::Begin { fault, time, actions, boot })
    }

    pub fn done(&mut self, fault: FaultId, time: Nanos) -> Result<(), StoreError> {
        self.append(&LedgerEntry::Done { fault, time })
    }

    fn append(&mut self, entry: &LedgerEntry) -> Result<(), StoreError> {
        let failed = |error| StoreError::new("append to", &self.path, error);
        let mut line = serde_json::to_vec(entry).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(failed)?;
        self.file.sync_data().map_err(failed)
    }
}

/// What a ledger says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LedgerReading {
    /// Faults begun and not done, with their actions in the order in which they were to be performed.
    pub open: BTreeMap<FaultId, Vec<Action>>,
    /// The last line was not finished; its actions were not begun.
    pub torn: bool,
    /// The time of the last entry.
    pub last: Nanos,
    /// On which boot it was last written.
    pub boot: String,
}

impl LedgerReading {
    /// The actions that take everything back, last first.
    pub fn undo(&self) -> Vec<(FaultId, Action)> {
        let faults = self.open.iter().rev();
        let undo = faults.flat_map(|(fault, actions)| {
            actions.iter().rev().filter_map(|action| Some((*fault, action.undo()?)))
        });
        undo.collect()
    }
}

pub fn read_ledger(bytes: &[u8], path: &Path) -> Result<LedgerReading, StoreError> {
    let mut reading = LedgerReading::default();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    for (position, line) in lines.enumerate() {
        let entry = match serde_json::from_slice(line) {
            Ok(entry) => entry,
            Err(_) if !line.ends_with(b"\n") => {
                reading.torn = true;
                break;
            }
            Err(error) => {
                let why = error.to_string();
                return Err(StoreError::Ledger { path: path.into(), line: position + 1, why });
            }
        };
        match entry {
            LedgerEntry::Begin { fault, actions, time, boot } => {
                reading.open.entry(fault).or_default().extend(actions);
                (reading.last, reading.boot) = (time, boot);
            }
            LedgerEntry::Done { fault, time } => {
                reading.open.remove(&fault);
                reading.last = time;
            }
        }
    }
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kill(node: &str) -> Action {
        Action::Kill { node: node.into() }
    }

    fn lines() -> Vec<u8> {
        let begin = |fault, actions| LedgerEntry::Begin {
            fault: FaultId(fault),
            time: 5,
            actions,
            boot: "b1".to_owned(),
        };
        let entries = [
            begin(1, vec![kill("n1"), Action::Pause { node: "n2".into() }]),
            begin(2, vec![kill("n3")]),
            LedgerEntry::Done { fault: FaultId(1), time: 9 },
            begin(3, vec![kill("n1"), Action::Pause { node: "n2".into() }]),
        ];
        let line = |entry| serde_json::to_string(entry).expect("plain data") + "\n";
        entries.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn what_is_not_done_is_open_and_is_undone_last_first() {
        let reading = read_ledger(&lines(), Path::new("ledger.jsonl")).expect("a ledger");
        assert_eq!(reading.open.keys().copied().collect::<Vec<_>>(), [FaultId(2), FaultId(3)]);
        assert_eq!(
            reading.undo(),
            [
                (FaultId(3), Action::Resume { node: "n2".into() }),
                (FaultId(3), Action::Start { node: "n1".into() }),
                (FaultId(2), Action::Start { node: "n3".into() }),
            ]
        );
        assert_eq!((reading.torn, reading.last, &*reading.boot), (false, 5, "b1"));
    }

    #[test]
    fn a_torn_last_line_is_tolerated_wherever_it_ends() {
        let bytes = lines();
        for end in 0..bytes.len() {
            let reading = read_ledger(&bytes[..end], Path::new("ledger.jsonl")).expect("torn");
            let whole = end == 0 || bytes[end - 1] == b'\n' || bytes[end] == b'\n';
            assert_eq!(reading.torn, !whole, "cut at {end}");
        }
    }

    #[test]
    fn a_ledger_that_was_torn_is_taken_up_after_its_last_whole_line() {
        let name = format!("stormglass-ledger-{}.jsonl", std::process::id());
        let path = std::env::temp_dir().join(name);
        let torn = [lines().as_slice(), b"{\"entry\":\"be"].concat();
        std::fs::write(&path, torn).expect("written");
        let mut ledger = Ledger::reopen(&path).expect("taken up");
        ledger.done(FaultId(3), 11).expect("appended");
        let reading = read_ledger(&std::fs::read(&path).expect("read"), &path).expect("whole");
        std::fs::remove_file(&path).expect("our own file");
        assert_eq!(reading.open.keys().copied().collect::<Vec<_>>(), [FaultId(2)]);
        assert_eq!((reading.torn, reading.last), (false, 11));
    }

    #[test]
    fn a_bad_line_before_the_last_is_named() {
        let bytes = [b"{\"entry\":\"begin\",\"fault\":1}\n", lines().as_slice()].concat();
        let error = read_ledger(&bytes, Path::new("r/ledger.jsonl")).unwrap_err().to_string();
        assert!(error.starts_with("r/ledger.jsonl: line 1: expected an entry"), "{error}");
        assert!(error.contains("missing field `time`"), "{error}");
    }
}
