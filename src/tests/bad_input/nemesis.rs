//! Faults that could never act are told before anything is started: fields, aims, links, messages,
//! triggers, turns, and faults that contradict each other.

use expect_test::{Expect, expect};

use super::check;
use crate::binary::Folder;

/// Runs a nemesis for each of these texts of faults and compares what is said to each.
fn check_faults(faults: &[(&str, &str)], expected: Expect) {
    let folder = Folder::new();
    for (name, faults) in faults {
        folder.write(&format!("nemesis/{name}.yaml"), format!("# N.\n{faults}"));
    }
    let cases: Vec<String> =
        faults.iter().map(|(name, _)| format!("zookeeper/register --nemesis {name}")).collect();
    check(&folder, &cases.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// A nemesis of one fault that lasts, its line number 3.
fn lasting(fields: &str) -> String {
    format!("faults:\n  - {{ for: 1s, {fields} }}\n")
}

fn check_lasting(faults: &[(&str, &str)], expected: Expect) {
    let texts: Vec<String> = faults.iter().map(|(_, fields)| lasting(fields)).collect();
    let faults: Vec<(&str, &str)> =
        faults.iter().zip(&texts).map(|((name, _), text)| (*name, text.as_str())).collect();
    check_faults(&faults, expected);
}

#[test]
fn fields_that_a_kind_lacks_or_does_not_take() {
    let faults = [
        ("foreign", "fault: kill, target: one, shape: halves"),
        ("clients", "fault: kill, target: clients"),
        ("both-aims", "fault: throttle, target: one, link: leader->follower, bytes_per_second: 1"),
        ("no-aim", "fault: toxic, toxic: { toxic: reset, after_bytes: 0 }"),
        ("no-link", "fault: partition, shape: link"),
        ("astray-link", "fault: partition, shape: halves, link: leader->follower"),
        ("client-link", "fault: partition, shape: link, link: clients->clients"),
        ("bad-link", "fault: partition, shape: link, link: leader-follower"),
        ("ring-traffic", "fault: partition, shape: majorities-ring, traffic: clients"),
        (
            "reset-clients",
            "fault: partition, shape: isolate, target: one, traffic: all, refusal: reset",
        ),
        ("resigning", "fault: resign, target: follower"),
        ("no-rate", "fault: throttle, target: one, bytes_per_second: 0"),
        ("no-form", "fault: message, target: one"),
        ("no-delay", "fault: message, target: one, form: delay"),
        ("astray-delay", "fault: message, target: one, form: hold, delay: 1s"),
        ("nth-zero", "fault: message, target: one, form: hold, nth: 0"),
        ("to-clients", "fault: message, link: leader->clients, form: hold"),
        ("no-toxic", "fault: toxic, target: one"),
        ("slices", "fault: toxic, target: one, toxic: { toxic: slicer, bytes: 0, pause: 1s }"),
        ("no-jump", "fault: clock, target: one, by: 0s"),
        ("port-zero", "fault: partition, shape: isolate, target: one, port: 0"),
    ];
    check_lasting(
        &faults,
        expect![[r#"
            zookeeper/register --nemesis foreign
              nemesis/foreign.yaml:3: field `shape`: kill takes no `shape`, only partition does; it takes target, and like every fault after, for, every, jitter, when, pace and weight; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis clients
              nemesis/clients.yaml:3: field `target`: clients are an end of links only, as in `link: clients<->leader`; expected a target: all, one, minority, majority, leader or follower (of one role: `one:kvrocks`), a role, a node, master, replica; or with `when` sender, receiver, bystander or seen; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis both-aims
              nemesis/both-aims.yaml:3: field `link`: expected a `target` or a `link`, found both; leave one out; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-aim
              nemesis/no-aim.yaml:3: field `target`: expected a target: all, one, minority, majority, leader or follower (of one role: `one:kvrocks`), a role, a node, master, replica; or with `when` sender, receiver, bystander or seen; or a link such as follower->leader in `link`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-link
              nemesis/no-link.yaml:3: field `link`: expected a link such as follower->leader or clients<->leader; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis astray-link
              nemesis/astray-link.yaml:3: field `link`: only the shape `link` takes a link; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis client-link
              nemesis/client-link.yaml:3: field `link`: expected a node at one end at least, such as clients<->leader; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis bad-link
              nemesis/bad-link.yaml:3: faults[0].link: expected a link such as follower->leader or clients<->leader, found `leader-follower`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis ring-traffic
              nemesis/ring-traffic.yaml:3: field `traffic`: this shape singles no nodes out, so it cannot cut clients off from them; leave it out; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis reset-clients
              nemesis/reset-clients.yaml:3: field `refusal`: links to clients cannot be refused with reset; expected drop; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis resigning
              nemesis/resigning.yaml:3: field `target`: only a leader can resign; expected leader (of one role: leader:controller), or nothing; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-rate
              nemesis/no-rate.yaml:3: field `bytes_per_second`: expected how many bytes a second may pass, 1000 to 100000000; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-form
              nemesis/no-form.yaml:3: field `form`: expected what becomes of the message: hold, close, delay, duplicate or drop-request; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-delay
              nemesis/no-delay.yaml:3: field `delay`: the form `delay` needs how late the reply comes; expected more than 0s; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis astray-delay
              nemesis/astray-delay.yaml:3: field `delay`: only the form `delay` takes a delay, this is `hold`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis nth-zero
              nemesis/nth-zero.yaml:3: field `nth`: matches are counted from 1; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis to-clients
              nemesis/to-clients.yaml:3: field `link`: clients open their connections; expected clients at the other end, as in clients->leader; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-toxic
              nemesis/no-toxic.yaml:3: field `toxic`: expected latency, bandwidth, slicer or reset, such as { toxic: latency, delay: 200ms, jitter: 50ms }; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis slices
              nemesis/slices.yaml:3: field `toxic`: expected `bytes` of 1 to 65536; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-jump
              nemesis/no-jump.yaml:3: field `by`: expected how far the clock jumps, such as 60s, or -60s to jump back; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis port-zero
              nemesis/port-zero.yaml:3: field `port`: expected a TCP port from 1 to 65535; correct it, `stormglass describe kill` shows a sound nemesis
        "#]],
    );
}

#[test]
fn times_that_do_not_go_together() {
    let faults = [
        ("momentary", "fault: crash, target: one"),
        ("jitter", "fault: kill, target: one, jitter: 1s"),
        ("every-zero", "fault: kill, target: one, every: 0s"),
        ("weight", "fault: kill, target: one, weight: 3"),
        ("session", "fault: kill, target: one, session: 0x1"),
        ("pace-one", "fault: kill, target: one, pace: { per_minute: 6, at_least: 4, at_most: 9 }"),
        (
            "pace-every",
            "fault: kill, target: leader, every: 9s, pace: { per_minute: 6, at_least: 4, at_most: 9 }",
        ),
        (
            "pace-order",
            "fault: kill, target: leader, pace: { per_minute: 6, at_least: 7, at_most: 9 }",
        ),
        (
            "pace-fit",
            "fault: kill, target: leader, pace: { per_minute: 90, at_least: 4, at_most: 99 }",
        ),
        (
            "pace-kind",
            "fault: clock, by: 1s, target: leader, pace: { per_minute: 6, at_least: 4, at_most: 9 }",
        ),
        (
            "pace-and-when",
            "fault: kill, target: leader, when: { view: leader }, \
             pace: { per_minute: 6, at_least: 4, at_most: 9 }",
        ),
    ];
    check_lasting(
        &faults,
        expect![[r#"
            zookeeper/register --nemesis momentary
              nemesis/momentary.yaml:3: field `for`: crash is over at once and lasts no time; leave it out; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis jitter
              nemesis/jitter.yaml:3: field `jitter`: expected `every` as well: each of several beginnings is late by chance; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis every-zero
              nemesis/every-zero.yaml:3: field `every`: expected 100ms or more: nothing acts, or recovers, faster; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis weight
              nemesis/weight.yaml:3: field `weight`: only faults of the order random are drawn by weight; leave it out; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis session
              nemesis/session.yaml:3: field `session`: kill takes no `session`, only expire-session does; it takes target, and like every fault after, for, every, jitter, when, pace and weight; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis pace-one
              nemesis/pace-one.yaml:3: field `target`: a fault with `pace` hits leaders that are elected; expected leader, leader:controller or leader:zookeeper; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis pace-every
              nemesis/pace-every.yaml:3: field `every`: `pace` says when the fault begins; leave `every` out; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis pace-order
              nemesis/pace-order.yaml:3: field `pace`: expected at_least <= per_minute <= at_most and 1 a minute or more, found at_least 7, per_minute 6, at_most 9; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis pace-fit
              nemesis/pace-fit.yaml:3: field `for`: 90 failovers a minute leave 666ms for each, found 1s; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis pace-kind
              nemesis/pace-kind.yaml:3: field `pace`: expected a fault that deposes a leader: kill, stop, pause, crash, resign, or a partition of shape isolate; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis pace-and-when
              nemesis/pace-and-when.yaml:3: field `pace`: expected a trigger in `when` or a `pace`, found both; leave one out; correct it, `stormglass describe kill` shows a sound nemesis
        "#]],
    );
}

#[test]
fn triggers_that_cannot_fire() {
    let kill = "fault: kill, target: one";
    let when = |when: &str| format!("{kill}, when: {{ {when} }}");
    let faults = [
        ("none", when("then: 1s")),
        ("two", when("log: x, znode: /a")),
        ("regex", when("log: 'LEADING ('")),
        ("node", when("log: x, node: leader")),
        ("astray-node", when("outcome: ok, node: all")),
        ("relative", when("znode: sg/go")),
        ("inner-star", when("znode: /sg/*/go")),
        ("change", when("view: leader, change: created")),
        ("f", when("phase: main, f: write")),
        ("invoke", when("outcome: invoke")),
        ("late-phase", when("phase: drain")),
        ("no-request", when("message: set /sg/*")),
        ("other-protocol", when("message: resp GET *")),
        ("times", when("view: leader, times: twice")),
        ("absent-node", when("log: x, node: zookeeper9")),
        ("every", format!("{kill}, every: 3s, when: {{ view: leader }}")),
    ];
    let faults: Vec<(&str, &str)> =
        faults.iter().map(|(name, text)| (*name, text.as_str())).collect();
    check_lasting(
        &faults,
        expect![[r#"
            zookeeper/register --nemesis none
              nemesis/none.yaml:3: field `when`: expected exactly one of log, znode, message, view, outcome and phase, found none; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis two
              nemesis/two.yaml:3: field `when`: expected exactly one of log, znode, message, view, outcome and phase, found log and znode; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis regex
              nemesis/regex.yaml:3: field `log`: expected a regular expression: unclosed group; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis node
              nemesis/node.yaml:3: field `node`: expected all, a role or a node (where to look is settled before the start), found `leader`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis astray-node
              nemesis/astray-node.yaml:3: field `node`: expected only where the event is of log, message or view; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis relative
              nemesis/relative.yaml:3: field `znode`: expected a znode's path from the root on, such as /sg/go, or /sg/* for all in /sg, found `sg/go`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis inner-star
              nemesis/inner-star.yaml:3: field `znode`: expected a znode's path from the root on, such as /sg/go, or /sg/* for all in /sg, found `/sg/*/go`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis change
              nemesis/change.yaml:3: field `change`: expected only where the event is of znode; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis f
              nemesis/f.yaml:3: field `f`: expected only where the event is of outcome; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis invoke
              nemesis/invoke.yaml:3: field `outcome`: expected how an operation ends: ok, fail or info; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis late-phase
              nemesis/late-phase.yaml:3: field `phase`: expected main (later phases heal and watch the cluster recover, without faults), found drain; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-request
              nemesis/no-request.yaml:3: faults[0].when.message: expected a protocol (resp, zookeeper or http) and the words of a request, such as `zookeeper set /sg/*`; found `set /sg/*`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis other-protocol
              --nemesis other-protocol: field `message`: no node here speaks resp with its clients; zookeeper speaks zookeeper with its clients on port 2181
            zookeeper/register --nemesis times
              nemesis/times.yaml:3: faults[0].when.times: expected once, always or a count such as 3x, found `twice`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis absent-node
              --nemesis absent-node: the topology of zookeeper/register has no `zookeeper9`; aim at one of its nodes, zookeeper1, zookeeper2, zookeeper3, or change their number with --nodes
            zookeeper/register --nemesis every
              nemesis/every.yaml:3: field `every`: `when` says when the fault begins; leave `every` out; correct it, `stormglass describe kill` shows a sound nemesis
        "#]],
    );
}

#[test]
fn ports_and_messages_that_no_link_speaks() {
    let hold = "fault: message, form: hold";
    let faults = [
        ("other-protocol", format!("{hold}, target: one, message: resp SET *")),
        ("unknown-protocol", format!("{hold}, target: one, message: kafka produce")),
        ("quorum-port", format!("{hold}, target: leader, port: 2888, message: zookeeper set")),
        ("quorum-link", format!("{hold}, link: follower->leader, message: zookeeper set")),
        ("no-such-port", "fault: partition, shape: isolate, target: one, port: 2180".to_owned()),
        (
            "toxic-port",
            "fault: toxic, target: one, port: 80, toxic: { toxic: reset, after_bytes: 0 }"
                .to_owned(),
        ),
        ("brace", format!("{hold}, target: one, message: 'zookeeper set /{{a,b'")),
        ("absent-end", "fault: partition, shape: link, link: zookeeper1->zookeeper7".to_owned()),
    ];
    let faults: Vec<(&str, &str)> =
        faults.iter().map(|(name, text)| (*name, text.as_str())).collect();
    check_lasting(
        &faults,
        expect![[r#"
            zookeeper/register --nemesis other-protocol
              --nemesis other-protocol: field `message`: no node here speaks resp with its clients; zookeeper speaks zookeeper with its clients on port 2181
            zookeeper/register --nemesis unknown-protocol
              nemesis/unknown-protocol.yaml:3: faults[0].message: expected a protocol (resp, zookeeper or http) and the words of a request, such as `zookeeper set /sg/*`; found `kafka produce`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis quorum-port
              --nemesis quorum-port: field `message`: members of zookeeper speak a protocol of their own on port 2888, in which single messages cannot be told apart; zookeeper speaks zookeeper with its clients on port 2181, and faults of kind toxic hit any port
            zookeeper/register --nemesis quorum-link
              --nemesis quorum-link: field `message`: members of zookeeper speak a protocol of their own on port 2888, in which single messages cannot be told apart; zookeeper speaks zookeeper with its clients on port 2181, and faults of kind toxic hit any port
            zookeeper/register --nemesis no-such-port
              --nemesis no-such-port: field `port`: nothing listens on port 2180; expected 2181 for clients and 2888, 3888 for members
            zookeeper/register --nemesis toxic-port
              --nemesis toxic-port: field `port`: nothing listens on port 80; expected 2181 for clients and 2888, 3888 for members
            zookeeper/register --nemesis brace
              nemesis/brace.yaml:3: faults[0].message: `/{a,b`: expected as many `{` as `}`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis absent-end
              --nemesis absent-end: the topology of zookeeper/register has no `zookeeper7`; aim at one of its nodes, zookeeper1, zookeeper2, zookeeper3, or change their number with --nodes
        "#]],
    );
}

#[test]
fn turns_that_nobody_could_take() {
    let fault = "faults:\n  - { fault: kill, target: one, for: 1s }\n  - ";
    let turns = "order: random\nafter: 1s\nquiet: 1s\n";
    let faults = [
        ("no-faults", format!("{turns}faults: []\n")),
        ("no-after", format!("order: random\nquiet: 1s\n{fault}{{ fault: resign }}\n")),
        ("no-quiet", format!("order: sequence\nafter: 1s\n{fault}{{ fault: resign }}\n")),
        ("quiet-overlap", format!("quiet: 1s\n{fault}{{ fault: resign }}\n")),
        ("own-clock", format!("{turns}{fault}{{ fault: resign, every: 3s }}\n")),
        ("own-trigger", format!("{turns}{fault}{{ fault: resign, when: {{ view: leader }} }}\n")),
        ("no-weight", format!("{turns}{fault}{{ fault: resign, weight: 0 }}\n")),
        ("order", format!("order: shuffled\n{fault}{{ fault: resign }}\n")),
    ];
    let faults: Vec<(&str, &str)> =
        faults.iter().map(|(name, text)| (*name, text.as_str())).collect();
    check_faults(
        &faults,
        expect![[r#"
            zookeeper/register --nemesis no-faults
              nemesis/no-faults.yaml:5: field `faults`: expected at least one to take turns; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-after
              nemesis/no-after.yaml: field `after`: expected the quiet time before the first fault, such as 8s; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-quiet
              nemesis/no-quiet.yaml: field `quiet`: expected the quiet time between two faults, such as 3s; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis quiet-overlap
              nemesis/quiet-overlap.yaml:2: field `quiet`: only the orders sequence and random take it; each fault has its own `after`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis own-clock
              nemesis/own-clock.yaml:7: field `every`: a fault that takes turns has no clock of its own; leave it out; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis own-trigger
              nemesis/own-trigger.yaml:7: field `when`: a fault that takes turns has no clock of its own; leave it out; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-weight
              nemesis/no-weight.yaml:7: field `weight`: expected 1 or more; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis order
              nemesis/order.yaml:2: order: unknown choice `shuffled`, expected one of `overlap`, `sequence`, `random`; correct it, `stormglass describe kill` shows a sound nemesis
        "#]],
    );
}

#[test]
fn faults_that_contradict_each_other_or_fit_no_cluster_of_this_size() {
    let folder = Folder::new();
    folder.write("nemesis/later.yaml", "# Later.\nfaults:\n  - { fault: pause, target: zookeeper2, after: 19s, for: 2s, every: 20s }\n");
    folder.write("workloads/mute.yaml", "# No message.\nservices: { zookeeper: 3 }\nleader: zookeeper\nregister: { reads: barrier }\nrate: 200\nconcurrency: 5n\ntime: 6s\n");
    folder.write("workloads/odd.yaml", "# Another's message.\nservices: { zookeeper: 3 }\nleader: zookeeper\nregister: { reads: barrier }\nmessage: http GET /\nrate: 200\nconcurrency: 5n\ntime: 6s\n");
    let cases = [
        "zookeeper/register --nemesis kill:zookeeper2,pause:zookeeper2",
        "zookeeper/register --nemesis stop-all,kill:zookeeper3",
        "zookeeper/register --nemesis kill:zookeeper2,later --set nemesis.faults.0.for=12s",
        "zookeeper/register --nemesis crash:zookeeper1,kill:zookeeper1",
        "zookeeper/register --nemesis kill-minority --nodes zookeeper=2",
        "zookeeper/register --nemesis partition-one --nodes zookeeper=1",
        "zookeeper/register --nemesis partition-majorities-ring --nodes zookeeper=2",
        "zookeeper/register --nemesis lag --nodes zookeeper=1",
        "zookeeper/register --nemesis failover-loop-one",
        "zookeeper/register --nemesis lag-leader",
        "zookeeper/register --nemesis kill:clients",
        "zookeeper/register --nemesis skew-bmup",
        "zookeeper/register --nemesis reply-los-leader",
        "mute --nemesis reply-loss",
        "odd",
    ];
    check(
        &folder,
        &cases,
        expect![[r#"
            zookeeper/register --nemesis kill:zookeeper2,pause:zookeeper2
              --nemesis kill:zookeeper2,pause:zookeeper2: `kill:zookeeper2` (kill from 8s for 10s) and `pause:zookeeper2` (pause from 8s for 10s) want zookeeper2 at the same time; aim one of them elsewhere, or give them times that do not overlap
            zookeeper/register --nemesis stop-all,kill:zookeeper3
              --nemesis stop-all,kill:zookeeper3: `stop-all` (stop from 8s for 10s) and `kill:zookeeper3` (kill from 8s for 10s) want zookeeper3 at the same time; aim one of them elsewhere, or give them times that do not overlap
            zookeeper/register --nemesis kill:zookeeper2,later --set nemesis.faults.0.for=12s
              --nemesis kill:zookeeper2,later: `kill:zookeeper2` (kill from 8s for 12s) and `later` (pause from 19s for 12s) want zookeeper2 at the same time; aim one of them elsewhere, or give them times that do not overlap
            zookeeper/register --nemesis crash:zookeeper1,kill:zookeeper1
              --nemesis crash:zookeeper1,kill:zookeeper1: `crash:zookeeper1` (crash at 8s) and `kill:zookeeper1` (kill from 8s for 10s) want zookeeper1 at the same time; aim one of them elsewhere, or give them times that do not overlap
            zookeeper/register --nemesis kill-minority --nodes zookeeper=2
              --nemesis kill-minority: it can never act on the nodes of zookeeper/register (zookeeper1, zookeeper2): 2 nodes have no minority; choose another nemesis or aim, or change their number with --nodes
            zookeeper/register --nemesis partition-one --nodes zookeeper=1
              --nemesis partition-one: it can never act on the nodes of zookeeper/register (zookeeper1): a partition of 1 node has nobody on one side; choose another nemesis or aim, or change their number with --nodes
            zookeeper/register --nemesis partition-majorities-ring --nodes zookeeper=2
              --nemesis partition-majorities-ring: it can never act on the nodes of zookeeper/register (zookeeper1, zookeeper2): a partition of 2 nodes has nobody on one side; choose another nemesis or aim, or change their number with --nodes
            zookeeper/register --nemesis lag --nodes zookeeper=1
              --nemesis lag: it can never act on the nodes of zookeeper/register (zookeeper1): no zookeeper node serves as a follower now; choose another nemesis or aim, or change their number with --nodes
            zookeeper/register --nemesis failover-loop-one
              --nemesis failover-loop-one: a fault with `pace` hits leaders that are elected; expected leader, leader:controller or leader:zookeeper
            zookeeper/register --nemesis lag-leader
              --nemesis lag-leader: this nemesis picks its own nodes and cannot be aimed; leave the aim out
            zookeeper/register --nemesis kill:clients
              --nemesis kill:clients: clients are an end of links only, as in `link: clients<->leader`; expected a target: all, one, minority, majority, leader or follower (of one role: `one:kvrocks`), a role, a node, master, replica; or with `when` sender, receiver, bystander or seen
            zookeeper/register --nemesis skew-bmup
              there is no nemesis `skew-bmup`; did you mean `skew-bump`?; `stormglass list nemeses` shows all
            zookeeper/register --nemesis reply-los-leader
              there is no nemesis `reply-los-leader`; did you mean `reply-loss-leader`?; `stormglass list nemeses` shows all
            mute --nemesis reply-loss
              --nemesis reply-loss: it hits the workload's own `message`, and mute has none; name one in the fault, such as `message: zookeeper set /sg/*`, or in the workload
            odd
              workloads/odd.yaml:5: field `message`: expected a request of zookeeper, found one of http; correct it, `stormglass describe zookeeper/register` shows a sound workload
        "#]],
    );
}
