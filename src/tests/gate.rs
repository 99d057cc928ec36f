//! Which slow tests are wanted: those that `STORMGLASS_TESTS` names, or all of them.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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

static ENGINE: RwLock<()> = RwLock::new(());

/// Held by a test that makes things on the engine: others may as well.
pub fn on_engine() -> RwLockReadGuard<'static, ()> {
    ENGINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that looks at the whole host: no other one changes it meanwhile.
pub fn engine_to_itself() -> RwLockWriteGuard<'static, ()> {
    ENGINE.write().unwrap_or_else(PoisonError::into_inner)
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
