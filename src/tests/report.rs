//! The reports as text, over whole made-up runs.

use expect_test::{Expect, expect};
use stormglass::checker::Verdict;
use stormglass::nemesis::Pacing;
use stormglass::report::{Colours, Expected, ReportInput, Results, html, junit, terminal};

use crate::fixture::{self, HOSTILE_TEXT, Run};

const MEBIBYTE: usize = 1 << 20;

#[test]
fn the_same_run_gives_the_same_page() {
    assert!(fixture::invalid().html() == fixture::invalid().html());
}

#[test]
fn a_large_run_gives_a_small_page_that_says_so() {
    let run = fixture::large();
    let operations = run.history.operations().len();
    assert!(operations > 300_000, "{operations}");
    let html = run.html();
    assert!(html.len() < 5 * MEBIBYTE, "{} bytes", html.len());
    assert!(html.contains("So that the page stays small, the latency plot shows"));
    assert!(!fixture::invalid().html().contains("So that the page stays small"));
}

#[test]
fn hostile_text_is_escaped_everywhere() {
    let run = fixture::hostile();
    let html = run.html();
    assert!(html.contains("&lt;/script&gt;&lt;b&gt;boo"), "in the explanation and the scenario");
    assert!(html.contains("\\u003c/script\\u003e"), "in the plots' data");
    assert!(!html.contains("<b>boo") && !html.contains("<img"));
    assert_eq!(html.matches("</script>").count(), 4, "three scripts and the data");
}

#[test]
fn hostile_words_of_faults_are_escaped() {
    let mut run = fixture::storm();
    let results = &mut run.results;
    let hostile = || HOSTILE_TEXT.to_owned();
    let hit = &mut results.hits[0];
    (hit.words, hit.why, hit.message.request) = (hostile(), hostile(), hostile());
    (hit.message.reply, hit.operation) = (Some(hostile()), None);
    results.skipped[0].why = hostile();
    results.triggers[0].by[0].by = hostile();
    results.clocks[0].moved.checks[0].seen = hostile();
    results.coverage[0].role = hostile();
    let failovers = results.failovers.as_mut().expect("the leader changed");
    failovers.loops[0].words = hostile();
    let html = run.html();
    assert!(html.matches("&lt;b&gt;boo").count() >= 10);
    assert!(!html.contains("<b>boo") && !html.contains("<img"));
    let text = terminal(&run.results, "", Colours::Plain);
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(!junit(&run.results).contains('\u{1b}'));
}

#[test]
fn the_page_loads_nothing() {
    let html = fixture::invalid().html();
    assert!(html.contains("content=\"default-src 'none';"));
    for loader in ["src=\"", "@import", "url(http", "<link rel=\"stylesheet\""] {
        assert!(!html.contains(loader), "{loader}");
    }
}

