//! A headless Chromium, spoken to by the DevTools protocol over a pair of pipes.
//!
//! With `--remote-debugging-pipe` the browser reads commands from descriptor 3 and writes replies and
//! events to 4, each a JSON text ended by a zero byte: no port, no socket library, nothing to race with.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
];
/// A browser that says nothing for this long has died or hangs.
const SILENCE_MAX: Duration = Duration::from_secs(90);

pub struct Browser {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    next_id: u64,
    /// Events of the page, in the order seen.
    pub events: Vec<Value>,
    folder: PathBuf,
}

/// What a screenshot shows.
pub enum Picture {
    /// What the window shows, made smaller.
    InSight {
        scale: f64,
    },
    Whole,
}

impl Browser {
    /// Starts a browser with an empty profile and one empty page.
    pub fn start() -> Browser {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("stormglass-page-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        // The shell puts our two pipes where the browser looks for them.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#, "sh", "chromium"])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh runs");
        let commands = child.stdin.take().expect("stdin is piped");
        let messages = listen(BufReader::new(child.stdout.take().expect("stdout is piped")));
        let events = Vec::new();
        let mut browser =
            Browser { child, commands, messages, session: None, next_id: 1, events, folder };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", attach);
        self.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Opens a page of this text, seen at this width and in this theme, and waits until it is loaded.
    pub fn open(&mut self, html: &str, (width, height): (u32, u32), theme: &str) {
        let path = self.folder.join("report.html");
        std::fs::write(&path, html).expect("the temporary folder can be written");
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
        self.events.clear();
        let opened = self.call("Page.navigate", json!({"url": url(&path)}));
        assert_eq!(opened.get("errorText"), None, "the page opens");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let message = self.receive();
            self.events.push(message);
        }
        // Two frames later everything that the scripts asked for is drawn.
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
    }

    /// The value of an expression in the page, promises awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let reply = self.call("Runtime.evaluate", parameters);
        assert!(reply.get("exceptionDetails").is_none(), "{expression}: {reply}");
        reply["result"]["value"].clone()
    }

    pub fn screenshot(&mut self, picture: Picture) -> Vec<u8> {
        let (height, scale) = match picture {
            Picture::InSight { scale } => ("innerHeight", scale),
            Picture::Whole => ("document.documentElement.scrollHeight", 1.0),
        };
        let size = self.evaluate(&format!("[innerWidth, {height}]"));
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": scale});
        let parameters = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let reply = self.call("Page.captureScreenshot", parameters);
        let data = reply["data"].as_str().expect("a screenshot has data");
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data)
            .expect("the protocol sends base64")
    }

    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let sent = write!(self.commands, "{command}\0").and_then(|()| self.commands.flush());
        sent.unwrap_or_else(|error| panic!("chromium is gone ({error}); is it installed?"));
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn receive(&mut self) -> Value {
        self.messages
            .recv_timeout(SILENCE_MAX)
            .unwrap_or_else(|error| panic!("chromium says nothing ({error}); is it installed?"))
    }
}

fn listen(mut replies: impl BufRead + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut message = Vec::new();
        while replies.read_until(0, &mut message).is_ok_and(|length| length > 0) {
            let text = message.strip_suffix(&[0]).unwrap_or(&message);
            let Ok(json) = serde_json::from_slice(text) else { break };
            if sender.send(json).is_err() {
                break;
            }
            message.clear();
        }
    });
    receiver
}

fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session = None;
        let _ = write!(self.commands, "{}\0", json!({"id": 0, "method": "Browser.close"}));
        let _ = self.commands.flush();
        // Closing our side ends it; the wait is bounded by the listener seeing its end.
        while self.messages.recv_timeout(Duration::from_secs(5)).is_ok() {}
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
