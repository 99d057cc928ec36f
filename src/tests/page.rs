//! The report in a real browser: it draws, it fits, it complains of nothing and asks for nothing.
//!
//! Runs with `STORMGLASS_TESTS=browser` and needs Chromium. With `STORMGLASS_SCREENSHOT=out.png` as well it
//! leaves pictures: `out.png` (from the verdict to the latency plot at 1280 px, light,
//! made a little smaller), `out-dark.png`, `out-390.png`,
//! `out-390-dark.png`, and the whole page as `out-whole.png`, `out-whole-dark.png`, `out-whole-390.png`;
//! of the report that `STORMGLASS_REPORT=report.html` names, or else of a made-up invalid run and, as
//! `out-storm.png` and so on, of one under faults of every kind, and `out-split.png` of one with a split brain.

mod browser;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::browser::{Browser, Picture};
use crate::fixture::{self, Run};
use crate::gate::wanted;

const WIDE: (u32, u32) = (1280, 960);
/// Down to the end of the latency plot.
const TALL: (u32, u32) = (1280, 1190);
const NARROW: (u32, u32) = (390, 844);

/// `None`, and a word about it, unless a browser was asked for.
fn browser() -> Option<Browser> {
    wanted("browser").then(Browser::start)
}

#[test]
fn the_report_of_an_invalid_run_is_whole() {
    let Some(mut browser) = browser() else { return };
    let run = fixture::invalid();
    for (size, theme) in [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")] {
        browser.open(&run.html(), size, theme);
        assert_sound(&mut browser, size);
        assert_eq!(text(&mut browser, "#verdict"), "Invalid");
        assert_plots_are_drawn(&mut browser);
        assert_timeline_is_drawn(&mut browser, 3);
    }
}

#[test]
fn a_run_under_every_kind_of_fault_shows_what_each_did() {
    let Some(mut browser) = browser() else { return };
    let html = fixture::storm().html();
    for (size, theme) in [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")] {
        browser.open(&html, size, theme);
        assert_sound(&mut browser, size);
        assert_plots_are_drawn(&mut browser);
        for (section, told) in [
            ("#faults", "throttle-link"),
            ("#faults", "this world has no disk"),
            ("#hits", "process 900007 recorded info 4.0 s later"),
            ("#failovers", "2 nodes led at once"),
            ("#clocks", "zookeeper2 wall clock"),
        ] {
            let shown = text(&mut browser, section);
            assert!(shown.contains(told), "{section}: {shown}");
        }
        for family in ["links", "processes", "messages", "clocks", "sessions"] {
            let height = format!(
                "document.querySelector('#faults .lane path.{family}:not([d=\"\"])')\
                    .getBoundingClientRect().height"
            );
            let height = browser.evaluate(&height).as_f64().unwrap_or(0.0);
            assert!(height > 5.0, "a mark of {family} is {height} px high");
        }
    }
}

#[test]
fn a_split_brain_shows_who_took_writes_of_the_slot_and_under_which_version() {
    let Some(mut browser) = browser() else { return };
    let html = fixture::split_brain().html();
    assert!(html.len() < 900_000, "{} bytes", html.len());
    for (size, theme) in [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")] {
        browser.open(&html, size, theme);
        assert_sound(&mut browser, size);
        assert_plots_are_drawn(&mut browser);
        for (section, told) in [
            ("#slots", "Slot 130 anomaly"),
            ("#slots", "asked for 4 times"),
            ("#topology", "the controllers"),
            ("#redirects", "MOVED"),
            ("#redirects", "TRYAGAIN"),
            ("#anomaly-1", "slot 130 was written at kvrocks1 and kvrocks3"),
            ("#anomaly-1", "A migration of slot 130 to shard 1 was asked for."),
            ("#anomaly-1", "kvrocks3 acknowledged a write"),
            ("#anomaly-1", "both took writes"),
        ] {
            let shown = text(&mut browser, section);
            assert!(shown.contains(told), "{section}: {shown}");
        }
        let lanes = "[...document.querySelectorAll('#slots .lane path.stretch.leads')]\
            .filter(path => path.getBoundingClientRect().height > 5).length";
        assert!(browser.evaluate(lanes).as_u64() >= Some(2), "both writers have a lane");
        let line = "document.querySelector('#topology path.line-1').getBoundingClientRect().height";
        assert!(browser.evaluate(line).as_f64() > Some(40.0), "the versions go up");
    }
}

#[test]
fn other_runs_show_their_verdicts() {
    let Some(mut browser) = browser() else { return };
    let cases: [(Run, &str); 3] = [
        (fixture::valid(), "Valid"),
        (fixture::interrupted(), "Valid so far interrupted"),
        (fixture::large(), "Invalid"),
    ];
    for (run, verdict) in cases {
        browser.open(&run.html(), WIDE, "light");
        assert_sound(&mut browser, WIDE);
        assert_eq!(text(&mut browser, "#verdict"), verdict);
        assert_plots_are_drawn(&mut browser);
    }
}

