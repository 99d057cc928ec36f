//! Schedules that cannot be carried out are told with file, line and field, before the start.

use expect_test::expect;

use super::check;
use crate::binary::Folder;

/// Two sound faults, each flawed in turn.
const SOUND: &str = "\
# A schedule.
entries:
- nemesis: kill
  at: 8s
  until: 18s
  actions:
  - action: kill
    node: zookeeper2
- nemesis: partition
  at: 20s
  until: 25s
  actions:
  - action: cut
    fault: 2
    links:
    - from: zookeeper1
      to: zookeeper2
";

#[test]
fn a_flaw_in_a_schedule_is_told_with_file_line_and_field() {
    let folder = Folder::new();
    let kill = "  - action: kill\n    node: zookeeper2\n";
    let interpose = |effect: &str, port: u16| {
        format!(
            "  - action: interpose\n    fault: 1\n    taps:\n    - {{ node: zookeeper1, side: inbound, \
             port: {port} }}\n    effect: {effect}\n"
        )
    };
    let hold = "{ message: { pattern: resp SET, form: hold, nth: 1, times: 1 } }";
    let flaws = [
        ("unknown-field", "  until: 18s", "  untill: 18s".to_owned()),
        ("no-at", "  at: 8s\n", String::new()),
        ("bad-time", "at: 8s", "at: soon".to_owned()),
        ("early-end", "until: 18s", "until: 8s".to_owned()),
        ("no-actions", "  actions:\n  - action: kill\n    node: zookeeper2\n", "  actions: []\n".to_owned()),
        ("unknown-action", "action: kill", "action: kil".to_owned()),
        ("unknown-node", "node: zookeeper2", "node: zookeeper7".to_owned()),
        ("unknown-end", "to: zookeeper2", "to: zookeeper9".to_owned()),
        ("same-end", "to: zookeeper2", "to: zookeeper1".to_owned()),
        ("unknown-target", "until: 18s", "until: 18s\n  targets: [zookeeper4]".to_owned()),
        ("twice", kill, kill.repeat(2)),
        ("momentary", "action: kill", "action: crash".to_owned()),
        ("inverse", "action: kill", "action: start".to_owned()),
        (
            "kept-down",
            "- nemesis: partition",
            "- { nemesis: up, at: 9s, actions: [{ action: start, node: zookeeper2 }] }\n\
             - nemesis: partition"
                .to_owned(),
        ),
        (
            "overlap",
            "- nemesis: partition",
            "- { nemesis: nap, at: 17s, until: 19s, actions: [{ action: pause, node: zookeeper2 }] }\n\
             - nemesis: partition"
                .to_owned(),
        ),
        ("protocol", kill, interpose(hold, 2181)),
        ("port", kill, interpose("{ toxic: { toxic: reset, after_bytes: 0 } }", 80)),
        ("syntax", "entries:", "entries: [".to_owned()),
    ];
    for (name, sound, flawed) in &flaws {
        assert!(SOUND.contains(sound), "{name}");
        folder.write(&format!("{name}.yaml"), SOUND.replacen(sound, flawed, 1));
    }
    folder.write("sound.yaml", SOUND);
    let mut cases: Vec<String> = flaws
        .iter()
        .map(|(name, ..)| format!("zookeeper/register --schedule {name}.yaml"))
        .collect();
    cases.extend(
        [
            "zookeeper/register --schedule nowhere.yaml",
            "zookeeper/register --schedule sound.yaml --nodes zookeeper=1",
            "zookeeper/register --schedule sound.yaml --nemesis kill",
        ]
        .map(str::to_owned),
    );
    check(
        &folder,
        &cases.iter().map(String::as_str).collect::<Vec<_>>(),
        expect![[r#"
            zookeeper/register --schedule unknown-field.yaml
              unknown-field.yaml:5: entries[0]: unknown field `untill`, expected one of `nemesis`, `at`, `until`, `targets`, `actions`; did you mean `until`?; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule no-at.yaml
              no-at.yaml:3: entries[0]: missing field `at`; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule bad-time.yaml
              bad-time.yaml:4: entries[0].at: expected a duration such as 500ms, 10s or 1m 30s, found `soon`; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule early-end.yaml
              early-end.yaml:5: field `until`: expected a time after `at` (8s), found 8s; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule no-actions.yaml
              no-actions.yaml:6: field `actions`: expected at least one; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule unknown-action.yaml
              unknown-action.yaml:7: entries[0].actions[0].action: unknown choice `kil`, expected one of `cut`, `join`, `kill`, `stop`, `start`, `pause`, `resume`, `crash`, `sever`, `throttle`, `unthrottle`, `interpose`, `withdraw`, `skew`, `unskew`, `expire`; did you mean `kill`?; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule unknown-node.yaml
              unknown-node.yaml:8: field `node`: the topology has no `zookeeper7`; expected one of zookeeper1, zookeeper2, zookeeper3; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule unknown-end.yaml
              unknown-end.yaml:17: field `to`: the topology has no `zookeeper9`; expected one of zookeeper1, zookeeper2, zookeeper3 or clients; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule same-end.yaml
              same-end.yaml:17: field `to`: a link needs two ends, found zookeeper1 twice; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule unknown-target.yaml
              unknown-target.yaml:6: field `targets`: the topology has no `zookeeper4`; expected one of zookeeper1, zookeeper2, zookeeper3; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule twice.yaml
              twice.yaml:6: field `actions`: zookeeper2 is acted on twice; one action is enough; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule momentary.yaml
              momentary.yaml:5: field `until`: these actions are over at once; leave it out; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule inverse.yaml
              inverse.yaml:6: field `actions`: `start` only takes back; give the `kill` or `stop` an `until` instead; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule kept-down.yaml
              kept-down.yaml:9: field `actions`: `start` of zookeeper2 at 9s, which entry 1 (`kill`) holds from 8s until 18s; end that by its own `until`; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule overlap.yaml
              overlap.yaml:9: field `actions`: acts on zookeeper2 at 17s, which entry 1 (`kill`) holds from 8s until 18s; choose another node or time; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule protocol.yaml
              protocol.yaml:11: field `message`: port 2181 of zookeeper speaks zookeeper, not resp; expected a request such as `zookeeper set /sg/*` in that protocol; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule port.yaml
              port.yaml:10: field `port`: nothing listens on port 80; expected 2181 for clients and 2888, 3888 for members; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule syntax.yaml
              syntax.yaml:3: did not find expected node content; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule nowhere.yaml
              --schedule nowhere.yaml: No such file or directory (os error 2); expected a file such as results/latest/schedule.yaml
            zookeeper/register --schedule sound.yaml --nodes zookeeper=1
              sound.yaml:8: field `node`: the topology has no `zookeeper2`; expected one of zookeeper1; correct it, or take the schedule.yaml of a run as a pattern
            zookeeper/register --schedule sound.yaml --nemesis kill
              the argument '--schedule <FILE>' cannot be used with '--nemesis <A,B>'; `--help` shows what is expected
        "#]],
    );
}
