//! Clocks of real processes, children of the test: C, Go, Java and Rust, busy and with many threads.

mod program;

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::*;
use crate::agent::detour::tests::{control_pages, vdso_of};
use crate::rng::Rng;
use program::{Kind, Program, Reading};

const HOUR_NS: i64 = 3_600_000_000_000;
const MINUTE_NS: i64 = 60_000_000_000;
/// Longer than any line of a program is on its way, much shorter than any bump.
const SLACK_NS: i64 = 20_000_000_000;

/// Names the process that a second one of this test is to skew until it is killed.
const VICTIM: &str = "STORMGLASS_CLOCK_VICTIM";
const BEGUN: &str = "skewing";
const KILLS: usize = 20;

fn offsets(wall_ns: i64, monotonic_ns: i64) -> Offsets {
    Offsets { wall_ns, monotonic_ns }
}

fn near(reading: i64, expected: i64) -> bool {
    (reading - expected).abs() < SLACK_NS
}

impl Program {
    fn process(&self) -> Process {
        Process::of(self.pid()).expect("readable").expect("alive")
    }

    fn asked(&self) -> Offsets {
        let clock = ask(&self.process()).expect("a report");
        let Shown::Read { offsets, error_ns } = clock.shown else { panic!("{clock:?}") };
        assert!(offsets.agree(clock.ordered, error_ns), "{clock:?}");
        assert!((error_ns as i64) < SLACK_NS);
        clock.ordered
    }

    fn is_detoured(&self) -> bool {
        Target::open(&self.process()).and_then(|target| target.is_detoured()).expect("readable")
    }

    /// Reads lines until one shows the wall clock off by this; the first must not show anything else
    /// than `before` or this.
    fn until_wall_is_off_by(&mut self, offset_ns: i64) -> Reading {
        self.until(|line| near(line.wall_ns - now(libc::CLOCK_REALTIME), offset_ns))
    }
}

/// For each kind of program that can be built here.
fn for_each_program(test: impl Fn(&mut Program)) {
    for kind in Kind::ALL {
        match Program::start(kind) {
            Ok(mut program) => {
                println!("{kind:?}");
                test(&mut program);
                program.assert_alive_and_well();
            }
            Err(why) => println!("not run: {kind:?}: {why}"),
        }
    }
}

#[test]
fn a_process_that_nobody_touched_shows_true_clocks_and_stays_untouched() {
    for_each_program(|program| {
        let before = std::fs::read_to_string(format!("/proc/{}/maps", program.pid()));
        assert_eq!(program.asked(), Offsets::default());
        assert!(!program.is_detoured());
        if program.kind == Kind::C {
            let after = std::fs::read_to_string(format!("/proc/{}/maps", program.pid()));
            assert_eq!(before.expect("maps"), after.expect("maps"));
        }
        let process = program.process();
        assert_eq!(undo(&process).expect("healed"), None);
    });
}

#[test]
fn a_wall_bump_is_seen_by_its_process_only_and_heals_exactly() {
    for_each_program(|program| {
        let mut other = Program::start(program.kind).expect("a second one");
        let vdso = vdso_of(&program.process()).expect("its vDSO");
        let handled = program.handled_signals();
        let line = program.until_wall_is_off_by(0);
        let monotonic_lag = now(libc::CLOCK_MONOTONIC) - line.monotonic_ns;

        assert!(!set(&program.process(), offsets(HOUR_NS, 0)).expect("set"));
        assert!(set(&program.process(), offsets(HOUR_NS, 0)).expect("set"), "set already");
        assert_eq!(program.asked(), offsets(HOUR_NS, 0));
        let line = program.until_wall_is_off_by(HOUR_NS);
        assert!(near(now(libc::CLOCK_MONOTONIC) - line.monotonic_ns, monotonic_lag));
        other.skip_to_now();
        let line = other.next();
        assert!(near(line.wall_ns, now(libc::CLOCK_REALTIME)), "{line:?}");
        assert_eq!(other.asked(), Offsets::default());
        let clock = ask(&program.process()).expect("a report");
        assert!(clock.wall_calls > 0 && clock.monotonic_calls == 0, "{clock:?}");

        set(&program.process(), offsets(-HOUR_NS, 0)).expect("set");
        program.until_wall_is_off_by(-HOUR_NS);

        let healed = undo(&program.process()).expect("healed").expect("was skewed");
        assert_eq!((healed.detoured, healed.monotonic_ns), (false, 0));
        assert_eq!(program.asked(), Offsets::default());
        program.until_wall_is_off_by(0);
        assert!(
            vdso_of(&program.process()).expect("its vDSO") == vdso,
            "the functions are the original ones"
        );
        assert_eq!(program.handled_signals(), handled);
        other.assert_alive_and_well();
    });
}

