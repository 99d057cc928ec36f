//! Forms of EDN and the JSON that they become.

use super::*;

fn json(edn: &str) -> String {
    let forms: Result<Vec<_>, _> = Forms::new(edn).collect();
    match forms {
        Ok(forms) => {
            let lines = forms.iter().map(|form| format!("{}:{}", form.line, form.json));
            lines.collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn all_kinds_of_forms_become_json() {
    for (edn, expected) in [
        ("", ""),
        (" ; nothing\n #_ {:a 1}", ""),
        ("{:type :ok, :value [1 -2 nil]}", r#"1:{"type":"ok","value":[1,-2,null]}"#),
        ("[{:a 1}\n {:a 2}]", r#"1:{"a":1} 2:{"a":2}"#),
        ("(\n:a)\n:b", r#"2:"a" 3:"b""#),
        ("#{1 2} {0 100}", r#"1:[1,2] 1:{"0":100}"#),
        ("#jepsen.history.Op{:index 3}", r#"1:{"index":3}"#),
        (r#"#inst "2026-01-01" #"a.*""#, r#"1:"2026-01-01" 1:"a.*""#),
        (r#""a\"b\n\u00e9\\" \a \newline"#, r#"1:"a\"b\né\\" 1:"a" 1:"\n""#),
        ("1.5 2N 3M +4 1/2 ##NaN", r#"1:1.5 1:2 1:3 1:4 1:"1/2" 1:"NaN""#),
        ("^{:doc 1} {:a/b true} sym", r#"1:{"a/b":true} 1:"sym""#),
        ("{:a #_ #_ 1 2 3}", r#"1:{"a":3}"#),
        ("18446744073709551615 99999999999999999999", "1:18446744073709551615 1:1e+20"),
    ] {
        assert_eq!(json(edn), expected, "{edn}");
    }
}

#[test]
fn bad_forms_are_errors_and_never_panics() {
    for edn in [
        "{:a", "[1", "{:a}", "}", "[1)", "\"a", "\"a\\", "\"\\u12", "#", "#(inc)", "\\", "^",
        "[1] ]",
    ] {
        assert!(json(edn).starts_with("not EDN: "), "{edn}: {}", json(edn));
    }
    let deep = "[".repeat(100_000);
    assert!(json(&format!("{{:a {deep}")).contains("more than 100"));
    assert!(json(&"#_".repeat(100_000)).starts_with("not EDN: "));
}