#[test]
fn a_run_without_operations_has_a_report_without_plots() {
    let Some(mut browser) = browser() else { return };
    for size in [WIDE, NARROW] {
        browser.open(&fixture::empty().html(), size, "light");
        assert_sound(&mut browser, size);
        assert_eq!(text(&mut browser, "#verdict"), "Infrastructure failure");
        assert_eq!(browser.evaluate("document.querySelectorAll('canvas').length"), json!(0));
    }
}

#[test]
fn hostile_text_stays_text() {
    let Some(mut browser) = browser() else { return };
    for size in [WIDE, NARROW] {
        browser.open(&fixture::hostile().html(), size, "light");
        assert_sound(&mut browser, size);
        assert_plots_are_drawn(&mut browser);
        assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), json!(0));
        let shown = browser.evaluate("document.body.innerText.includes('</script><b>boo</b>')");
        assert_eq!(shown, json!(true));
    }
}

#[test]
fn the_plots_answer_to_pointer_keys_and_switches() {
    let Some(mut browser) = browser() else { return };
    browser.open(&fixture::invalid().html(), WIDE, "light");
    let before = painted(&mut browser, "#latency-plot");
    browser.evaluate("document.querySelector('#legend button').click()");
    let without_ok = painted(&mut browser, "#latency-plot");
    assert!(without_ok < before, "hiding ok leaves {without_ok} of {before} pixels");
    browser.evaluate("document.querySelector('#legend button').click()");

    browser.evaluate("document.querySelector('#latency-plot').focus()");
    press(&mut browser, "ArrowRight");
    let first = text(&mut browser, "#latency-readout");
    assert!(first.contains("process") && first.contains(" ms"), "{first}");
    press(&mut browser, "ArrowRight");
    assert_ne!(text(&mut browser, "#latency-readout"), first);

    browser.evaluate("document.querySelector('#rate-plot').scrollIntoView({block: 'center'})");
    let place = "(() => { const at = document.querySelector('#rate-plot .u-over')\
        .getBoundingClientRect(); return [at.left + at.width / 4, at.top + at.height / 2]; })()";
    let place = browser.evaluate(place);
    let moved = json!({"type": "mouseMoved", "x": place[0], "y": place[1]});
    browser.call("Input.dispatchMouseEvent", moved);
    browser
        .evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let readout = text(&mut browser, "#rate-readout");
    assert!(readout.contains("ok ") && readout.contains("partition-one f1"), "{readout}");

    browser.evaluate("document.querySelector('[data-zoom=in]').click()");
    let zoomed = browser.evaluate("document.querySelector('.theme').textContent");
    browser.evaluate("document.querySelector('.theme').click()");
    assert_ne!(browser.evaluate("document.querySelector('.theme').textContent"), zoomed);
    assert_sound(&mut browser, WIDE);
    assert_plots_are_drawn(&mut browser);
}

#[test]
fn the_command_is_copied_and_the_proofs_unfold() {
    let Some(mut browser) = browser() else { return };
    let run = fixture::invalid();
    browser.open(&run.html(), WIDE, "light");
    click(&mut browser, ".copy[data-copy=repro]");
    let label = "new Promise(done => { const look = () => {
        const label = document.querySelector('.copy').textContent;
        if (label === 'Copy') requestAnimationFrame(look); else done(label); }; look(); })";
    assert_eq!(browser.evaluate(label), json!("Copied"));
    assert_eq!(text(&mut browser, "#repro"), run.results.repro);

    click(&mut browser, "#nemesis details summary");
    let proof = text(&mut browser, "#nemesis details");
    assert!(proof.contains("zookeeper1→zookeeper2: expected no answer in 200 ms"), "{proof}");
    assert_sound(&mut browser, WIDE);
}

#[test]
fn pictures_are_made_on_request() {
    let Ok(path) = std::env::var("STORMGLASS_SCREENSHOT").map(PathBuf::from) else {
        return println!("not run: needs STORMGLASS_SCREENSHOT=out.png");
    };
    let Some(mut browser) = browser() else { return };
    match std::env::var("STORMGLASS_REPORT") {
        Ok(report) => {
            let html = std::fs::read_to_string(&report)
                .unwrap_or_else(|error| panic!("STORMGLASS_REPORT={report}: {error}"));
            pictures(&mut browser, &html, &path);
        }
        Err(_) => {
            pictures(&mut browser, &fixture::invalid().html(), &path);
            let stem = path.file_stem().expect("the path names a file").to_string_lossy();
            let storm = path.with_file_name(format!("{stem}-storm.png"));
            pictures(&mut browser, &fixture::storm().html(), &storm);
            let split = path.with_file_name(format!("{stem}-split.png"));
            pictures(&mut browser, &fixture::split_brain().html(), &split);
        }
    }
}