#[test]
fn a_monotonic_bump_stays_until_the_process_ends_and_never_goes_back() {
    for_each_program(|program| {
        let line = program.until_wall_is_off_by(0);
        let lag = now(libc::CLOCK_MONOTONIC) - line.monotonic_ns;
        let lag_is = |line: &Reading, ahead: i64| {
            near(now(libc::CLOCK_MONOTONIC) - line.monotonic_ns, lag - ahead)
        };
        set(&program.process(), offsets(-HOUR_NS, MINUTE_NS)).expect("set");
        let line = program.until_wall_is_off_by(-HOUR_NS);
        assert!(lag_is(&line, MINUTE_NS));
        // Less is not given; the wall clock follows all the same.
        set(&program.process(), offsets(HOUR_NS, 5)).expect("set");
        assert_eq!(program.asked(), offsets(HOUR_NS, MINUTE_NS));
        let healed = undo(&program.process()).expect("healed").expect("was skewed");
        assert_eq!((healed.detoured, healed.monotonic_ns), (true, MINUTE_NS));
        assert_eq!(program.asked(), offsets(0, MINUTE_NS));
        let line = program.until_wall_is_off_by(0);
        assert!(lag_is(&line, MINUTE_NS));
        let clock = ask(&program.process()).expect("a report");
        assert!(clock.wall_calls > 0 && clock.monotonic_calls > 0, "{clock:?}");
    });
}

#[test]
fn a_hundred_times_skewed_and_healed_a_process_lives() {
    for_each_program(|program| {
        let (mut injections, mut changes, mut heals) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = None;
        for round in 0..100 {
            let process = program.process();
            let mut target = Target::open(&process).expect("a target");
            let started = Instant::now();
            target.detour().expect("detoured");
            let took = started.elapsed();
            first.get_or_insert(took);
            injections.push(took);
            let started = Instant::now();
            set(&process, offsets(HOUR_NS * (round % 5 - 2), 0)).expect("set");
            changes.push(started.elapsed());
            let started = Instant::now();
            undo(&process).expect("healed").expect("was detoured");
            heals.push(started.elapsed());
            if round % 10 == 0 {
                assert_eq!(program.asked(), Offsets::default());
            }
            program.skip_to_now();
        }
        println!("first injection {:?}", first.expect("a round"));
        println!("injection {}", spread(injections));
        println!("change {}", spread(changes));
        println!("heal {}", spread(heals));
        program.until_wall_is_off_by(0);
        assert_eq!(
            control_pages(&program.process()).expect("readable"),
            1,
            "our code is mapped once, not each time anew"
        );
    });
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    format!("median {:?}, 90 % {:?}, longest {:?}", at(50), at(90), at(100))
}

#[test]
fn a_stopped_process_is_skewed_and_stays_stopped() {
    let Ok(mut program) = Program::start(Kind::C) else {
        return println!("not run: no C compiler");
    };
    program.signal(libc::SIGSTOP);
    program.await_state('T');
    set(&program.process(), offsets(HOUR_NS, 0)).expect("set");
    assert_eq!(program.asked(), offsets(HOUR_NS, 0));
    program.await_state('T');
    program.signal(libc::SIGCONT);
    program.skip_to_now();
    program.until_wall_is_off_by(HOUR_NS);
    program.assert_alive_and_well();
}

