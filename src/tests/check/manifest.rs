//! `check --manifest`: verdicts as stated, one line an entry, and manifests that are none.

use expect_test::expect;
use serde_json::{Value as Json, json};

use super::STALE;
use crate::binary::{Folder, Said};

/// A folder with one invalid history in two forms, and one that is valid as Knossos reads it.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("set/stale.jsonl", STALE);
    folder.write("set/raw/stale.edn", edn());
    folder
}

fn edn() -> &'static str {
    "{:type :invoke, :process 0, :f :write, :value 1}\n{:type :ok, :process 0, :f :write, :value 1}\n\
     {:type :invoke, :process 1, :f :read, :value nil}\n{:type :ok, :process 1, :f :read, :value nil}\n"
}

fn entry(checks: Json) -> Json {
    json!({
        "path": "stale.jsonl", "raw": "raw/stale.edn", "model": "register", "options": {},
        "checks": checks, "family": "small", "origin": "by hand",
    })
}

fn run(folder: &Folder, entries: Json, arguments: &str) -> Said {
    folder.write("set/manifest.json", entries.to_string());
    folder.run(&format!("check --manifest set/manifest.json {arguments}"))
}

#[test]
fn entries_are_judged_in_both_forms_and_under_each_check() {
    let folder = folder();
    let checks = json!([
        {"verdict": "invalid", "anomalies_include": ["stale-read"], "anomalies_exclude": ["G0"]},
        {"verdict": "valid", "options": {"nil_read_is_unknown": true}},
    ]);
    let said = run(&folder, json!([entry(checks)]), "");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    expect![[r#"
        ok    stale.jsonl  register  invalid, nil_read_is_unknown=true: valid
        small  1 of 1 as stated
        the one history is judged as stated
    "#]]
    .assert_eq(&said.out);
}

#[test]
fn what_is_not_as_stated_is_told_in_full() {
    let folder = folder();
    let checks = json!([{
        "verdict": "valid", "anomalies_include": ["G0"], "anomalies_exclude": ["stale-read"],
        "violates": ["serializable"],
    }]);
    let entries = json!([entry(checks), entry(json!([{"verdict": "any"}]))]);
    let said = run(&folder, entries.clone(), "--quiet");
    assert_eq!(said.code, Some(1), "{said:?}");
    let told: Vec<&str> = said.out.lines().filter(|line| !line.starts_with("        ")).collect();
    expect![[r#"
        FAIL  stale.jsonl  register  invalid
              stale.jsonl: invalid, stated valid; does not name G0; names stale-read, which is not there; does not say that serializable is violated
              raw/stale.edn: invalid, stated valid; does not name G0; names stale-read, which is not there; does not say that serializable is violated
        small  1 of 2 as stated
        1 of 2 histories is not judged as stated"#]]
    .assert_eq(&told.join("\n"));
    let json: Json = serde_json::from_str(&run(&folder, entries, "--json").out).expect("JSON");
    assert_eq!((&json["as_stated"], &json["all"]), (&json!(1), &json!(2)));
    let first = &json["entries"][0]["checks"][0];
    assert_eq!((&first["verdict"], &first["as_stated"]), (&json!("invalid"), &json!(false)));
    assert_eq!(first["anomalies"], json!({"stale-read": 1}));
}

#[test]
fn a_filter_picks_entries_by_their_words() {
    let folder = folder();
    let entries = || {
        json!([entry(json!([{"verdict": "invalid"}])), {
            "path": "gone.jsonl", "model": "register", "checks": [{"verdict": "valid"}], "family": "lost",
        }])
    };
    assert_eq!(run(&folder, entries(), "--filter small").code, Some(0));
    let gone = run(&folder, entries(), "");
    assert_eq!(gone.code, Some(1), "{gone:?}");
    assert!(gone.out.contains("cannot read set/gone.jsonl"), "{}", gone.out);
    let none = run(&folder, entries(), "--filter nothing");
    assert_eq!(none.code, Some(64));
    assert!(none.err.contains("no entry's path, family or model holds `nothing`"), "{}", none.err);
}

#[test]
fn a_broken_manifest_is_refused_with_its_entry_and_field() {
    let folder = folder();
    let with = |field: &str, value: Json| {
        let mut entry = entry(json!([{"verdict": "invalid"}]));
        entry[field] = value;
        json!([entry])
    };
    let cases = [
        json!({}),
        json!([]),
        json!([7]),
        json!([{"path": "a"}]),
        with("checks", json!([])),
        with("checks", json!([{"verdict": "wrong"}])),
        with("checks", json!([{"verdict": "valid", "anomalies_includes": ["G0"]}])),
        with("checks", json!([{"verdict": "valid", "violates": "serializable"}])),
        with("options", json!({"inti": 0})),
        with("option", json!("none")),
        with("origins", json!(3)),
    ];
    let mut told = String::new();
    for case in cases {
        let said = run(&folder, case, "");
        assert_eq!((said.code, said.out.as_str()), (Some(64), ""), "{said:?}");
        told += said.err.trim_start_matches("stormglass: set/manifest.json: ");
    }
    folder.write("set/manifest.json", "[{]");
    told += &folder.run("check --manifest set/manifest.json").err;
    told += &folder.run("check --manifest set/nowhere.json").err;
    expect![[r#"
        expected a list of entries, found an object
        expected entries, found an empty list
        entry 1: expected an object, found a number
        entry 1 (a): field `model`: expected text, found nothing
        entry 1 (stale.jsonl): field `checks`: expected a list of at least one check, found an empty list
        entry 1 (stale.jsonl): field `checks[0].verdict`: expected valid, invalid, unknown or any, found wrong
        entry 1 (stale.jsonl): unknown field `checks[0].anomalies_includes`, expected one of options, consistency_model, verdict, anomalies_include, anomalies_exclude, violates; did you mean `anomalies_include`?
        entry 1 (stale.jsonl): field `checks[0].violates`: expected a list of names, found serializable
        entry 1 (stale.jsonl): field `options`: unknown field `inti`, expected one of `init`, `failed_cas_is_evidence`, `nil_read_is_unknown`, `consistency_models`, `anomalies`, `linearizable_keys`, `sequential_keys`, `wfr_keys`, `transaction_order`, `lease_ms`, `negative_balances`, `ops`
        entry 1 (stale.jsonl): unknown field `option`, expected one of path, raw, model, family, options, checks; did you mean `options`?
        entry 1 (stale.jsonl): unknown field `origins`, expected one of path, raw, model, family, options, checks
        stormglass: set/manifest.json: not JSON: key must be a string at line 1 column 3
        stormglass: set/nowhere.json: cannot be read: No such file or directory (os error 2); expected a manifest, check the path
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_manifest_whose_names_mean_nothing_is_refused_before_anything_is_judged() {
    let folder = folder();
    let with = |field: &str, value: Json| {
        let mut entry = entry(json!([{"verdict": "invalid"}]));
        entry[field] = value;
        json!([entry])
    };
    let check = |field: &str, value: Json| {
        let mut check = json!({"verdict": "invalid"});
        check[field] = value;
        with("checks", json!([check]))
    };
    for (entries, expected) in [
        (
            check("anomalies_exclude", json!(["stale-raed"])),
            "field `checks[0].anomalies_exclude`: no anomaly is named `stale-raed`; `stormglass list \
             anomalies` names them all; did you mean `stale-read`?",
        ),
        (
            check("violates", json!(["serialisable"])),
            "field `checks[0].violates`: unknown consistency model `serialisable`: expected one of ",
        ),
        (
            check("consistency_model", json!("serializable")),
            "checks[0]: `consistency_models` means nothing here: register takes `init`, ",
        ),
        (
            check("options", json!({"linearizable_keys": true})),
            "checks[0]: `linearizable_keys` means nothing here: register takes `init`, ",
        ),
        (
            with("options", json!({"wfr_keys": true})),
            "checks[0]: `wfr_keys` means nothing here: register takes `init`, ",
        ),
        (with("verdict", json!("valid")), "unknown field `verdict`, expected one of path, raw, "),
        (
            with("model", json!("regster")),
            "field `model`: unknown model `regster`: expected one of ",
        ),
        (
            json!([{
                "path": "stale.jsonl", "model": "list-append",
                "checks": [{"verdict": "valid", "consistency_model": "serialisable"}],
            }]),
            "checks[0]: list-append: unknown consistency model `serialisable`: expected one of ",
        ),
    ] {
        let said = run(&folder, entries, "");
        assert_eq!((said.code, said.out.as_str()), (Some(64), ""), "{said:?}");
        let start = "stormglass: set/manifest.json: entry 1 (stale.jsonl): ";
        assert!(said.err.starts_with(&format!("{start}{expected}")), "{expected}: {}", said.err);
    }
    // Elle's names for several kinds are known, and what says nothing is nothing.
    let elles = check("anomalies_exclude", json!(["G1", "G-single-cycle-exists", "PL-2"]));
    assert_eq!(run(&folder, elles, "").code, Some(0));
    let nothing = run(&folder, with("options", json!({"wfr_keys": false, "ops": []})), "");
    assert_eq!(nothing.code, Some(0), "{nothing:?}");
}

#[test]
fn one_bad_entry_keeps_nobody_from_judging_the_others() {
    let folder = folder();
    let good = entry(json!([{"verdict": "invalid"}]));
    let bad = entry(json!([{"verdict": "invalid", "anomalies_exclude": ["stale-raed"]}]));
    let said = run(&folder, json!([bad, good]), "");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("stale.jsonl  register  invalid"), "{}", said.out);
    let refused = said.out.lines().find(|line| line.starts_with("(refused)")).expect("a line");
    assert!(refused.contains("0 of 1 as stated"), "{}", said.out);
    assert!(said.err.contains("entry 1 (stale.jsonl)"), "{}", said.err);
    assert!(said.err.contains("no anomaly is named `stale-raed`"), "{}", said.err);
    assert!(said.err.ends_with("; not judged\n"), "{}", said.err);
}

#[test]
fn recorded_histories_are_all_judged_as_stated() {
    let Some(path) = std::env::var_os("STORMGLASS_HISTORIES").map(std::path::PathBuf::from) else {
        println!("not run: STORMGLASS_HISTORIES names no folder of recorded histories");
        return;
    };
    let manifest = path.join("manifest.json");
    let said = Folder::new().run(&format!("check --quiet --manifest {}", manifest.display()));
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}
