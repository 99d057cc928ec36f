//! The programs that take part: the generator, porcupine, and this one in a process of its own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::judged;

/// How much porcupine may take of one history.
#[derive(Clone, Copy)]
pub struct Bounds {
    cpu_seconds: u32,
    memory_mb: u32,
}

impl Bounds {
    pub const FULL: Bounds = Bounds { cpu_seconds: 60, memory_mb: 6_000 };
    pub const QUICK: Bounds = Bounds { cpu_seconds: 10, memory_mb: 2_000 };
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s of CPU and {} MB", self.cpu_seconds, self.memory_mb)
    }
}

/// What checking one history took.
#[derive(Clone, Debug)]
pub struct Taken {
    /// `valid`, `invalid`, `unknown`, or why porcupine gave none.
    pub verdict: String,
    /// Of ours; porcupine's is not told.
    pub parse_ms: f64,
    pub check_ms: f64,
    pub peak_mb: f64,
}

impl Taken {
    pub fn is_decided(&self) -> bool {
        matches!(self.verdict.as_str(), "valid" | "invalid")
    }
}

pub struct Tools {
    histgen: PathBuf,
    txngen: PathBuf,
    porcupine: PathBuf,
    work: PathBuf,
    bounds: Bounds,
}

impl Tools {
    /// Builds the Go programs, of `sources`, into `work`.
    pub fn build(sources: &Path, work: &Path, bounds: Bounds) -> Tools {
        std::fs::create_dir_all(work).expect("a folder to work in");
        let built = |name: &str, folder: PathBuf, package: &str| {
            let program = work.join(name);
            let mut go = Command::new("go");
            go.args(["build", "-o"]).arg(&program).arg(package).current_dir(&folder);
            let status = go.status().expect("Go, to build the peers");
            assert!(status.success(), "{} is built in {}", name, folder.display());
            program
        };
        Tools {
            histgen: built("histgen", sources.to_owned(), "./cmd/histgen"),
            txngen: built("txngen", sources.to_owned(), "./cmd/txngen"),
            porcupine: built("porcupine", sources.join("porcupine"), "."),
            work: work.to_owned(),
            bounds,
        }
    }

    pub fn generate(&self, arguments: &str, name: &str) -> PathBuf {
        self.generated_by(&self.histgen, arguments, name)
    }

    pub fn generate_transactions(&self, arguments: &str, name: &str) -> PathBuf {
        self.generated_by(&self.txngen, arguments, name)
    }

    fn generated_by(&self, generator: &Path, arguments: &str, name: &str) -> PathBuf {
        let file = self.work.join(format!("{}.jsonl", name.replace([' ', ',', '%'], "-")));
        let mut command = Command::new(generator);
        let status = command.args(arguments.split_whitespace()).arg("-out").arg(&file).status();
        assert!(status.is_ok_and(|status| status.success()), "{} {arguments}", generator.display());
        file
    }

    /// A generated history takes hundreds of megabytes.
    pub fn forget(&self, file: &Path) {
        std::fs::remove_file(file).expect("a generated history to remove");
    }

    /// Violations are told, and so many explained: porcupine only decides.
    pub fn ours(&self, file: &Path, model: &str, options: &str, explained: usize) -> Taken {
        let myself = std::env::current_exe().expect("this program's path");
        let mut command = Command::new(myself);
        command.arg(judged::MODE).arg(file).args([model, options, &explained.to_string()]);
        let output = command.output().expect("this program runs");
        let told = String::from_utf8_lossy(&output.stdout);
        let fields: Vec<&str> = told.split_whitespace().collect();
        let [verdict, parse, check, peak] = fields.as_slice() else {
            panic!("{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
        };
        let figure = |text: &str| text.parse().expect("a figure");
        Taken {
            verdict: (*verdict).to_owned(),
            parse_ms: figure(parse),
            check_ms: figure(check),
            peak_mb: figure(peak),
        }
    }

    pub fn porcupine(&self, file: &Path, kind: &str) -> Taken {
        let Bounds { cpu_seconds, memory_mb } = self.bounds;
        let mut command = Command::new(&self.porcupine);
        command.args(["-kind", kind, "-cpu", &format!("{cpu_seconds}s")]);
        command.args(["-timeout", &format!("{}s", 4 * cpu_seconds)]);
        command.args(["-cap-mb", &memory_mb.to_string()]).arg(file);
        let output = command.output().expect("porcupine runs");
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let figure = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
        let verdict = match told["verdict"].as_str() {
            Some("Ok") => "valid",
            Some("Illegal") => "invalid",
            Some("MEM") => "out of memory",
            Some("CPU-TIMEOUT" | "TIMEOUT") => "out of time",
            _ => "failed",
        };
        Taken {
            verdict: verdict.to_owned(),
            parse_ms: f64::NAN,
            check_ms: figure("cpu_ms"),
            peak_mb: figure("peak_mb"),
        }
    }
}