#[test]
fn a_program_started_anew_has_true_clocks_and_is_skewed_again() {
    let Ok(mut program) = Program::start_by_shell() else {
        return println!("not run: no C compiler");
    };
    let shell = program.process();
    set(&shell, offsets(HOUR_NS, 0)).expect("set");
    program.let_shell_start_it();
    program.until_wall_is_off_by(0);
    let process = program.process();
    assert_eq!((process.pid, process.start_ticks), (shell.pid, shell.start_ticks));
    assert_eq!(program.asked(), Offsets::default());
    set(&process, offsets(HOUR_NS, 0)).expect("set");
    program.until_wall_is_off_by(HOUR_NS);
}

/// Says that it begins, then skews and heals a process until it is killed.
fn skew_until_killed(pid: u32) -> ! {
    println!("{BEGUN}");
    loop {
        let process = Process::of(pid).expect("readable").expect("alive");
        let done = set(&process, offsets(HOUR_NS, 0))
            .and_then(|_| ask(&process))
            .and_then(|_| undo(&process));
        done.expect("skewed, read and healed");
    }
}

#[test]
fn who_is_killed_in_the_midst_of_it_leaves_a_process_that_lives_and_can_be_skewed() {
    if let Ok(pid) = std::env::var(VICTIM) {
        skew_until_killed(pid.parse().expect("a pid"));
    }
    let rng = RefCell::new(Rng::from_seed(7));
    for_each_program(|program| {
        let pid = program.pid().to_string();
        let name = "who_is_killed_in_the_midst_of_it_leaves_a_process_that_lives_and_can_be_skewed";
        for _ in 0..KILLS {
            let mut skewer = Command::new(std::env::current_exe().expect("ourselves"));
            skewer.args(["--exact", &format!("agent::clock::tests::{name}"), "--nocapture"]);
            let skewer = skewer.env(VICTIM, &pid).stdout(Stdio::piped()).spawn();
            let mut skewer = skewer.expect("started");
            let lines = BufReader::new(skewer.stdout.take().expect("its output")).lines();
            let begun = lines.map_while(Result::ok).any(|line| line.ends_with(BEGUN));
            assert!(begun, "it ended");
            std::thread::sleep(Duration::from_micros(rng.borrow_mut().below(10_000)));
            skewer.kill().expect("killed");
            let ended = skewer.wait().expect("ended");
            assert_eq!(ended.signal(), Some(libc::SIGKILL), "it was at work until then");
            program.assert_alive_and_well();
        }
        set(&program.process(), offsets(HOUR_NS, 0)).expect("set");
        program.until_wall_is_off_by(HOUR_NS);
        undo(&program.process()).expect("healed").expect("was skewed");
        program.until_wall_is_off_by(0);
    });
}

#[test]
fn a_child_of_our_own_can_be_skewed() {
    println!("{:?}", try_out().expect("works here"));
}

#[test]
fn offsets_that_no_clock_can_show_are_refused() {
    let cases = [
        (offsets(i64::MAX, 0), "between 1970"),
        (offsets(i64::MIN, 0), "between 1970"),
        (offsets(-now(libc::CLOCK_REALTIME) - HOUR_NS, 0), "between 1970"),
        (offsets(0, -1), "it never goes back"),
        (offsets(0, i64::MAX), "a hundred years"),
    ];
    for (offsets, expected) in cases {
        let error = check(offsets).expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(check(offsets(-HOUR_NS, HOUR_NS)).is_ok());
    let error = Clocks::default().skew(std::process::id(), offsets(1, 0)).expect_err("ours");
    assert!(error.to_string().contains("one of the host's own"), "{error:#}");
    let mut closed = Clocks::default();
    closed.close();
    let error = closed.skew(1, offsets(1, 0)).expect_err("closed").to_string();
    assert!(error.contains("the agent is ending"), "{error}");
}
