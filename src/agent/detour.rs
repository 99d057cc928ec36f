//! One process and the detour around its clock functions: found, steered, and asked. The state is in
//! the process itself, so that an agent finds what one before it did.

mod apart;
mod borrow;
mod code;
mod control;
mod halt;
mod install;
mod maps;
mod memory;
mod relocate;
mod trial;
mod vdso;

use anyhow::{Context, bail, ensure};

use super::clock::container::Process;
use super::clock::shift::Shifts;
use super::protocol::Offsets;
use apart::apart;
use borrow::Borrowed;
use control::{
    Control, IN_FORCE, LAST_NUMBER, MONOTONIC, OWN_CALLS, PAGE, Patch, SLOTS, Slot, WALL,
};
use halt::Held;
use maps::Mapping;
use memory::Memory;
pub use trial::try_out;
use vdso::Vdso;

/// A process that is never caught where its threads may be moved is given up after so many tries.
const TRIES: usize = 50;
const SAMPLES: usize = 5;
/// No more samples are taken once one is as good as this.
const GOOD_ERROR_NS: u64 = 10_000;
const SCRATCH: u64 = 4 * PAGE;

pub struct Target {
    pub process: Process,
    memory: Memory,
    vdso: Vdso,
    /// Where the control page is, if there is one.
    control: Option<u64>,
}

impl Target {
    pub fn open(process: &Process) -> anyhow::Result<Target> {
        let memory = Memory::of(process.pid);
        let mappings = read_maps(process.pid)?;
        let found = mappings.iter().find(|mapping| mapping.name == "[vdso]");
        let found = found.with_context(|| format!("process {} has no vDSO", process.pid))?;
        let bytes = memory.read(found.start, found.length() as usize)?;
        let vdso = Vdso::parse(found.start, bytes)
            .with_context(|| format!("process {} ({})", process.pid, process.comm))?;
        // What was read is that process's own only if it still is the one that was meant.
        ensure!(process.is_there()?, "process {} ({}) is gone", process.pid, process.comm);
        let mut target = Target { process: process.clone(), memory, vdso, control: None };
        target.control = target.find_control(&mappings);
        Ok(target)
    }

    /// A page that is alone of its kind right after one of code.
    fn find_control(&self, mappings: &[Mapping]) -> Option<u64> {
        let ours = |pair: &&[Mapping]| {
            let [code, control] = pair else { return false };
            let kinds = [code, control].map(|mapping| (&*mapping.rights, &*mapping.name));
            kinds == [("r-xp", ""), ("rw-p", "")]
                && code.end == control.start
                && control.length() == PAGE
        };
        let pairs = mappings.windows(2).filter(ours);
        pairs.map(|pair| pair[1].start).find(|page| self.owns(*page))
    }

    fn owns(&self, page: u64) -> bool {
        let Ok(bytes) = self.memory.read(page, PAGE as usize) else { return false };
        let Some(control) = Control::parse(bytes) else { return false };
        let here = |(name, patch): (&str, Patch)| {
            self.vdso.function(name).is_ok_and(|function| function.address == patch.address)
        };
        code::NAMES.into_iter().zip(control.patches()).all(here)
    }

    /// The control page as it is now.
    pub fn read_control(&self) -> anyhow::Result<Option<Control>> {
        let Some(page) = self.control else { return Ok(None) };
        let control = Control::parse(self.memory.read(page, PAGE as usize)?);
        Ok(Some(control.context("the control page is no longer what it was")?))
    }

    /// Whether any of its functions goes by our code.
    pub fn is_detoured(&self) -> anyhow::Result<bool> {
        Ok(self.detoured_functions()? > 0)
    }

    /// Fewer than all only after an agent was killed in the midst of its work.
    fn detoured_functions(&self) -> anyhow::Result<usize> {
        let Some(control) = self.read_control()? else { return Ok(0) };
        let mut detoured = 0;
        for patch in control.patches() {
            detoured += usize::from(self.memory.word(patch.address)? != patch.original);
        }
        Ok(detoured)
    }

    /// By how much its clocks are shifted; nothing without a detour.
    pub fn shifts(&self) -> anyhow::Result<Shifts> {
        Ok(match self.read_control()? {
            Some(control) if self.is_detoured()? => control.in_force().shifts,
            _ => Shifts::default(),
        })
    }

    /// Puts other shifts in force, with one byte. Nothing is stopped for it.
    pub fn steer(&self, shifts: Shifts) -> anyhow::Result<()> {
        let (Some(page), Some(control)) = (self.control, self.read_control()?) else {
            bail!("process {} has no detour to steer", self.process.pid)
        };
        let (_, place) = control.slot_places();
        let slot = Slot { number: control.in_force().number.wrapping_add(1), shifts };
        self.memory.put_word(page + place, slot.number)?;
        self.memory.write(page + place + 8, &slot.body())?;
        self.memory.put_word(page + place + LAST_NUMBER, slot.number)?;
        let in_force = u8::from(place != SLOTS);
        self.memory.write(page + IN_FORCE, &[in_force])
    }

