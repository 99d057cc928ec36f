//! Puts a detour around a process's clock functions, and takes it away again.
//!
//! Each function's first bytes become a jump to our code, which lies within reach of it in the same
//! process. That happens only while all threads stand still and none is within these bytes, neither at
//! this moment nor in a signal handler's return. What fails half-way is undone. Our code stays mapped
//! when the detour is gone: a thread may still be in it, and the next detour uses it again.

use anyhow::{Context, bail, ensure};

use super::borrow::{self, Borrowed};
use super::code;
use super::control::{Control, FUNCTIONS, PAGE, Patch};
use super::halt::{self, Held, ptrace};
use super::maps;
use super::relocate::{self, JUMP_LENGTH, Moved};
use super::{TRIES, Target, read_maps};
use crate::agent::clock::shift::Shifts;

/// A page that nobody can touch on either side of our two: nothing can be joined to them.
const REGION: u64 = 4 * PAGE;
const CODE: u64 = PAGE;
const CONTROL: u64 = 2 * PAGE;
/// How much of a stack is searched for the return of a signal handler.
const STACK_SEARCHED: usize = 32 << 10;

impl Target {
    /// Makes sure that the process's clock functions go by our code. Nothing is shifted by that.
    pub fn detour(&mut self) -> anyhow::Result<()> {
        if self.is_detoured()? {
            return Ok(());
        }
        self.ensure_not_frozen()?;
        if self.control.is_some() {
            self.steer(Shifts::default())?;
        }
        let control = halt::apart(|| {
            let held = self.hold_outside_patches()?;
            let page = match self.control {
                Some(page) => page,
                None => self.map_code(&held)?,
            };
            let control = Control::parse(self.memory.read(page, PAGE as usize)?);
            let control = control.context("the control page is not as written")?;
            self.patch(&held, jumps(&control, page - PAGE)?)?;
            Ok(page)
        })?;
        self.control = Some(control);
        Ok(())
    }

    /// Puts the original functions back.
    pub fn restore(&self) -> anyhow::Result<()> {
        self.ensure_not_frozen()?;
        let control = self.read_control()?.context("no detour")?;
        let originals = control.patches().map(|patch| (patch.address, patch.original));
        halt::apart(|| self.patch(&Held::all(self.process.pid)?, originals))
    }

    /// Holds all threads at a moment when none is where the jumps will stand.
    fn hold_outside_patches(&self) -> anyhow::Result<Held> {
        let enter = self.vdso.syscall_in(code::NAMES[0])?;
        for _ in 0..TRIES {
            let held = Held::all(self.process.pid)?;
            ensure!(self.process.is_there()?, "process {} is gone", self.process.pid);
            let usable = borrow::borrow(&held, &self.memory, enter)?.is_some();
            if usable && !self.any_inside(&held)? {
                return Ok(held);
            }
            drop(held);
            std::thread::yield_now();
        }
        bail!("process {} is always where it cannot be changed", self.process.pid)
    }