#[test]
fn the_page_says_what_was_run_and_how_to_run_it_again() {
    let run = fixture::invalid();
    let html = run.html();
    for word in run.results.repro.split(' ') {
        assert!(html.contains(&format!("<span class=\"word\">{word}</span>")), "{word}");
    }
    for text in [&run.results.why, &run.results.checkers[0].anomalies[0].summary, "recover_within"]
    {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn an_unfinished_run_shows_what_was_never_answered() {
    let run = fixture::interrupted();
    let unfinished = run.history.operations().iter().filter(|(_, done)| done.is_none()).count();
    assert!(unfinished > 0, "the run was cut off in the middle");
    let html = run.html();
    assert!(html.contains("Valid so far") && html.contains("unfinished"));
}

fn check_terminal(results: &Results, expected: Expect) {
    let text = terminal(results, "results/latest/report.html", Colours::Plain);
    assert!(text.lines().count() <= 25, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    expected.assert_eq(&text);
}

#[test]
fn the_terminal_tells_of_an_invalid_run() {
    check_terminal(
        &fixture::invalid().results,
        expect![[r#"
            Invalid  (exit code 1)
              Reads at zookeeper1 returned values that acknowledged writes had replaced, while it was cut off
              from the other nodes.
              run      zookeeper/register-local-reads / partition-one in docker (as-shipped), seed 7
              anomaly  nonlinearizable: Process 0 on zookeeper1 read 1947 from key 6 at 10.058 s, but write 1980
                       had completed at 10.042 s on zookeeper2 and nothing wrote 1947 after it.
              anomaly  nonlinearizable: Process 6 on zookeeper1 read 1967 from key 4 at 10.091 s, but write 1979
                       had completed at 10.035 s on zookeeper3 and nothing wrote 1967 after it.
              anomaly  nonlinearizable: Process 42 on zookeeper1 read 1969 from key 2 at 11.197 s, but write
                       1974 had completed at 10.002 s on zookeeper2 and nothing wrote 1969 after it.
              fault    partition-one on one: Acted 2 times, felt by the workload, undone and proven.
              report   results/latest/report.html
              again    stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker \
                       --time 60s --rate 200 --concurrency 10n --seed 7
        "#]],
    );
}

#[test]
fn the_terminal_tells_of_hits_and_failovers() {
    let mut results = fixture::storm().results;
    (results.nemesis, results.repro) = ("storm".into(), "stormglass run …".into());
    check_terminal(
        &results,
        expect![[r#"
            Unknown  (exit code 2)
              late-reply did not act: no message of the workload matched; mix did not act: cut is indeterminate;
              pause-on-log did not act: it was never begun
              run      zookeeper/register-local-reads / storm in docker (as-shipped), seed 7
              fault    late-reply on leader: Acted once and was undone, but the workload did not feel it: no …
              fault    pause-on-log on one: Never began: it waited for a log line like `SNAPSHOT .* corrupt` …
              fault    partition-one on one: Acted once, felt by the workload, undone and proven.
              fault    and 6 more
              hit      zookeeper3 applied `set /stormglass-register/r3 = "90017"` (ok zxid=0x500000a31
                       version=88); its reply was held; process 900007 recorded info 4.0 s later; it is there …
              failover failover-loop on pace: 7.9 a minute, 6 to 12 wanted; an election took 1.6 s (median)
              report   results/latest/report.html
              again    stormglass run …
        "#]],
    );
}

#[test]
fn results_tell_what_the_faults_did() {
    let results = serde_json::to_value(fixture::storm().results).expect("plain data");
    let cell = |fault: &str| {
        let cells = results["coverage"].as_array().expect("a table");
        let cell = cells.iter().find(|cell| cell["fault"] == fault).expect(fault);
        ["role", "phase", "begun", "installed", "felt", "lasting", "healed"]
            .map(|figure| cell[figure].to_string().replace('"', ""))
            .join(" ")
    };
    assert_eq!(cell("failover-loop"), "zookeeper main 9 9 9 0 0");
    assert_eq!(cell("late-reply"), "zookeeper main 1 1 0 1 1");
    assert_eq!(cell("mix"), "zookeeper main 3 2 2 2 1");
    assert_eq!(cell("pause-on-log"), " main 0 0 0 0 0");
    assert_eq!(results["failovers"]["loops"][0]["verdict"], "on pace");
    assert_eq!(results["failovers"]["offices"][0]["reigns"][1]["epoch"], 6);
    assert_eq!(results["hits"][0]["operation"]["process"], "900007");
    assert_eq!(results["skipped"][0]["why"], "this world has no disk that could be slow");
    let read: Results = serde_json::from_value(results).expect("it is read back");
    assert_eq!(read, fixture::storm().results);
}

#[test]
fn junit_has_a_case_for_each_loop_of_failovers() {
    let mut results = fixture::storm().results;
    let case = |results: &Results| {
        let xml = junit(results);
        let from = xml.find("failovers of failover-loop on pace").expect("a case");
        let end = xml[from..].find("</testcase>").expect("an end");
        xml[from..from + end].contains("<skipped")
    };
    assert!(!case(&results));
    assert!(junit(&results).contains("its reply was held; process 900007 recorded info"));
    let failovers = results.failovers.as_mut().expect("the leader changed");
    failovers.loops[0].verdict = Pacing::TooSlow;
    assert!(case(&results));
}

#[test]
fn the_page_links_to_the_schedule_only_where_there_is_one() {
    let run = fixture::storm();
    assert!(run.html().contains("href=\"schedule.yaml\""));
    assert!(!html(&run.results, &run.history, &ReportInput::default()).contains("schedule.yaml"));
}

#[test]
fn a_leader_that_changes_all_the_time_gives_a_small_page() {
    let mut run = fixture::storm();
    let before = run.html().len();
    let failovers = run.results.failovers.as_mut().expect("the leader changed");
    let hits = std::mem::take(&mut run.results.hits);
    let office = &mut failovers.offices[0];
    office.reigns = office.reigns.iter().cycle().take(20_000).cloned().collect();
    office.overlaps = office.overlaps.iter().cycle().take(5_000).cloned().collect();
    run.results.hits = hits.iter().cycle().take(500).cloned().collect();
    run.results.hits_total = 80_000;
    run.results.clocks = run.results.clocks.iter().cycle().take(900).cloned().collect();
    let html = run.html();
    assert!(html.len() < before + MEBIBYTE, "{} bytes", html.len());
    assert!(html.contains("The other 19,800 are in results.json."));
    assert!(html.contains("79,790 more are in the history."));
}

#[test]
fn the_terminal_tells_of_a_broken_harness() {
    check_terminal(
        &fixture::empty().results,
        expect![[r#"
            Infrastructure failure  (exit code 3)
              The image zookeeper:3.9 could not be had, so nothing was started.
              run      zookeeper/register-local-reads / partition-one in docker (as-shipped), seed 7
              harness  image zookeeper:3.9: no such image, and building it failed
              report   results/latest/report.html
              again    stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker \
                       --time 60s --rate 200 --concurrency 10n --seed 7
        "#]],
    );
}

#[test]
fn the_terminal_stays_small_whatever_is_found() {
    let mut results = fixture::hostile().results;
    let anomaly = results.checkers[0].anomalies[0].clone();
    results.checkers[0].anomalies = vec![anomaly; 400];
    results.faults = vec![results.faults[0].clone(); 30];
    results.harness = vec![HOSTILE_TEXT.repeat(20); 9];
    results.why = HOSTILE_TEXT.repeat(9);
    results.repro = format!("stormglass run w {}", "--variant node=lost-ack ".repeat(12));
    let text = terminal(&results, "results/latest/report.html", Colours::Plain);
    assert!(text.lines().count() <= 25, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(!text.contains('\u{1b}'), "no control characters from the run reach the terminal");
    assert!(text.contains("and 397 more") && text.contains("and 26 more"), "{text}");
    let coloured = terminal(&results, "report.html", Colours::Ansi);
    assert!(coloured.starts_with("\u{1b}[1;31mInvalid\u{1b}[0m"), "{coloured}");
}

fn check_junit(results: &Results, expected: Expect) {
    expected.assert_eq(&junit(results));
}

#[test]
fn junit_of_an_invalid_run_fails_the_checker() {
    let mut results = fixture::invalid().results;
    results.checkers[0].anomalies.truncate(1);
    check_junit(
        &results,
        expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="stormglass" tests="4" failures="1" errors="0">
            <testsuite name="zookeeper/register-local-reads / partition-one (docker)" tests="4" disabled="0" errors="0" failures="1">
                <properties>
                    <property name="seed" value="7"/>
                    <property name="version" value="stormglass 0.1.0"/>
                </properties>
                <testcase name="run" classname="stormglass.zookeeper.register-local-reads">
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <testcase name="checker linearizable" classname="stormglass.zookeeper.register-local-reads">
                    <failure message="Process 0 on zookeeper1 read 1947 from key 6 at 10.058 s, but write 1980 had completed at 10.042 s on zookeeper2 and nothing wrote 1947 after it." type="nonlinearizable">8 keys searched to the end, decided by zones and a search.
        nonlinearizable: Process 0 on zookeeper1 read 1947 from key 6 at 10.058 s, but write 1980 had completed at 10.042 s on zookeeper2 and nothing wrote 1947 after it.
          The last state both nodes agreed on is 1947.
          write 1980 was acknowledged 17 ms before the read began.
          No order of these operations gives this read, whatever becomes of the unknown ones.</failure>
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <testcase name="checker recovery" classname="stormglass.zookeeper.register-local-reads">
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <testcase name="fault partition-one on one acted and healed" classname="stormglass.zookeeper.register-local-reads">
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <system-out>Reads at zookeeper1 returned values that acknowledged writes had replaced, while it was cut off from the other nodes.
        run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
            </testsuite>
        </testsuites>
    "#]],
    );
}

#[test]
fn junit_of_an_undecided_run_skips() {
    let mut results = fixture::valid().results;
    (results.verdict, results.exit_code) = ("unknown".into(), 2);
    results.why = "The fault partition-one was not felt.".into();
    results.checkers[0].verdict = Verdict::Unknown;
    results.checkers[0].why = "the memory budget was used up at key 3".into();
    results.faults[0].felt = false;
    results.faults[0].why = "no packet of the workload met the cut".into();
    check_junit(
        &results,
        expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="stormglass" tests="4" failures="0" errors="0">
            <testsuite name="zookeeper/register-local-reads / partition-one (docker)" tests="4" disabled="3" errors="0" failures="0">
                <properties>
                    <property name="seed" value="7"/>
                    <property name="version" value="stormglass 0.1.0"/>
                </properties>
                <testcase name="run" classname="stormglass.zookeeper.register-local-reads">
                    <skipped message="The fault partition-one was not felt."/>
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <testcase name="checker linearizable" classname="stormglass.zookeeper.register-local-reads">
                    <skipped message="the memory budget was used up at key 3"/>
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <testcase name="checker recovery" classname="stormglass.zookeeper.register-local-reads">
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <testcase name="fault partition-one on one acted and healed" classname="stormglass.zookeeper.register-local-reads">
                    <skipped message="Acted 2 times and was undone, but the workload did not feel it: no packet of the workload met the cut"/>
                    <system-out>run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
                </testcase>
                <system-out>The fault partition-one was not felt.
        run it again: stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker --time 60s --rate 200 --concurrency 10n --seed 7
        </system-out>
            </testsuite>
        </testsuites>
    "#]],
    );
}

#[test]
fn junit_agrees_with_the_exit_code() {
    let counts = |results: &Results| {
        let xml = junit(results);
        let header = xml.lines().nth(2).unwrap_or_default().to_string();
        let count = |name: &str| {
            let from = header.find(&format!(" {name}=\"")).expect("the suite counts its cases");
            header[from..].split('"').nth(1).and_then(|text| text.parse::<usize>().ok())
        };
        (count("failures").expect("a number"), count("errors").expect("a number"))
    };
    assert_eq!(counts(&fixture::valid().results), (0, 0));
    assert_eq!(counts(&fixture::invalid().results), (1, 0));
    assert_eq!(counts(&fixture::empty().results), (0, 1));
    assert_eq!(counts(&fixture::interrupted().results), (0, 1), "a heal is not proven");

    let nameless = Results { checkers: Vec::new(), ..fixture::invalid().results };
    assert_eq!(counts(&nameless), (1, 0), "exit code 1 fails even if no checker says why");

    let expecting = |run: Run, found, exit_code| {
        let expected = Expected { anomaly: "nonlinearizable".into(), found };
        Results { expected: Some(expected), exit_code, ..run.results }
    };
    assert_eq!(counts(&expecting(fixture::invalid(), true, 0)), (0, 0), "known to be broken");
    assert_eq!(counts(&expecting(fixture::valid(), false, 1)), (1, 0), "missed in the simulation");
    assert_eq!(counts(&expecting(fixture::valid(), false, 2)), (0, 0), "missed in docker");
}
