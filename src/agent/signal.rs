//! Signals taken by a thread that waits for them, instead of handlers that interrupt anything.

use std::io;
use std::mem::MaybeUninit;

/// Keeps these signals for [`next`], in this thread and those it starts from now on.
pub fn block(signals: &[i32]) -> io::Result<()> {
    let set = signal_set(signals);
    // SAFETY: the set is initialised and outlives the call.
    match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Lets every signal through again: for a child between fork and exec.
pub fn unblock_all() -> io::Result<()> {
    let set = signal_set(&[]);
    // SAFETY: the set is initialised and outlives the call.
    match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &set, std::ptr::null_mut()) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Waits for one of these blocked signals.
pub fn next(signals: &[i32]) -> Option<i32> {
    let set = signal_set(signals);
    let mut signal = 0;
    // SAFETY: both pointers are to live values of the right types.
    let result = unsafe { libc::sigwait(&set, &mut signal) };
    (result == 0).then_some(signal)
}

fn signal_set(signals: &[i32]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set before anything reads it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}
