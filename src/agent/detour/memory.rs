//! Another process's memory. An open one stays that of the program that it was opened on: after the
//! process has become another program, or another process has its pid, it is only gone.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use anyhow::Context;

pub struct Memory {
    pid: u32,
    file: File,
}

impl Memory {
    pub fn open(pid: u32) -> anyhow::Result<Memory> {
        let path = format!("/proc/{pid}/mem");
        let file = OpenOptions::new().read(true).write(true).open(&path);
        Ok(Memory { pid, file: file.with_context(|| format!("open {path}"))? })
    }

    pub fn read(&self, address: u64, length: usize) -> anyhow::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let read = self.file.read_exact_at(&mut bytes, address);
        read.with_context(|| format!("read memory of process {} at {address:x}", self.pid))?;
        Ok(bytes)
    }

    /// As many of these bytes as there are from there on.
    pub fn read_some(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let read = self.file.read_at(&mut bytes, address).unwrap_or_default();
        bytes.truncate(read);
        bytes
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all_at(bytes, address);
        written.with_context(|| format!("write memory of process {} at {address:x}", self.pid))
    }

    pub fn word(&self, address: u64) -> anyhow::Result<u64> {
        let mut bytes = [0; 8];
        let read = self.file.read_exact_at(&mut bytes, address);
        read.with_context(|| format!("read memory of process {} at {address:x}", self.pid))?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub fn put_word(&self, address: u64, word: u64) -> anyhow::Result<()> {
        self.write(address, &word.to_le_bytes())
    }
}
