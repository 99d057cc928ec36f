//! Lets a held thread do something for us and then go on as if nothing had been.
//!
//! It runs system calls by an instruction that its own vDSO has, and functions on a stack of ours. No
//! signal is made for it: every step ends at a system call. Those sent to it meanwhile wait.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use libc::{c_uint, pid_t, user_regs_struct};

use super::halt::{self, Held, Stop, await_stop, ptrace};
use super::memory::Memory;

/// A thread of ours is waited for even if its container is paused in the very midst of our work: it
/// must not go on with our registers.
const WITHIN: Duration = Duration::from_secs(20);
const GET_SIGNAL_MASK: c_uint = 0x420a;
const SET_SIGNAL_MASK: c_uint = 0x420b;
const GET_RSEQ_CONFIGURATION: c_uint = 0x420f;
const SIGNAL_MASK_LENGTH: usize = 8;
const DIRECTION_AND_TRAP_FLAGS: u64 = 0x500;
const NO_SYSCALL: u64 = u64::MAX;
/// The kernel's highest error number: a result above its negative is an error.
const HIGHEST_ERROR: u64 = 4095;

/// A thread's registers and signal mask, to be given back.
pub struct Borrowed<'a> {
    thread: pid_t,
    held: &'a Held,
    /// Where a `syscall` instruction is.
    enter: u64,
    registers: user_regs_struct,
    vector_registers: Box<libc::user_fpregs_struct>,
    signal_mask: u64,
    owed_signals: Vec<i32>,
    in_syscall: bool,
    given_back: bool,
}

/// Borrows one of the held threads; `None` where none of them may be moved at this moment.
pub fn borrow<'a>(
    held: &'a Held,
    memory: &Memory,
    enter: u64,
) -> anyhow::Result<Option<Borrowed<'a>>> {
    for thread in held.threads() {
        let registers = registers_of(*thread)?;
        if !in_restartable_sequence(*thread, memory, registers.rip) {
            return Borrowed::new(held, *thread, enter, registers).map(Some);
        }
    }
    Ok(None)
}

pub fn registers_of(thread: pid_t) -> anyhow::Result<user_regs_struct> {
    // SAFETY: all fields are integers, for which zero is a value.
    let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
    ptrace(libc::PTRACE_GETREGS, thread, 0, &raw mut registers as usize)
        .context("read the registers of a held thread")?;
    Ok(registers)
}

/// Whether the thread is where the kernel must be able to see that it was interrupted (rseq(2)).
fn in_restartable_sequence(thread: pid_t, memory: &Memory, at: u64) -> bool {
    let mut configuration = [0u64; 3];
    let length = size_of_val(&configuration);
    let pointer = &raw mut configuration as usize;
    if ptrace(GET_RSEQ_CONFIGURATION, thread, length, pointer).is_err() || configuration[0] == 0 {
        return false;
    }
    let Ok(sequence) = memory.word(configuration[0] + 8) else { return false };
    let (Ok(start), Ok(length)) = (memory.word(sequence + 8), memory.word(sequence + 16)) else {
        return false;
    };
    sequence != 0 && (start..start.saturating_add(length)).contains(&at)
}