fn pictures(browser: &mut Browser, html: &str, path: &Path) {
    for (suffix, size, theme, picture) in [
        ("", TALL, "light", Picture::InSight { scale: 0.72 }),
        ("-dark", TALL, "dark", Picture::InSight { scale: 1.0 }),
        ("-390", NARROW, "light", Picture::InSight { scale: 1.0 }),
        ("-390-dark", NARROW, "dark", Picture::InSight { scale: 1.0 }),
        ("-whole", WIDE, "light", Picture::Whole),
        ("-whole-dark", WIDE, "dark", Picture::Whole),
        ("-whole-390", NARROW, "light", Picture::Whole),
    ] {
        browser.open(html, size, theme);
        let stem = path.file_stem().expect("the path names a file").to_string_lossy();
        let file = path.with_file_name(format!("{stem}{suffix}.png"));
        std::fs::write(&file, browser.screenshot(picture))
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

/// No complaint, no request but for the page itself, and nothing wider than the window.
fn assert_sound(browser: &mut Browser, (width, _): (u32, u32)) {
    let overflow = browser.evaluate("document.scrollingElement.scrollWidth");
    assert!(overflow.as_u64() <= Some(width.into()), "{overflow} px wide in a window of {width}");
    for event in &browser.events {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled" => {
                panic!("the page complains: {parameters}")
            }
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                let is_local = url.starts_with("data:") || url.ends_with("/report.html");
                assert!(is_local, "the page asks for {url}");
            }
            _ => {}
        }
    }
    let opened = |event: &Value| event["method"] == "Network.requestWillBeSent";
    assert!(browser.events.iter().any(opened), "requests are watched");
}

fn assert_plots_are_drawn(browser: &mut Browser) {
    for plot in ["#latency-plot", "#rate-plot"] {
        let painted = painted(browser, plot);
        assert!(painted > 400, "{plot} has {painted} painted pixels");
    }
}

/// Pixels in the blue of `ok` operations: neither axes nor grid nor fault bands have it.
fn painted(browser: &mut Browser, plot: &str) -> u64 {
    let count = format!(
        "(() => {{ const canvas = document.querySelector('{plot} canvas');
            const copy = document.createElement('canvas');
            copy.width = canvas.width; copy.height = canvas.height;
            const context = copy.getContext('2d', {{willReadFrequently: true}});
            context.drawImage(canvas, 0, 0);
            const pixels = context.getImageData(0, 0, copy.width, copy.height).data;
            let painted = 0;
            for (let i = 0; i < pixels.length; i += 4) {{
                const red = pixels[i], green = pixels[i + 1], blue = pixels[i + 2];
                if (pixels[i + 3] > 60 && blue - red > 60 && green > red) painted++;
            }}
            return painted; }})()"
    );
    browser.evaluate(&count).as_u64().unwrap_or(0)
}

fn assert_timeline_is_drawn(browser: &mut Browser, proofs: u64) {
    let bars = "document.querySelectorAll('#anomaly-1 svg.timeline g.op:not(.context)').length";
    assert_eq!(browser.evaluate(bars), json!(proofs));
    let box_of = "(() => { const bar = document.querySelector('#anomaly-1 g.op:not(.context) .bar')\
        .getBoundingClientRect(); return Math.min(bar.width, bar.height); })()";
    let size = browser.evaluate(box_of).as_f64().unwrap_or(0.0);
    assert!(size >= 1.0, "a bar of {size} px");
}

fn text(browser: &mut Browser, selector: &str) -> String {
    let text = browser.evaluate(&format!("document.querySelector('{selector}').innerText"));
    text.as_str().unwrap_or_default().to_string()
}

fn click(browser: &mut Browser, selector: &str) {
    let place = format!(
        "(() => {{ const element = document.querySelector('{selector}');
            element.scrollIntoView({{block: 'center', behavior: 'instant'}});
            const at = element.getBoundingClientRect();
            return [at.left + at.width / 2, at.top + at.height / 2]; }})()"
    );
    let place = browser.evaluate(&place);
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left",
            "clickCount": 1});
        browser.call("Input.dispatchMouseEvent", event);
    }
}

fn press(browser: &mut Browser, key: &str) {
    for kind in ["keyDown", "keyUp"] {
        let event = json!({"type": kind, "key": key, "code": key});
        browser.call("Input.dispatchKeyEvent", event);
    }
}
