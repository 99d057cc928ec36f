//! A random history in the words of any model, of a store that keeps its promises but for some lies.

use serde_json::{Value as Json, json};

use crate::op::{Event, Kind, MILLISECOND, Nanos, Process, Value};
use crate::rng::Rng;

/// What the store of any model holds; each uses what it needs.
#[derive(Default)]
pub(super) struct World {
    model: &'static str,
    next: i64,
    items: Vec<i64>,
    lists: [Vec<i64>; 2],
    numbers: [i64; 2],
    holder: Option<u32>,
    polled: [usize; 8],
    lies: f64,
}

type Asked = (&'static str, Json);

fn pick(rng: &mut Rng, of: &[&'static str]) -> &'static str {
    rng.pick(of).copied().expect("one of them")
}

impl World {
    fn fresh(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn ask(&mut self, rng: &mut Rng) -> Asked {
        let key = ["x", "y"][rng.below(2) as usize];
        match self.model {
            "register" | "session" | "staleness" | "progress" | "errors" | "availability"
            | "stats" => self.one(rng, "write", &["read"]),
            "cas-register" => match rng.below(3) {
                0 => ("read", Json::Null),
                1 => ("write", self.fresh().into()),
                _ => ("cas", json!([self.items.last().unwrap_or(&0), self.fresh()])),
            },
            "kv" => match rng.below(3) {
                0 => ("put", self.fresh().to_string().into()),
                _ => ("get", Json::Null),
            },
            "multi-register" => self.transaction(rng, ["read", "write"]),
            "rw-register" => self.transaction(rng, ["r", "w"]),
            "list-append" => self.transaction(rng, ["r", "append"]),
            "mutex" | "lease-lock" | "semaphore" | "owner-mutex" | "reentrant-mutex" | "lock"
            | "fenced-lock" => (pick(rng, &["acquire", "release"]), Json::Null),
            "fifo-queue" | "unordered-queue" | "priority-queue" | "queue" => {
                self.one(rng, "enqueue", &["dequeue"])
            }
            "total-queue" => self.one(rng, "enqueue", &["dequeue", "dequeue", "drain"]),
            "stack" => self.one(rng, "push", &["pop"]),
            "linearizable-counter" | "counter" => match rng.chance(0.5) {
                true => ("add", rng.between(1, 3).into()),
                false => ("read", Json::Null),
            },
            "linearizable-set" | "set" | "set-full" => self.one(rng, "add", &["read"]),
            "list" => self.one(rng, "append", &["read"]),
            "comments" | "causal-reverse" => self.one(rng, "write", &["read"]),
            "dirty-read" => self.one(rng, "write", &["read", "strong-read"]),
            "bank" => (pick(rng, &["read", "transfer"]), Json::Null),
            "long-fork" => match (rng.chance(0.3), self.next < 4) {
                (true, true) => ("txn", json!([["w", self.fresh(), 1]])),
                _ => {
                    let first = 1 + 2 * rng.below(2) as i64;
                    ("txn", json!([["r", first, null], ["r", first + 1, null]]))
                }
            },
            "sequential" => ("read", json!(key)),
            "unique-ids" => ("generate", Json::Null),
            "causal" => match rng.chance(0.5) {
                true => ("write", (self.next + 1).into()),
                false => ("read", Json::Null),
            },
            "monotonic" => (pick(rng, &["inc", "read", "read", "read"]), Json::Null),
            "monotonic-inserts" => (pick(rng, &["add", "read"]), Json::Null),
            "adya-g2" => ("insert", json!([self.next / 3, [self.fresh(), null]])),
            "kafka" => match rng.chance(0.5) {
                true => ("send", json!([["send", "x", self.fresh()]])),
                false => ("poll", json!([["poll"]])),
            },
            "epochs" => (pick(rng, &["claim", "observe"]), Json::Null),
            other => panic!("no world for the model {other}"),
        }
    }

    /// Something new, or one of the others with nothing.
    fn one(&mut self, rng: &mut Rng, new: &'static str, others: &[&'static str]) -> Asked {
        match rng.chance(0.5) {
            true => (new, self.fresh().into()),
            false => (pick(rng, others), Json::Null),
        }
    }

    fn transaction(&mut self, rng: &mut Rng, [read, write]: [&'static str; 2]) -> Asked {
        let part = |world: &mut World, rng: &mut Rng| {
            let key = ["x", "y"][rng.below(2) as usize];
            match rng.chance(0.5) {
                true => json!([read, key, null]),
                false => json!([write, key, world.fresh()]),
            }
        };
        let parts: Vec<Json> = (0..rng.between(1, 2)).map(|_| part(self, rng)).collect();
        ("txn", parts.into())
    }

    /// How many of so many are left out: none, but for a lie.
    fn late(&self, rng: &mut Rng, of: usize) -> usize {
        if of > 0 && rng.chance(self.lies) { 1 + rng.below(of as u64) as usize } else { 0 }
    }

    /// The answer, or nothing if it is refused.
    fn act(&mut self, rng: &mut Rng, process: u32, f: &'static str, asked: &Json) -> Option<Json> {
        let lies = rng.chance(self.lies);
        let answer = match (self.model, f) {
            ("multi-register" | "rw-register" | "list-append", _) => self.transact(rng, asked),
            ("long-fork", _) => self.fork(lies, asked),
            ("bank", "transfer") => {
                self.numbers = [self.numbers[0] - 1, self.numbers[1] + 1];
                asked.clone()
            }
            ("bank", _) => json!({"a": self.numbers[0], "b": self.numbers[1] + i64::from(lies)}),
            ("sequential", _) => {
                let seen = rng.below(3);
                let last = (seen > 1 || lies).then_some(2);
                json!([asked, [last, (seen > 0 && !lies).then_some(1)]])
            }
            ("unique-ids", _) => (self.fresh() - i64::from(lies && self.next > 1)).into(),
            ("causal", "write") => {
                self.next = asked.as_i64()?;
                asked.clone()
            }
            ("causal", _) => (self.next - i64::from(lies)).into(),
            ("monotonic", "inc") => {
                self.numbers[rng.below(2) as usize] += 1;
                json!({})
            }
            ("monotonic", _) => {
                let [x, y] = self.numbers;
                let late = i64::from(lies);
                json!({"x": if x > y { x - late } else { x }, "y": if x > y { y } else { y - late }})
            }
            ("monotonic-inserts", "add") => {
                let val = self.fresh();
                self.items.push(val);
                json!({"val": val, "sts": 10 * val})
            }
            ("monotonic-inserts", _) => {
                let late = self.late(rng, self.items.len());
                let rows = self.items.iter().enumerate().filter(|(at, _)| late != at + 1);
                rows.map(|(_, val)| json!({"val": val, "sts": 10 * val})).collect()
            }
            ("adya-g2", _) => {
                let key = asked[0].as_i64()?;
                let is_first = !self.items.contains(&key);
                self.items.push(key);
                return (is_first || lies).then(|| asked.clone());
            }
            ("epochs", "claim") => {
                self.next += i64::from(!lies);
                json!([self.next, rng.below(2) + if lies { 1 } else { self.next as u64 * 10 }])
            }
            ("epochs", _) => return None,
            ("kafka", _) => return self.log(rng, process, asked),
            (_, "acquire" | "release") => return self.lock(process, f, lies),
            (_, "add") if self.model.ends_with("counter") => {
                self.numbers[0] += asked.as_i64()?;
                asked.clone()
            }
            (_, "read") if self.model.ends_with("counter") => {
                (self.numbers[0] + if lies { 7 } else { 0 }).into()
            }
            (_, "cas") => {
                if self.items.last().unwrap_or(&0) != &asked[0].as_i64()? {
                    return None;
                }
                self.items.push(asked[1].as_i64()?);
                asked.clone()
            }
            _ => self.keep(rng, f, asked)?,
        };
        Some(answer)
    }

    /// Registers, queues, stacks, sets and lists.
    fn keep(&mut self, rng: &mut Rng, f: &'static str, asked: &Json) -> Option<Json> {
        let late = self.late(rng, self.items.len());
        let (all, left) = (self.items.len(), self.items.len() - late);
        Some(match f {
            "write" | "put" | "enqueue" | "push" | "append" | "add" => {
                let number = asked.as_str().map_or(asked.as_i64(), |text| text.parse().ok())?;
                self.items.push(number);
                asked.clone()
            }
            "get" => self.items[..left].last().map_or(Json::Null, |item| item.to_string().into()),
            "dequeue" if all == 0 => Json::Null,
            "dequeue" if late > 0 => self.items[left].into(),
            "dequeue" => self.items.remove(0).into(),
            "drain" => std::mem::take(&mut self.items).into(),
            "pop" if late > 0 => self.items[left].into(),
            "pop" => self.items.pop().into(),
            "read" if ["set", "set-full", "linearizable-set"].contains(&self.model) && late > 0 => {
                let mut seen = self.items.clone();
                seen.remove(left);
                seen.into()
            }
            "read" | "strong-read" if self.is_read_as_one(f) => {
                self.items[..left].last().copied().into()
            }
            "read" | "strong-read" => {
                let from = if late > 0 && self.model != "list" { late } else { 0 };
                let to = if self.model == "list" { left } else { all };
                self.items[from..to].to_vec().into()
            }
            _ => Json::Null,
        })
    }

    fn is_read_as_one(&self, f: &str) -> bool {
        let whole = ["set", "set-full", "linearizable-set", "list", "comments", "causal-reverse"];
        !whole.contains(&self.model) && f == "read"
    }

    fn transact(&mut self, rng: &mut Rng, asked: &Json) -> Json {
        let parts = asked.as_array().expect("parts").iter().map(|part| {
            let list = &mut self.lists[usize::from(part[1] == "y")];
            let late = if !list.is_empty() && rng.chance(self.lies) { 1 } else { 0 };
            let left = list.len() - late;
            match part[2].as_i64() {
                Some(value) => list.push(value),
                None if self.model == "list-append" => {
                    return json!([part[0], part[1], list[..left].to_vec()]);
                }
                None => return json!([part[0], part[1], list[..left].last()]),
            }
            part.clone()
        });
        parts.collect()
    }

    fn fork(&mut self, lies: bool, asked: &Json) -> Json {
        let parts = asked.as_array().expect("parts").iter().map(|part| {
            let key = part[1].as_i64().expect("a key");
            if part[0] == "w" {
                self.items.push(key);
                return part.clone();
            }
            let is_there = self.items.contains(&key) != lies;
            json!(["r", key, is_there.then_some(1)])
        });
        parts.collect()
    }

    fn log(&mut self, rng: &mut Rng, process: u32, asked: &Json) -> Option<Json> {
        if let Some(message) = asked[0][2].as_i64() {
            self.items.push(message);
            return Some(json!([["send", "x", [self.items.len() - 1, message]]]));
        }
        let at = self.polled[process as usize % 8].min(self.items.len());
        let at = at + usize::from(rng.chance(self.lies) && at < self.items.len());
        self.polled[process as usize % 8] = self.items.len();
        let seen: Vec<Json> =
            (at..self.items.len()).map(|at| json!([at, self.items[at]])).collect();
        Some(json!([["poll", {"x": seen}]]))
    }

    fn lock(&mut self, process: u32, f: &str, lies: bool) -> Option<Json> {
        match (f, self.holder) {
            ("acquire", None) => self.holder = Some(process),
            ("release", Some(holder)) if holder == process => self.holder = None,
            _ if !lies => return None,
            _ => {}
        }
        let token = if self.model == "fenced-lock" && f == "acquire" {
            self.fresh().into()
        } else {
            Json::Null
        };
        Some(token)
    }
}

fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Number(number) => Value::Int(number.as_i64().expect("a whole number")),
        Json::Array(items) => match items.iter().map(Json::as_i64).collect::<Option<Vec<i64>>>() {
            Some(numbers) => Value::list(numbers),
            None => Value::Json(Box::new(items.into())),
        },
        json => Value::Json(Box::new(json)),
    }
}

struct Open {
    f: &'static str,
    asked: Json,
    answer: Option<Option<Json>>,
}

/// So many steps of a few clients.
pub(super) fn history(model: &'static str, rng: &mut Rng, steps: u64, lies: f64) -> Vec<Event> {
    let mut world = World { model, lies, ..World::default() };
    let clients = rng.between(1, 4) as usize;
    let mut open: Vec<Option<Open>> = (0..clients).map(|_| None).collect();
    let mut ids: Vec<u32> = (0..clients as u32).collect();
    let (mut events, mut time): (Vec<Event>, Nanos) = (Vec::new(), 0);
    for _ in 0..steps {
        time += rng.between(1, 3 * MILLISECOND);
        let thread = rng.below(clients as u64) as usize;
        let process = ids[thread];
        let (kind, f, json) = match open[thread].take() {
            None => {
                let (f, asked) = world.ask(rng);
                open[thread] = Some(Open { f, asked: asked.clone(), answer: None });
                (Kind::Invoke, f, asked)
            }
            Some(mut op) if op.answer.is_none() && rng.chance(0.9) => {
                op.answer = Some(world.act(rng, process, op.f, &op.asked));
                open[thread] = Some(op);
                continue;
            }
            Some(Open { f, asked, answer }) => match (answer, rng.below(12)) {
                (_, 0) => {
                    ids[thread] += clients as u32;
                    (Kind::Info, f, asked)
                }
                (Some(Some(answer)), _) => (Kind::Ok, f, answer),
                _ => (Kind::Fail, f, asked),
            },
        };
        let index = events.len() as u64;
        let process = Process::Client(process);
        events.push(Event { index, time, value: value(json), ..Event::new(kind, process, f) });
    }
    events
}