impl<'a> Borrowed<'a> {
    fn new(
        held: &'a Held,
        thread: pid_t,
        enter: u64,
        registers: user_regs_struct,
    ) -> anyhow::Result<Borrowed<'a>> {
        // SAFETY: all fields are integers, for which zero is a value.
        let mut vector_registers: Box<libc::user_fpregs_struct> =
            Box::new(unsafe { std::mem::zeroed() });
        ptrace(libc::PTRACE_GETFPREGS, thread, 0, &raw mut *vector_registers as usize)
            .context("read the vector registers of a held thread")?;
        let mut signal_mask = 0u64;
        ptrace(GET_SIGNAL_MASK, thread, SIGNAL_MASK_LENGTH, &raw mut signal_mask as usize)
            .context("read the signal mask of a held thread")?;
        let mut borrowed = Borrowed {
            thread,
            held,
            enter,
            registers,
            vector_registers,
            signal_mask,
            owed_signals: Vec::new(),
            in_syscall: false,
            given_back: false,
        };
        borrowed.set_signal_mask(waiting_signals())?;
        Ok(borrowed)
    }

    /// Has the thread make a system call; its result.
    pub fn syscall(&mut self, number: i64, arguments: [u64; 6]) -> anyhow::Result<u64> {
        let mut registers = self.calm_registers();
        registers.rip = self.enter;
        registers.rax = number as u64;
        [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9] =
            arguments;
        self.set_registers(&registers)?;
        self.go_to_syscall_stop()?;
        self.go_to_syscall_stop()?;
        let result = registers_of(self.thread)?.rax;
        if result > NO_SYSCALL - HIGHEST_ERROR {
            let error = std::io::Error::from_raw_os_error(result.wrapping_neg() as i32);
            return Err(error).with_context(|| format!("system call {number} in the process"));
        }
        Ok(result)
    }

    /// Has the thread call a function on a stack of ours, whose two highest words it takes.
    ///
    /// `returned` sees its result as soon as it is there. The function returns into a system call; a
    /// harmless one, a reading of the clock, is put in place of what that would be.
    pub fn call<T>(
        &mut self,
        memory: &Memory,
        function: u64,
        stack_end: u64,
        arguments: [u64; 2],
        returned: impl FnOnce(u64) -> T,
    ) -> anyhow::Result<T> {
        let (scratch, frame) = (stack_end - 16, stack_end - 40);
        memory.put_word(frame, self.enter)?;
        let mut registers = self.calm_registers();
        registers.rip = function;
        registers.rsp = frame;
        registers.rax = 0;
        [registers.rdi, registers.rsi] = arguments;
        self.set_registers(&registers)?;
        let mut back = loop {
            self.go_to_syscall_stop()?;
            let reached = registers_of(self.thread)?;
            if reached.rsp == frame + 8 {
                break reached;
            }
            // The function itself asks the kernel.
            self.go_to_syscall_stop()?;
        };
        let result = returned(back.orig_rax);
        back.orig_rax = libc::SYS_clock_gettime as u64;
        [back.rdi, back.rsi] = [libc::CLOCK_REALTIME as u64, scratch];
        self.set_registers(&back)?;
        self.go_to_syscall_stop()?;
        Ok(result)
    }

    fn calm_registers(&self) -> user_regs_struct {
        let mut registers = self.registers;
        registers.orig_rax = NO_SYSCALL;
        registers.eflags &= !DIRECTION_AND_TRAP_FLAGS;
        registers
    }

    fn go_to_syscall_stop(&mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + WITHIN;
        loop {
            ptrace(libc::PTRACE_SYSCALL, self.thread, 0, 0).context("let a thread do our work")?;
            match await_stop(self.thread, deadline)? {
                Some(Stop::Syscall) => {
                    self.in_syscall = !self.in_syscall;
                    return Ok(());
                }
                // Nothing but ours is running; it is asked to stop only by others' stop signals.
                Some(Stop::Told) => {}
                Some(Stop::Signal(signal)) => self.owe(signal)?,
                None => bail!("process {} ended", self.held.pid),
            }
        }
    }

    /// A signal sent by somebody is passed on later; one that our own work raised is an error.
    fn owe(&mut self, signal: i32) -> anyhow::Result<()> {
        // SAFETY: all fields are integers, for which zero is a value.
        let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
        ptrace(libc::PTRACE_GETSIGINFO, self.thread, 0, &raw mut information as usize)
            .context("look at a signal")?;
        ensure!(information.si_code <= 0, "signal {signal} in the midst of our work");
        self.owed_signals.push(signal);
        Ok(())
    }

    fn set_registers(&self, registers: &user_regs_struct) -> anyhow::Result<()> {
        ptrace(libc::PTRACE_SETREGS, self.thread, 0, registers as *const _ as usize)
            .context("set the registers of a held thread")
    }

    fn set_signal_mask(&mut self, mask: u64) -> anyhow::Result<()> {
        ptrace(SET_SIGNAL_MASK, self.thread, SIGNAL_MASK_LENGTH, &raw const mask as usize)
            .context("set the signal mask of a held thread")
    }

    /// Puts everything back, and the thread to where an interrupted system call is begun anew.
    pub fn give_back(mut self) -> anyhow::Result<()> {
        self.put_back()
    }

    fn put_back(&mut self) -> anyhow::Result<()> {
        self.given_back = true;
        if self.in_syscall {
            let mut entered = registers_of(self.thread)?;
            entered.orig_rax = NO_SYSCALL;
            self.set_registers(&entered)?;
            self.go_to_syscall_stop()?;
        }
        self.set_registers(&self.registers)?;
        let vector_registers = &raw const *self.vector_registers as usize;
        ptrace(libc::PTRACE_SETFPREGS, self.thread, 0, vector_registers)
            .context("set the vector registers of a held thread")?;
        self.set_signal_mask(self.signal_mask)?;
        // From the end of our system call the kernel would go straight on to the program, and its own
        // interrupted call would seem to have failed. Only a thread that is told to stop is asked.
        ptrace(libc::PTRACE_INTERRUPT, self.thread, 0, 0).context("stop a held thread again")?;
        ptrace(libc::PTRACE_CONT, self.thread, 0, 0).context("let a held thread go on")?;
        let stop = halt::await_told(self.thread, Instant::now() + WITHIN)?;
        ensure!(stop.is_some(), "process {} ended", self.held.pid);
        for signal in std::mem::take(&mut self.owed_signals) {
            // SAFETY: a plain system call; a thread that is gone needs no signal.
            unsafe { libc::syscall(libc::SYS_tgkill, self.held.pid, self.thread, signal) };
        }
        Ok(())
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if !self.given_back {
            // Whatever led here is the error to tell.
            let _ = self.put_back();
        }
    }
}

/// All signals but those that a fault raises: if they were kept waiting, the kernel would forget the
/// program's own handler.
fn waiting_signals() -> u64 {
    let raised = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];
    raised.iter().fold(u64::MAX, |mask, signal| mask & !(1 << (signal - 1)))
}
