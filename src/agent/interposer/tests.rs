//! What becomes of messages, by form, in RESP for being readable; and that nothing else is touched.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::mpsc::{Receiver, sync_channel};

use std::time::Duration;

use super::armory::{Armory, End, Facing, ResolvedTap, Sighting};
use crate::cluster::{Concerning, Effect, FaultId, Form, LookoutId, MessageRule, Side, Tap};
use crate::duration::Span;
use crate::rng::Rng;
use crate::wire::{Deed, Splice};

const FAULT: Concerning = Concerning::Fault(FaultId(1));
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

struct Lab {
    armory: Armory,
    sightings: Receiver<Sighting>,
    end: End,
    splice: Splice,
}

impl Lab {
    fn new() -> Lab {
        let (tell, sightings) = sync_channel(1000);
        let end =
            End { side: Side::Inbound, port: 6379, peer: PEER, connection: "a→b".to_owned() };
        Lab { armory: Armory::new("n1".into(), tell), sightings, end, splice: Splice::default() }
    }

    fn arm(&mut self, concerning: Concerning, pattern: &str, form: Form, nth: u64, times: u64) {
        let delay = (form == Form::Delay).then(|| Span::seconds(1));
        let pattern = pattern.parse().expect("a pattern");
        let rule = MessageRule { pattern, form, nth, times: Some(times), delay };
        self.armory.arm(concerning, vec![tap(6379, vec![PEER])], Effect::Message(rule));
    }

    fn say(&mut self, words: &str) -> Vec<Deed> {
        self.hear(words.as_bytes(), true)
    }

    fn answer(&mut self, words: &str) -> Vec<Deed> {
        self.hear(words.as_bytes(), false)
    }

    fn hear(&mut self, bytes: &[u8], is_up: bool) -> Vec<Deed> {
        let mut facing = Facing { armory: &mut self.armory, end: &self.end };
        match is_up {
            true => self.splice.requests(bytes, &mut facing),
            false => self.splice.replies(bytes, &mut facing),
        }
    }

    fn finish(&mut self) {
        self.splice.finish(&mut Facing { armory: &mut self.armory, end: &self.end });
    }

    /// What has been told since, in short.
    fn told(&self) -> String {
        let line = |Sighting { concerning, message, .. }: Sighting| {
            let reply = message.reply.unwrap_or_else(|| "-".to_owned());
            let applied = if message.applied { " applied" } else { "" };
            format!("{concerning} {}: {reply}{applied} #{}", message.request, message.nth)
        };
        self.sightings.try_iter().map(line).collect::<Vec<_>>().join("; ")
    }
}

fn tap(port: u16, peers: Vec<Ipv4Addr>) -> ResolvedTap {
    let tap = Tap { node: "n1".into(), side: Side::Inbound, port, peers: BTreeSet::new() };
    ResolvedTap { tap, peers }
}

fn passes(words: &str) -> Vec<Deed> {
    vec![Deed::Pass(words.as_bytes().to_vec())]
}

#[test]
fn a_held_reply_never_comes_nor_what_either_end_says_later() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set", Form::Hold, 1, 1);
    assert_eq!(lab.say("GET a\r\nSET a 1\r\n"), passes("GET a\r\nSET a 1\r\n"));
    let deeds = lab.answer("$1\r\nx\r\n+OK\r\n+more\r\n");
    assert_eq!(deeds, [passes("$1\r\nx\r\n"), vec![Deed::Hold(FAULT)]].concat());
    assert_eq!(lab.told(), "f1 SET a 1: OK applied #1");
    assert_eq!(lab.say("GET b\r\nGET"), [], "it never arrives");
    assert_eq!(lab.splice.end_of_requests(), [], "nor does half of one");
    assert_eq!(lab.answer("+never\r\n"), []);
}

#[test]
fn a_closed_upon_reply_does_not_come() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set", Form::Close, 1, 1);
    assert_eq!(lab.say("SET a 1\r\n"), passes("SET a 1\r\n"));
    assert_eq!(lab.answer("-ERR"), [], "not yet whole");
    assert_eq!(lab.answer(" no\r\n"), [Deed::Close]);
    assert_eq!(lab.told(), "f1 SET a 1: error ERR no #1");
}

