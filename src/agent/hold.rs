//! The first process of a hold container: owns its namespaces, reaps what is left to it, ends at once.

use super::signal;

/// Holds until SIGTERM or SIGINT; the exit code.
pub fn hold() -> i32 {
    let signals = [libc::SIGTERM, libc::SIGINT, libc::SIGCHLD];
    if let Err(error) = signal::block(&signals) {
        eprintln!("stormglass hold: block signals: {error}");
        return 3;
    }
    loop {
        match signal::next(&signals) {
            Some(libc::SIGCHLD) => reap(),
            Some(_) => return 0,
            None => return 3,
        }
    }
}

fn reap() {
    // SAFETY: waits for any child without blocking; a null status is allowed.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
}
