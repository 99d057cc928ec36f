//! Puts a detour around a process's clock functions, and takes it away again.
//!
//! Each function's first bytes become a jump to our code, which lies within reach of it in the same
//! process. That happens only while all threads stand still and none is within these bytes, neither at
//! this moment nor in a signal handler's return. What fails half-way is undone. Our code stays mapped
//! when the detour is gone: a thread may still be in it, and the next detour uses it again.

use anyhow::{Context, bail, ensure};

use super::apart::{apart, ensure_wanted};
use super::borrow::{self, Borrowed};
use super::code;
use super::control::{Control, FUNCTIONS, PAGE, Patch};
use super::halt::{Held, ptrace};
use super::maps;
use super::relocate::{self, JUMP_LENGTH, Moved};
use super::{TRIES, Target, read_maps};
use crate::agent::clock::shift::Shifts;

/// Our two pages and one more on either side: whatever lies beside the region, the kernel joins nothing
/// to the control page, so it is found again.
const REGION: u64 = 4 * PAGE;
const CODE: u64 = PAGE;
const CONTROL: u64 = 2 * PAGE;
/// How much of a stack is searched for the return of a signal handler.
const STACK_SEARCHED: usize = 32 << 10;

impl Target {
    /// Makes sure that the process's clock functions go by our code. Nothing is shifted by that.
    pub fn detour(&mut self) -> anyhow::Result<()> {
        if self.detoured_functions()? == FUNCTIONS {
            return Ok(());
        }
        self.ensure_not_frozen()?;
        if self.control.is_some() {
            self.steer(Shifts::default())?;
        }
        let control = apart(|| {
            let held = self.hold_outside_patches()?;
            ensure_wanted()?;
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
        apart(|| {
            let held = Held::all(self.process.pid)?;
            ensure_wanted()?;
            self.patch(&held, originals)
        })
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
        let rights = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let arguments = [place, REGION, rights, flags as u64, u64::MAX, 0];
        let region = borrowed.syscall(libc::SYS_mmap, arguments)?;
        let filled = if region == place {
            self.fill(held, &mut borrowed, region)
        } else {
            Err(anyhow::anyhow!("this kernel cannot map at a fixed place that is free"))
        };
        if filled.is_err() {
            borrowed.syscall(libc::SYS_munmap, [region, REGION, 0, 0, 0, 0])?;
        }
        borrowed.give_back()?;
        filled.map(|()| region + CONTROL)
    }

    fn fill(&self, held: &Held, borrowed: &mut Borrowed, region: u64) -> anyhow::Result<()> {
        let (code, control) = self.pages(region + CODE)?;
        let rights = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let control_page = [region + CONTROL, PAGE, rights, 0, 0, 0];
        borrowed.syscall(libc::SYS_mprotect, control_page)?;
        self.memory.write(region + CONTROL, control.bytes())?;
        for (place, word) in (region + CODE..).step_by(8).zip(code.chunks_exact(8)) {
            match u64::from_le_bytes(word.try_into().expect("8 bytes")) {
                0 => {}
                word => poke(held, place, word).context("write our code into the process")?,
            }
        }
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
        let mut done = Vec::new();
        for (address, word) in words {
            let before = self.memory.word(address)?;
            if let Err(error) = poke(held, address, word) {
                for (address, before) in done {
                    poke(held, address, before)?;
                }
                return Err(error).context("write to the vDSO of the process");
            }
            done.push((address, before));
        }
        Ok(())
    }
}

/// Writes one word where the process itself may not write.
fn poke(held: &Held, place: u64, word: u64) -> std::io::Result<()> {
    ptrace(libc::PTRACE_POKEDATA, held.threads()[0], place as usize, word as usize)
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