#[test]
fn a_delayed_reply_is_late_with_all_behind_it() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set", Form::Delay, 1, 1);
    lab.say("GET a\r\nSET a 1\r\nGET a\r\n");
    let deeds = lab.answer("+x\r\n+OK\r\n+1\r\n");
    let delay = vec![Deed::Delay(Duration::from_secs(1), FAULT)];
    assert_eq!(deeds, [passes("+x\r\n"), delay, passes("+OK\r\n+1\r\n")].concat());
    assert_eq!(lab.told(), "f1 SET a 1: OK applied #1");
}

#[test]
fn a_doubled_request_is_answered_once() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp incr", Form::Duplicate, 1, 1);
    let deeds = lab.say("INCR a\r\nGET a\r\n");
    assert_eq!(deeds, passes("INCR a\r\nINCR a\r\nGET a\r\n"));
    assert_eq!(lab.answer(":1\r\n:2\r\n$1\r\n2\r\n"), passes(":1\r\n$1\r\n2\r\n"));
    assert_eq!(lab.told(), "f1 INCR a: 1; again: 2 applied #1");
}

#[test]
fn a_dropped_request_does_not_arrive_and_others_keep_their_replies() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set", Form::DropRequest, 1, 1);
    assert_eq!(lab.say("GET a\r\nSET a 1\r\nGET b\r\n"), passes("GET a\r\nGET b\r\n"));
    assert_eq!(lab.told(), "f1 SET a 1: - #1");
    lab.arm(FAULT, "resp get b", Form::Close, 1, 1);
    assert_eq!(lab.say("GET b\r\n"), passes("GET b\r\n"));
    let deeds = lab.answer("+a\r\n+b\r\n+b\r\n");
    assert_eq!(deeds, [passes("+a\r\n+b\r\n"), vec![Deed::Close]].concat(), "the last of three");
}

#[test]
fn matches_are_counted_and_only_those_wanted_are_hit() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set k*", Form::DropRequest, 2, 2);
    let mut passed = String::new();
    for key in ["k1", "x", "k2", "k3", "k4"] {
        for deed in lab.say(&format!("SET {key} 1\r\n")) {
            let Deed::Pass(bytes) = deed else { panic!("{deed:?}") };
            passed.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    assert_eq!(passed, "SET k1 1\r\nSET x 1\r\nSET k4 1\r\n");
    assert_eq!(lab.told(), "f1 SET k2 1: - #2; f1 SET k3 1: - #3");
    let spent = lab.armory.disarm(FAULT).expect("armed");
    assert_eq!((spent.matches, spent.hits, spent.released), (4, 2, 0));
}

#[test]
fn lookouts_are_told_of_requests_at_once_and_touch_nothing() {
    let mut lab = Lab::new();
    lab.arm(Concerning::Lookout(LookoutId(3)), "resp set", Form::Watch, 1, 9);
    lab.arm(FAULT, "resp set", Form::Hold, 2, 1);
    assert_eq!(lab.say("SET a 1\r\n"), passes("SET a 1\r\n"));
    assert_eq!(lab.told(), "lookout 3 SET a 1: - #1");
    assert_eq!(lab.answer("+OK\r\n"), passes("+OK\r\n"));
    assert_eq!(lab.told(), "");
}

#[test]
fn other_connections_and_other_protocols_are_not_concerned() {
    for (port, peers) in [(6380, vec![]), (6379, vec![Ipv4Addr::new(10, 0, 0, 2)])] {
        let mut lab = Lab::new();
        let pattern = "resp set".parse().expect("a pattern");
        let rule =
            MessageRule { pattern, form: Form::DropRequest, nth: 1, times: None, delay: None };
        lab.armory.arm(FAULT, vec![tap(port, peers)], Effect::Message(rule));
        assert_eq!(lab.say("SET a 1\r\n"), passes("SET a 1\r\n"));
    }
    let mut lab = Lab::new();
    assert_eq!(lab.say("SET a 1\r\n"), passes("SET a 1\r\n"));
    lab.arm(FAULT, "http SET", Form::DropRequest, 1, 1);
    assert_eq!(lab.say("SET a 1\r\n"), passes("SET a 1\r\n"));
}

#[test]
fn a_rule_taken_back_before_the_reply_comes_does_nothing() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set", Form::Hold, 1, 1);
    lab.say("SET a 1\r\n");
    lab.armory.disarm(FAULT);
    assert_eq!(lab.answer("+OK\r\n"), passes("+OK\r\n"));
    lab.finish();
    assert_eq!(lab.told(), "");
}