    /// Asks the process for its own clocks: one of its threads calls its own function.
    ///
    /// How far they are off ours, and how far that may be from the truth, in nanoseconds.
    pub fn ask(&self) -> anyhow::Result<(Offsets, u64)> {
        self.ensure_not_frozen()?;
        apart(|| {
            let held = Held::one(self.process.pid)?;
            self.with_scratch(&held, |borrowed, scratch_end| {
                let wall = self.sample(borrowed, scratch_end, libc::CLOCK_REALTIME)?;
                let monotonic = self.sample(borrowed, scratch_end, libc::CLOCK_MONOTONIC)?;
                let offsets = Offsets { wall_ns: wall.0, monotonic_ns: monotonic.0 };
                Ok((offsets, wall.1.max(monotonic.1)))
            })
        })
    }

    /// Borrows a thread and gives it memory of ours, which is gone afterwards.
    fn with_scratch<T>(
        &self,
        held: &Held,
        work: impl FnOnce(&mut Borrowed, u64) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let enter = self.vdso.syscall_in(code::NAMES[0])?;
        let mut borrowed = borrow::borrow(held, &self.memory, enter)?;
        let borrowed = borrowed.as_mut().context("none of its threads may be moved now")?;
        let rights = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
        let arguments = [0, SCRATCH, rights, flags, u64::MAX, 0];
        let scratch = borrowed.syscall(libc::SYS_mmap, arguments)?;
        let done = work(borrowed, scratch + SCRATCH);
        borrowed.syscall(libc::SYS_munmap, [scratch, SCRATCH, 0, 0, 0, 0])?;
        done
    }

    /// The offset of one clock and its error, from the quickest of a few calls.
    fn sample(
        &self,
        borrowed: &mut Borrowed,
        scratch_end: u64,
        clock: libc::clockid_t,
    ) -> anyhow::Result<(i64, u64)> {
        let function = self.vdso.function(code::NAMES[0])?.address;
        let reading_at = scratch_end - SCRATCH;
        let mut best: Option<(i64, u64)> = None;
        for _ in 0..SAMPLES {
            let before = now(clock);
            let arguments = [clock as u64, reading_at];
            let (result, after) =
                borrowed.call(&self.memory, function, scratch_end, arguments, |result| {
                    (result, now(clock))
                })?;
            self.count_own_call(clock)?;
            ensure!(result == 0, "its own clock function failed with {result:x}");
            let seconds = self.memory.word(reading_at)? as i64;
            let nanoseconds = self.memory.word(reading_at + 8)? as i64;
            let reading = seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds);
            let middle = before + (after - before) / 2;
            let error = (after - before).unsigned_abs().div_ceil(2);
            if best.is_none_or(|(_, least)| error < least) {
                best = Some((reading.wrapping_sub(middle), error));
            }
            if error <= GOOD_ERROR_NS {
                break;
            }
        }
        best.context("no samples")
    }

    /// Readings that we ask for must not pass for the program's.
    fn count_own_call(&self, clock: libc::clockid_t) -> anyhow::Result<()> {
        let shifts = self.shifts()?;
        let (shift, place) = match clock {
            libc::CLOCK_REALTIME => (shifts.wall, WALL),
            _ => (shifts.monotonic, MONOTONIC),
        };
        match self.control {
            Some(page) if shift.offset_ns != 0 || shift.rate != 0 => {
                let count = page + OWN_CALLS + place;
                self.memory.put_word(count, self.memory.word(count)?.wrapping_add(1))
            }
            _ => Ok(()),
        }
    }

    /// How many shifted readings of the wall and of the monotonic clock the program itself has had.
    pub fn calls(&self) -> anyhow::Result<(u64, u64)> {
        let control = self.read_control()?;
        Ok(control.map_or((0, 0), |control| (control.calls(WALL), control.calls(MONOTONIC))))
    }

    fn ensure_not_frozen(&self) -> anyhow::Result<()> {
        let Process { pid, ref comm, frozen, .. } = self.process;
        ensure!(!frozen, "process {pid} ({comm}) is paused and cannot be asked");
        Ok(())
    }
}

fn read_maps(pid: u32) -> anyhow::Result<Vec<Mapping>> {
    let path = format!("/proc/{pid}/maps");
    let text = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    Ok(maps::parse(&text))
}

/// Our own reading of a clock.
pub fn now(clock: libc::clockid_t) -> i64 {
    let mut reading = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the reading is live; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut reading) };
    reading.tv_sec * 1_000_000_000 + reading.tv_nsec
}

#[cfg(test)]
pub mod tests {
    //! What tests see of a process's memory.

    use super::*;

    /// The bytes of its vDSO.
    pub fn vdso_of(process: &Process) -> anyhow::Result<Vec<u8>> {
        let mappings = read_maps(process.pid)?;
        let vdso = mappings.iter().find(|mapping| mapping.name == "[vdso]").context("no vDSO")?;
        Memory::of(process.pid).read(vdso.start, vdso.length() as usize)
    }

    /// How many pages it has to steer a detour by.
    pub fn control_pages(process: &Process) -> anyhow::Result<usize> {
        let memory = Memory::of(process.pid);
        let mappings = read_maps(process.pid)?;
        let pages = mappings.iter().filter(|mapping| mapping.length() == PAGE);
        let read = |mapping: &Mapping| memory.read(mapping.start, PAGE as usize).ok();
        Ok(pages.filter_map(read).filter_map(Control::parse).count())
    }
}
