//! Which slow tests are wanted: those that `STORMGLASS_TESTS` names, or all of them.

const VARIABLE: &str = "STORMGLASS_TESTS";

/// Whether tests of this kind were asked for. If not, says so.
pub fn wanted(kind: &str) -> bool {
    let value = std::env::var(VARIABLE).unwrap_or_default();
    let wanted = names(&value, kind);
    if !wanted {
        println!("not run: needs {VARIABLE}={kind}");
    }
    wanted
}

fn names(value: &str, kind: &str) -> bool {
    value == "all" || value.split(',').any(|word| word.trim() == kind)
}

#[test]
fn kinds_are_listed_with_commas() {
    assert!(names("all", "docker") && names("browser,docker", "docker"));
    assert!(names("browser, docker", "docker"));
    assert!(!names("", "docker") && !names("dock", "docker") && !names("1", "docker"));
}