#[test]
fn a_hit_whose_reply_never_comes_is_told_at_the_end() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set", Form::Close, 1, 1);
    lab.say("SET a 1\r\n");
    lab.finish();
    assert_eq!(lab.told(), "f1 SET a 1: - #1");
}

#[test]
fn half_a_request_is_kept_back_only_while_a_rule_is_armed_and_passes_at_the_end() {
    let mut idle = Lab::new();
    assert_eq!(idle.say("*1\r\n$4\r\nPI"), passes("*1\r\n$4\r\nPI"));
    idle.arm(FAULT, "resp ping", Form::DropRequest, 1, 1);
    assert_eq!(idle.say("NG\r\nPING\r\n"), passes("NG\r\n"), "the second is the first judged");
    assert_eq!(idle.told(), "f1 PING: - #1");

    let mut armed = Lab::new();
    armed.arm(FAULT, "resp ping", Form::DropRequest, 1, 1);
    assert_eq!(armed.say("*1\r\n$4\r\nPI"), []);
    assert_eq!(armed.splice.end_of_requests(), passes("*1\r\n$4\r\nPI"));
}

#[test]
fn garbage_passes_from_its_first_byte_on() {
    let mut lab = Lab::new();
    lab.arm(FAULT, "resp set", Form::DropRequest, 1, 9);
    assert_eq!(lab.say("*1\r\n$1\r\n"), []);
    assert_eq!(lab.say("xyz\r\nSET a 1\r\n"), passes("*1\r\n$1\r\nxyz\r\nSET a 1\r\n"));
    assert_eq!(lab.told(), "");
    assert_eq!(lab.armory.disarm(FAULT).map(|spent| (spent.unparsed, spent.hits)), Some((1, 0)));
}

/// Whatever is said, in whatever pieces: as long as no rule meets it, exactly that arrives.
#[test]
fn what_no_rule_meets_passes_byte_for_byte() {
    let mut rng = Rng::from_seed(3).fork("pieces");
    let words =
        ["PING\r\n", "*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\n\r\n", "ruok", "\0\0\0\t", "*9"];
    for round in 0..2000 {
        let mut lab = Lab::new();
        let (mut said, mut passed) =
            ([const { Vec::<u8>::new() }; 2], [const { Vec::<u8>::new() }; 2]);
        for _ in 0..rng.between(1, 30) {
            match rng.below(6) {
                0 => lab.arm(FAULT, "resp never", Form::Hold, 1, 9),
                1 => {
                    lab.armory.disarm(FAULT);
                }
                _ => {}
            }
            let way = rng.below(2) as usize;
            let word = rng.pick(&words).expect("words").as_bytes();
            let piece = &word[..rng.between(1, word.len() as u64) as usize];
            said[way].extend(piece);
            let deeds = match way {
                0 => lab.hear(piece, true),
                _ => lab.hear(piece, false),
            };
            collect(deeds, &mut passed[way]);
        }
        collect(lab.splice.end_of_requests(), &mut passed[0]);
        collect(lab.splice.end_of_replies(), &mut passed[1]);
        assert_eq!(passed, said, "round {round}");
    }
}

fn collect(deeds: Vec<Deed>, passed: &mut Vec<u8>) {
    for deed in deeds {
        let Deed::Pass(bytes) = deed else { panic!("{deed:?}") };
        passed.extend(bytes);
    }
}
