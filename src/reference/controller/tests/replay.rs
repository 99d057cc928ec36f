//! The recorded conversation with the real controller, held with ours: status, content type, location and body
//! of every answer.
//!
//! Masked: node ids (each recorded one must stand for the same one of ours throughout), the eight letters of a
//! session id, times of creation, and the body of `/metrics`, which names the real program's own figures.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Value, json};

use super::lab::{C0, LEADS, Lab};
use crate::http::{Method, Response};
use crate::reference::ControllerVariant;
use crate::reference::testing::on_paused_clock;

const RECORDED: &str = include_str!("recorded/controller-rest.txt");

#[derive(Debug)]
struct Step {
    method: Method,
    controller: u8,
    target: String,
    body: String,
    status: u16,
    headers: BTreeMap<String, String>,
    answer: String,
}

impl Step {
    fn parse(text: &str) -> Step {
        let (asked, said) = text.split_once('\n').expect("an answer");
        let form = Regex::new(r"^-X (\w+) http://10\.0\.0\.(\d+):9379(\S+) +(?:-d '(.*)')? *$");
        let asked = form.expect("sound").captures(asked).expect(asked);
        let (head, answer) = said.split_once("\n\n").expect("a body");
        let mut head = head.lines();
        let status = head.next().and_then(|line| line.split(' ').nth(1)).expect("a status");
        let headers = head.filter_map(|line| line.split_once(": "));
        let answer = answer.trim_end().trim_end_matches("---").trim_end();
        Step {
            method: asked[1].parse().expect("a method"),
            controller: asked[2].parse().expect("a controller"),
            target: asked[3].to_owned(),
            body: asked.get(4).map_or("", |body| body.as_str()).to_owned(),
            status: status.parse().expect("a status"),
            headers: headers.map(|(name, value)| (name.into(), value.into())).collect(),
            answer: answer.to_owned(),
        }
    }

    /// The version of the cluster that the answer shows.
    fn version(&self) -> Option<i64> {
        let answer: Value = serde_json::from_str(&self.answer).ok()?;
        answer["data"]["cluster"]["version"].as_i64().filter(|_| self.target.starts_with(C0))
    }
}

fn steps() -> Vec<Step> {
    let steps: Vec<Step> = RECORDED.split("$ curl -s -i ").skip(1).map(Step::parse).collect();
    assert_eq!(steps.len(), 58);
    steps
}

/// Which of our node ids stands for which recorded one.
#[derive(Default)]
struct Ids(BTreeMap<String, String>);

impl Ids {
    fn all(text: &str) -> Vec<String> {
        let id = Regex::new("\"([0-9A-Za-z]{40})\"").expect("sound");
        id.captures_iter(text).map(|found| found[1].to_owned()).collect()
    }

    fn learn(&mut self, recorded: &str, ours: &str) {
        for (recorded, ours) in Ids::all(recorded).into_iter().zip(Ids::all(ours)) {
            let known = self.0.entry(recorded).or_insert(ours.clone());
            assert_eq!(*known, ours);
        }
    }

    fn replace(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (recorded, ours)| text.replace(recorded, ours))
    }
}

fn masked(text: &str) -> String {
    let time = Regex::new(r#""created_at":[1-9]\d*"#).expect("sound");
    let session = Regex::new("http://[0-9A-Za-z]{8}/10").expect("sound");
    let text = time.replace_all(text, "\"created_at\":1").into_owned();
    session.replace_all(&text, "http://SESSION/10").into_owned()
}

/// What happened between the recorded steps.
async fn prepare(lab: &Lab, step: &Step, ids: &Ids) {
    if let Some(version) = step.version() {
        let stored = if step.method == Method::GET { version } else { version - 1 };
        lab.until("the version", || lab.version() == stored).await;
    }
    if step.answer.contains("\"slot_ranges\":[\"16000-16010\"]") {
        lab.until("the slots have moved", || lab.version() == 39).await;
    }
    if step.controller == 21 && step.target == format!("{C0}/shards") && step.method == Method::GET
    {
        lab.kill(22).await;
        lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
        let answer: Value = serde_json::from_str(&ids.replace(&step.answer)).expect("JSON");
        // The order of fields in ZooKeeper does not matter.
        let document = json!({"version": 33, "name": "c0", "shards": answer["data"]["shards"]});
        let part = crate::cluster::MultiOp::Set {
            path: "/kvrocks/metadata/ns0/cluster/c0".to_owned(),
            data: document.to_string().into_bytes(),
            version: None,
        };
        lab.zookeeper.tree.borrow_mut().perform(0, &[part]).expect("written");
        lab.until_pushed(33).await;
    }
}

/// What the nodes made of it.
fn follow(lab: &Lab, step: &Step) {
    let moves = step.target.ends_with("/migrate") && step.status == 200;
    if moves && !step.body.contains("slot_only") {
        let state = if step.body.contains("\"101\"") { "fail" } else { "success" };
        for last in 31..=34 {
            if let Some(migration) = &mut lab.node(last).borrow_mut().migration {
                migration.2 = state.to_owned();
            }
        }
    }
}

fn compare(step: &Step, ids: &mut Ids, answer: &Response) {
    assert_eq!(answer.status, step.status, "{step:?}: {}", answer.text());
    for name in ["Content-Type", "Location"] {
        let expected = step.headers.get(name).map(|value| masked(&ids.replace(value)));
        assert_eq!(answer.header(name).map(masked), expected, "{step:?}");
    }
    if step.target != "/metrics" {
        ids.learn(&step.answer, &answer.text());
        assert_eq!(masked(&answer.text()), masked(&ids.replace(&step.answer)), "{step:?}");
    }
}

#[test]
fn every_recorded_answer_is_given() {
    on_paused_clock(async {
        let lab = Lab::six(ControllerVariant::AsShipped).await;
        (35..=37).for_each(|last| lab.start_node(last));
        (31..=34).for_each(|last| lab.node(last).borrow_mut().sequence = 5475);
        lab.start_node(41);
        let lines = "1111111111111111111111111111111111111111 10.0.0.41 6666 master - 0-8191\n\
                     3333333333333333333333333333333333333333 10.0.0.43 6666 slave 1111111111111111111111111111111111111111\n\
                     2222222222222222222222222222222222222222 10.0.0.42 6666 master - 8192-16383\n";
        lab.node(41).borrow_mut().lines = lines.to_owned();
        lab.node(41).borrow_mut().version = 2;
        let mut ids = Ids::default();
        for step in steps() {
            prepare(&lab, &step, &ids).await;
            let target = ids.replace(&step.target);
            let asked = lab.ask(step.controller, step.method.clone(), &target, &step.body);
            let answer = asked.await.expect("an answer");
            compare(&step, &mut ids, &answer);
            follow(&lab, &step);
        }
    });
}
