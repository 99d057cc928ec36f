//! Which slow tests are wanted.

/// Whether `STORMGLASS_TESTS` (`all`, or words with commas between) asks for tests of this kind.
pub fn wanted(kind: &str) -> bool {
    let asked = std::env::var("STORMGLASS_TESTS").unwrap_or_default();
    let is_wanted = asked.split(',').map(str::trim).any(|word| word == "all" || word == kind);
    if !is_wanted {
        println!("not run: needs STORMGLASS_TESTS={kind}");
    }
    is_wanted
}
