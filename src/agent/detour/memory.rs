//! Another process's memory, read and written where the process itself may read and write it.
//!
//! That takes the right to trace the process and no more; `/proc/<pid>/mem` would take those to all of
//! its owner's files as well.

use std::io;

use anyhow::{Context, ensure};
use libc::{c_ulong, c_void, iovec};

const PAGE: u64 = 0x1000;

#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pid: u32,
}

impl Memory {
    pub fn of(pid: u32) -> Memory {
        Memory { pid }
    }

    pub fn read(&self, address: u64, length: usize) -> anyhow::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let read = self.read_into(address, &mut bytes);
        let read = read.with_context(|| self.place("read", address))?;
        ensure!(read == length, "{}: only {read} of {length} bytes", self.place("read", address));
        Ok(bytes)
    }

    /// As many of these bytes as there are from there on.
    pub fn read_some(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let read = self.read_into(address, &mut bytes).unwrap_or_default();
        bytes.truncate(read);
        bytes
    }

    fn read_into(&self, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let local = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // Parts are copied whole or not at all; a page is there or not.
        let mut remote = Vec::new();
        let (mut at, end) = (address, address.saturating_add(bytes.len() as u64));
        while at < end {
            let next = ((at & !(PAGE - 1)).saturating_add(PAGE)).min(end);
            remote.push(iovec { iov_base: at as *mut c_void, iov_len: (next - at) as usize });
            at = next;
        }
        let parts = remote.len() as c_ulong;
        // SAFETY: the local part is the slice; the remote parts are checked by the kernel.
        let read = unsafe {
            libc::process_vm_readv(self.pid as i32, &local, 1, remote.as_ptr(), parts, 0)
        };
        if read < 0 { Err(io::Error::last_os_error()) } else { Ok(read as usize) }
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let local = iovec { iov_base: bytes.as_ptr() as *mut c_void, iov_len: bytes.len() };
        let remote = iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
        // SAFETY: the local part is the slice, which is only read; the kernel checks the remote part.
        let written = unsafe { libc::process_vm_writev(self.pid as i32, &local, 1, &remote, 1, 0) };
        if written < 0 {
            let error = io::Error::last_os_error();
            return Err(error).with_context(|| self.place("write", address));
        }
        let whole = written as usize == bytes.len();
        ensure!(whole, "{}: only {written} bytes", self.place("write", address));
        Ok(())
    }

    pub fn word(&self, address: u64) -> anyhow::Result<u64> {
        let mut bytes = [0; 8];
        let read = self.read_into(address, &mut bytes);
        let read = read.with_context(|| self.place("read", address))?;
        ensure!(read == bytes.len(), "{}: only {read} bytes", self.place("read", address));
        Ok(u64::from_le_bytes(bytes))
    }

    pub fn put_word(&self, address: u64, word: u64) -> anyhow::Result<()> {
        self.write(address, &word.to_le_bytes())
    }

    fn place(&self, what: &str, address: u64) -> String {
        format!("{what} memory of process {} at {address:x}", self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_not_there_is_an_error() {
        let memory = Memory::of(std::process::id());
        let place = Box::new([1u64, 2]);
        let address = place.as_ptr() as u64;
        assert_eq!(memory.word(address + 8).expect("there"), 2);
        memory.put_word(address, 77).expect("there");
        assert_eq!(memory.read(address, 16).expect("there")[0], 77);
        assert_eq!(memory.read_some(address, 16).len(), 16);
        assert!(memory.read_some(8, 16).is_empty());
        assert!(memory.read(8, 1).is_err() && memory.put_word(8, 1).is_err());
        drop(place);
    }
}
