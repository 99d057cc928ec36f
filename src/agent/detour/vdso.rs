//! The vDSO, the code that the kernel maps into every process, as bytes: where its functions are.
//!
//! It reads what a process's memory holds and trusts none of it; it never panics.

use anyhow::{Context, ensure};

use crate::agent::attribute::take;

const ELF_64_LITTLE_ENDIAN: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];
const X86_64: u16 = 62;
const PROGRAM_HEADER_LENGTH: usize = 56;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const SYMBOL_LENGTH: usize = 24;
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// One process's vDSO.
#[derive(Clone, Debug)]
pub struct Vdso {
    start: u64,
    bytes: Vec<u8>,
    /// What the file calls the address of its first byte.
    linked_at: u64,
    symbols: usize,
    names: usize,
}

/// A function and its code, as it stands in the process now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    pub address: u64,
    pub code: &'a [u8],
}

impl Vdso {
    /// `bytes` are those that the process has mapped at `start`.
    pub fn parse(start: u64, bytes: Vec<u8>) -> anyhow::Result<Vdso> {
        let known = bytes.starts_with(&ELF_64_LITTLE_ENDIAN) && half(&bytes, 18) == Some(X86_64);
        ensure!(known, "its vDSO is not one for x86-64, expected a 64-bit process");
        let tables = find_tables(&bytes).context("its vDSO has no table of symbols")?;
        let (linked_at, symbols, names) = tables;
        Ok(Vdso { start, bytes, linked_at, symbols, names })
    }

    pub fn function(&self, name: &str) -> anyhow::Result<Function<'_>> {
        // The names follow the symbols.
        (self.symbols..self.names)
            .step_by(SYMBOL_LENGTH)
            .find_map(|symbol| self.named(symbol, name))
            .with_context(|| format!("its vDSO has no {name}"))
    }

    fn named(&self, symbol: usize, name: &str) -> Option<Function<'_>> {
        let found = self.names.checked_add(word(&self.bytes, symbol)? as usize)?;
        let found = self.bytes.get(found..)?.strip_prefix(name.as_bytes())?;
        if found.first() != Some(&0) {
            return None;
        }
        let offset = long(&self.bytes, symbol + 8)?.checked_sub(self.linked_at)?;
        let first = usize::try_from(offset).ok()?;
        let length = usize::try_from(long(&self.bytes, symbol + 16)?).ok()?;
        let code = self.bytes.get(first..first.checked_add(length)?)?;
        Some(Function { address: self.start.checked_add(offset)?, code })
    }

    /// Where this function enters the kernel: a place for system calls that are not the program's.
    pub fn syscall_in(&self, name: &str) -> anyhow::Result<u64> {
        let function = self.function(name)?;
        let found = function.code.windows(SYSCALL.len()).position(|bytes| bytes == SYSCALL);
        let found = found.with_context(|| format!("{name} of its vDSO never enters the kernel"))?;
        Ok(function.address + found as u64)
    }
}

/// The address of the first byte, and the offsets of symbols and names.
fn find_tables(bytes: &[u8]) -> Option<(u64, usize, usize)> {
    let headers = usize::try_from(long(bytes, 32)?).ok()?;
    let count = usize::from(half(bytes, 56)?);
    let header = |kind| {
        let at = |index| headers.checked_add(index * PROGRAM_HEADER_LENGTH);
        (0..count).filter_map(at).find(|header| word(bytes, *header) == Some(kind))
    };
    let load = header(PT_LOAD)?;
    let linked_at = long(bytes, load + 16)?.checked_sub(long(bytes, load + 8)?)?;
    let dynamic = usize::try_from(long(bytes, header(PT_DYNAMIC)? + 8)?).ok()?;
    let entry = |tag| {
        let mut entries = (dynamic..bytes.len()).step_by(16);
        let found = entries.find(|entry| long(bytes, *entry) == Some(tag))?;
        usize::try_from(long(bytes, found + 8)?.checked_sub(linked_at)?).ok()
    };
    let (symbols, names) = (entry(DT_SYMTAB)?, entry(DT_STRTAB)?);
    (names <= bytes.len()).then_some((linked_at, symbols, names))
}

fn half(bytes: &[u8], offset: usize) -> Option<u16> {
    take(bytes, offset).map(u16::from_le_bytes)
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    take(bytes, offset).map(u32::from_le_bytes)
}

fn long(bytes: &[u8], offset: usize) -> Option<u64> {
    take(bytes, offset).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::detour::maps;

    /// The bytes of our own vDSO, and where it is.
    fn ours() -> (u64, Vec<u8>) {
        let text = std::fs::read_to_string("/proc/self/maps").expect("our maps");
        let mappings = maps::parse(&text);
        let vdso = mappings.iter().find(|mapping| mapping.name == "[vdso]").expect("a vDSO");
        let length = vdso.length() as usize;
        // SAFETY: the kernel keeps these bytes mapped and readable for as long as we live.
        let bytes = unsafe { std::slice::from_raw_parts(vdso.start as *const u8, length) };
        (vdso.start, bytes.to_vec())
    }

    #[test]
    fn our_own_is_read() {
        let (start, bytes) = ours();
        let length = bytes.len() as u64;
        let vdso = Vdso::parse(start, bytes).expect("a vDSO");
        for name in ["__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time"] {
            let function = vdso.function(name).expect(name);
            assert!((start..start + length).contains(&function.address), "{name}");
            assert!(function.code.len() >= 5, "{name}");
        }
        assert!(vdso.syscall_in("__vdso_clock_gettime").is_ok());
        let error = vdso.function("__vdso_clock").expect_err("the beginning of a name");
        assert_eq!(error.to_string(), "its vDSO has no __vdso_clock");
    }

    #[test]
    fn bytes_cut_or_changed_anywhere_are_refused_or_read_but_never_panic() {
        let (start, bytes) = ours();
        let read = |bytes: Vec<u8>| {
            let Ok(vdso) = Vdso::parse(start, bytes) else { return };
            let _ = vdso.function("__vdso_clock_gettime");
            let _ = vdso.syscall_in("__vdso_time");
        };
        for length in (0..bytes.len()).step_by(7) {
            read(bytes[..length].to_vec());
        }
        for changed in 0..0x600.min(bytes.len()) {
            let mut bytes = bytes.clone();
            bytes[changed] = 0xff;
            read(bytes);
        }
        assert!(Vdso::parse(0, vec![0; 64]).is_err());
    }
}
