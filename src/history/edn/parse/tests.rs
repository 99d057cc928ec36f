//! Forms of EDN and what they become.

use super::*;

#[test]
fn all_kinds_of_forms_become_what_json_has() {
    for (edn, expected) in [
        ("{:type :ok, :value [1 -2 nil]}", r#"{"type":"ok","value":[1,-2,null]}"#),
        ("(\n:a ; nothing\n #_ {:a 1} :b)", r#"["a","b"]"#),
        ("[#{1 2} {0 100} {[1 2] {}}]", r#"[[1,2],{"0":100},{"[1,2]":{}}]"#),
        ("#jepsen.history.Op{:index 3}", r#"{"index":3}"#),
        ("#object[a.B 0x12 \"a.B@12\"]", r#"["a.B","0x12","a.B@12"]"#),
        (r##"[#inst "2026-01-01" #"a.*"]"##, r#"["2026-01-01","a.*"]"#),
        (r#"["a\"b\n\u00e9\\" \a \newline \( \é]"#, r#"["a\"b\né\\","a","\n","(","é"]"#),
        (
            "[1.5 2N 3M +4 1/2 ##NaN 1e3 -0.5 -x -]",
            r#"[1.5,2,3,4,"1/2","NaN",1000.0,-0.5,"-x","-"]"#,
        ),
        ("^{:doc 1} {:a/b true} sym", r#"{"a/b":true}"#),
        ("{:a #_ #_ 1 2 3}", r#"{"a":3}"#),
        (
            "[18446744073709551615 99999999999999999999N]",
            r#"[18446744073709551615,"99999999999999999999"]"#,
        ),
        ("[12\r\n13\t14]", "[12,13,14]"),
    ] {
        assert_eq!(parsed(edn).root().to_json().to_string(), expected, "{edn}");
    }
}

#[test]
fn bad_forms_are_named_with_their_place() {
    for (edn, at, why, ends) in [
        ("[{:a", 1, "`}` is missing for this `{`", true),
        ("[1", 0, "`]` is missing for this `[`", true),
        ("{:a}", 0, "a key that has no value", false),
        ("}", 0, "`}` closes nothing", false),
        ("[1)", 2, "`)` closes nothing", false),
        (" \"a", 1, "a string has no end", true),
        ("\"a\\", 0, "a string has no end", true),
        ("\"\\u12", 0, "a string has no end", true),
        ("\"\\u12xx\"", 3, "four hex digits", false),
        ("#", 0, "`#` stands before nothing", true),
        ("#(inc)", 0, "`#(` is code", false),
        ("\\", 0, "`\\` stands before nothing", true),
        ("^", 1, "the text ends within a form", true),
        ("{:a 1 :a 2}", 0, "key \"a\" twice in one map", false),
    ] {
        let fault = parse(edn, 0, &mut Tape::default()).expect_err(edn);
        assert!(fault.why.contains(why), "{edn}: {fault:?}");
        assert_eq!((fault.at, fault.ends), (at, ends), "{edn}: {fault:?}");
    }
    for deep in ["[", "#_", "^", "#a ", "{:a "] {
        let fault = parse(&deep.repeat(100_000), 0, &mut Tape::default()).expect_err(deep);
        assert!(fault.why.contains("more than 100"), "{deep}: {fault:?}");
    }
}

#[test]
fn a_tuple_of_a_key_and_its_value_is_known_by_its_tag() {
    let tape = parsed("{:value #jepsen.independent/Tuple [7 [1 2]]}");
    assert!(tape.root().inner().next().is_tuple());
    assert!(!parsed("{:value [7 [1 2]]}").root().inner().next().is_tuple());
}
