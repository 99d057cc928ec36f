//! What goes into the image, and that its bytes depend on the content alone.

use expect_test::expect;

use super::*;

#[test]
fn the_loaders_list_is_read() {
    let list = "\tlinux-vdso.so.1 (0x00007fd2930c8000)\n\
                \tlibgcc_s.so.1 => /lib/x86_64-linux-gnu/libgcc_s.so.1 (0x00007fd293040000)\n\
                \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007fd292e5e000)\n\
                \t/lib64/ld-linux-x86-64.so.2 (0x00007fd2930ca000)\n";
    expect![[r#"
        [
            (
                "libgcc_s.so.1",
                "/lib/x86_64-linux-gnu/libgcc_s.so.1",
            ),
            (
                "libc.so.6",
                "/lib/x86_64-linux-gnu/libc.so.6",
            ),
        ]
    "#]]
    .assert_debug_eq(&parse_list(list).expect("a list"));
}

#[test]
fn a_missing_library_is_named() {
    let error = parse_list("\tlibz.so.1 => not found\n").expect_err("no file");
    expect!["library libz.so.1 is not found, expected a file; install what the executable needs"]
        .assert_eq(&error.to_string());
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let parts = Parts::of(&std::env::current_exe().expect("our path")).expect("an executable");
    let (mut first, mut second) = (Sha256::new(), Sha256::new());
    parts.write_tar(&mut first).expect("readable");
    parts.write_tar(&mut second).expect("readable");
    assert_eq!(first.finalize(), second.finalize());
}

#[test]
fn the_tar_holds_the_executable_and_all_it_loads() {
    let parts = Parts::of(&std::env::current_exe().expect("our path")).expect("an executable");
    let mut bytes = Vec::new();
    parts.write_tar(&mut bytes).expect("readable");
    let mut tar = tar::Archive::new(&bytes[..]);
    let paths = tar.entries().expect("a tar").map(|entry| {
        let entry = entry.expect("an entry");
        assert!(entry.header().mode().expect("a mode") & 0o444 == 0o444);
        format!("/{}", entry.path().expect("a path").display())
    });
    let paths: Vec<String> = paths.collect();
    assert_eq!(paths.len(), parts.files.len() + 1);
    assert!(parts.files.keys().all(|name| paths.contains(name)), "{paths:?}");
}

#[test]
fn a_script_is_refused_with_its_name() {
    let error = Parts::of(Path::new("Cargo.toml")).expect_err("no executable");
    expect!["make an image of Cargo.toml: Cargo.toml is no ELF executable of 64 bits: expected a little-endian ELF header"]
        .assert_eq(&format!("{error:#}"));
}
