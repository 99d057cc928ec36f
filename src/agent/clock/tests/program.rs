//! Programs that say what their clocks show: built once, started as often as wanted.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use crate::agent::process;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    C,
    StaticC,
    Go,
    Java,
    StaticRust,
}

/// One line of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub wall_ns: i64,
    pub monotonic_ns: i64,
    pub wrong: i64,
}

pub struct Program {
    pub kind: Kind,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Reading>,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::C, Kind::StaticC, Kind::Go, Kind::Java, Kind::StaticRust];

    fn source(self) -> (&'static str, &'static str) {
        match self {
            Kind::C | Kind::StaticC => {
                ("clock.c", include_str!("../../../tests/clock_programs/clock.c"))
            }
            Kind::Go => ("clock.go", include_str!("../../../tests/clock_programs/clock.go")),
            Kind::Java => ("Clock.java", include_str!("../../../tests/clock_programs/Clock.java")),
            Kind::StaticRust => {
                ("clock.rs", include_str!("../../../tests/clock_programs/clock.rs"))
            }
        }
    }

    fn compiler(self) -> &'static str {
        match self {
            Kind::C => "cc -O2 -pthread -o clock clock.c",
            Kind::StaticC => "cc -O2 -pthread -static -o clock clock.c",
            Kind::Go => "go build -o clock clock.go",
            Kind::Java => "javac -d . Clock.java",
            Kind::StaticRust => "rustc -O -C target-feature=+crt-static -o clock clock.rs",
        }
    }

    fn start(self, folder: &Path) -> Command {
        match self {
            Kind::Java => {
                let mut command = Command::new("java");
                command.args(["-Xmx64m", "-cp"]).arg(folder).arg("Clock");
                command
            }
            _ => Command::new(folder.join("clock")),
        }
    }

    /// Where the built program is.
    fn build(self) -> Result<PathBuf, String> {
        static BUILDING: Mutex<()> = Mutex::new(());
        let _alone = BUILDING.lock();
        let name = format!("stormglass-clock-{}-{self:?}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        if folder.join("built").exists() {
            return Ok(folder);
        }
        let (name, text) = self.source();
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        std::fs::write(folder.join(name), text).map_err(|error| error.to_string())?;
        let mut words = self.compiler().split(' ');
        let mut compiler = Command::new(words.next().expect("a word"));
        compiler.args(words).current_dir(&folder).env("CGO_ENABLED", "0");
        let output = compiler.output().map_err(|error| format!("{}: {error}", self.compiler()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{}: {said}", self.compiler()));
        }
        std::fs::write(folder.join("built"), "").map_err(|error| error.to_string())?;
        Ok(folder)
    }
}

impl Program {
    /// An error where the program cannot be built here.
    pub fn start(kind: Kind) -> Result<Program, String> {
        let folder = kind.build()?;
        let mut program = Program::spawn(kind, &mut kind.start(&folder));
        program.next();
        Ok(program)
    }

    /// A shell that becomes the program when it is let.
    pub fn start_by_shell() -> Result<Program, String> {
        let folder = Kind::C.build()?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("read go; exec {}", folder.join("clock").display()));
        Ok(Program::spawn(Kind::C, &mut shell))
    }

    fn spawn(kind: Kind, command: &mut Command) -> Program {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Where the kernel lets only ancestors trace, its holder is not one.
        let anyone = || {
            // SAFETY: a plain system call.
            unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
            Ok(())
        };
        // SAFETY: what is done after the fork is one system call.
        unsafe { command.pre_exec(anyone) };
        let mut child = command.spawn().expect("started");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(parse(&line)).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Program { kind, child, input, lines }
    }

    pub fn let_shell_start_it(&mut self) {
        let input = self.input.as_mut().expect("its input");
        input.write_all(b"go\n").expect("it reads");
        self.next();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn next(&mut self) -> Reading {
        self.lines.recv_timeout(PATIENCE).expect("it goes on")
    }

    /// Past what it said before now.
    pub fn skip_to_now(&mut self) {
        while self.lines.try_recv().is_ok() {}
    }

    pub fn until(&mut self, wanted: impl Fn(&Reading) -> bool) -> Reading {
        let started = Instant::now();
        loop {
            let line = self.next();
            assert_eq!(line.wrong, 0, "{line:?}");
            if wanted(&line) {
                return line;
            }
            assert!(started.elapsed() < PATIENCE, "never as wanted, last {line:?}");
        }
    }

    pub fn assert_alive_and_well(&mut self) {
        assert_eq!(self.child.try_wait().expect("waited for"), None, "it has ended");
        self.skip_to_now();
        let line = self.next();
        assert_eq!(line.wrong, 0, "{line:?}");
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the child is not yet waited for, so the pid is its own.
        assert_eq!(unsafe { libc::kill(self.pid() as i32, signal) }, 0);
    }

    pub fn await_state(&self, state: char) {
        let started = Instant::now();
        while process::facts(self.pid()).expect("readable").expect("there").state != state {
            assert!(started.elapsed() < PATIENCE, "never {state}");
            std::thread::yield_now();
        }
    }

    /// Which signals it handles, blocks and ignores.
    pub fn handled_signals(&self) -> Vec<String> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()));
        let status = status.expect("its status");
        let lines =
            // Those that wait come and go: a Go program preempts itself by them.
            status.lines().filter(|line| ["SigBlk", "SigIgn", "SigCgt"].contains(&&line[..line.len().min(6)]));
        lines.map(str::to_owned).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended; either way nothing of it is left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parse(line: &str) -> Reading {
    let numbers: Vec<i64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
    let [wall_ns, monotonic_ns, wrong] = numbers[..] else { panic!("three numbers: {line}") };
    Reading { wall_ns, monotonic_ns, wrong }
}