    fn any_inside(&self, held: &Held) -> anyhow::Result<bool> {
        let mut starts = [0; FUNCTIONS];
        for (start, name) in starts.iter_mut().zip(code::NAMES) {
            *start = self.vdso.function(name)?.address;
        }
        let inside = |at: u64| {
            starts.iter().any(|start| (start + 1..start + JUMP_LENGTH as u64).contains(&at))
        };
        for thread in held.threads() {
            let registers = borrow::registers_of(*thread)?;
            let stack = self.memory.read_some(registers.rsp & !7, STACK_SEARCHED);
            let words = stack
                .chunks_exact(8)
                .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
            if inside(registers.rip) || words.into_iter().any(inside) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Maps our code and its control page into the process; where the control page is.
    fn map_code(&self, held: &Held) -> anyhow::Result<u64> {
        let enter = self.vdso.syscall_in(code::NAMES[0])?;
        let near = self.vdso.function(code::NAMES[0])?.address;
        let mappings = read_maps(self.process.pid)?;
        let place = maps::free_place(&mappings, near, REGION)
            .context("no room within reach of its vDSO")?;
        let mut borrowed = borrow::borrow(held, &self.memory, enter)?
            .context("none of its threads may be moved now")?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let arguments = [place, REGION, libc::PROT_NONE as u64, flags as u64, u64::MAX, 0];
        let region = borrowed.syscall(libc::SYS_mmap, arguments)?;
        let filled = if region == place {
            self.fill(&mut borrowed, region)
        } else {
            Err(anyhow::anyhow!("this kernel cannot map at a fixed place that is free"))
        };
        if filled.is_err() {
            borrowed.syscall(libc::SYS_munmap, [region, REGION, 0, 0, 0, 0])?;
        }
        borrowed.give_back()?;
        filled.map(|()| region + CONTROL)
    }

    fn fill(&self, borrowed: &mut Borrowed, region: u64) -> anyhow::Result<()> {
        let (code, control) = self.pages(region + CODE)?;
        let writable = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let runnable = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let mut protect = |from, length, rights| {
            borrowed.syscall(libc::SYS_mprotect, [from, length, rights, 0, 0, 0])
        };
        protect(region + CODE, 2 * PAGE, writable)?;
        self.memory.write(region + CODE, &code)?;
        self.memory.write(region + CONTROL, control.bytes())?;
        protect(region + CODE, PAGE, runnable)?;
        Ok(())
    }

    /// What our two pages hold when the first of them is at `place`.
    fn pages(&self, place: u64) -> anyhow::Result<(Vec<u8>, Control)> {
        let mut page = vec![0; PAGE as usize];
        page[..code::bytes().len()].copy_from_slice(code::bytes());
        let mut patches = [Patch { address: 0, original: 0 }; FUNCTIONS];
        let moved_to = [Some(code::MOVED_CLOCK_GETTIME), Some(code::MOVED_GETTIMEOFDAY), None];
        for ((patch, name), moved_to) in patches.iter_mut().zip(code::NAMES).zip(moved_to) {
            let function = self.vdso.function(name)?;
            *patch =
                Patch { address: function.address, original: self.memory.word(function.address)? };
            let to = place + moved_to.unwrap_or_default();
            let moved = relocate::move_beginning(function.code, function.address, to);
            let Moved { code, .. } = moved.with_context(|| format!("move {name}"))?;
            ensure!(code.len() <= code::MOVED_LENGTH, "{name} begins with {} bytes", code.len());
            if let Some(moved_to) = moved_to {
                page[moved_to as usize..][..code.len()].copy_from_slice(&code);
            }
        }
        let (clock_gettime, gettimeofday) =
            (place + code::MOVED_CLOCK_GETTIME, place + code::MOVED_GETTIMEOFDAY);
        Ok((page, Control::new(clock_gettime, gettimeofday, patches)))
    }

    /// Writes one word at each function, or none at all.
    fn patch(&self, held: &Held, words: [(u64, u64); FUNCTIONS]) -> anyhow::Result<()> {
        let thread = held.threads()[0];
        let mut done = Vec::new();
        for (address, word) in words {
            let before = self.memory.word(address)?;
            // Unlike a write to its memory, this needs no more than that the thread is held.
            let poked = ptrace(libc::PTRACE_POKEDATA, thread, address as usize, word as usize);
            if let Err(error) = poked {
                for (address, before) in done {
                    ptrace(libc::PTRACE_POKEDATA, thread, address, before)?;
                }
                return Err(error).context("write to the vDSO of the process");
            }
            done.push((address as usize, before as usize));
        }
        Ok(())
    }
}

/// The words that lead each function to our code at `place`.
fn jumps(control: &Control, place: u64) -> anyhow::Result<[(u64, u64); FUNCTIONS]> {
    let mut words = [(0, 0); FUNCTIONS];
    for ((word, patch), entry) in words.iter_mut().zip(control.patches()).zip(code::entries()) {
        let mut bytes = patch.original.to_le_bytes();
        bytes[..JUMP_LENGTH].copy_from_slice(&relocate::jump(patch.address, place + entry)?);
        *word = (patch.address, u64::from_le_bytes(bytes));
    }
    Ok(words)
}
