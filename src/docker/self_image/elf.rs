//! Reads from an executable which loader it wants. Nothing else of the format.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, ensure};

const PROGRAM_INTERPRETER: u32 = 3;
/// A loader's path; more than this is no such file.
const LONGEST_PATH: usize = 4096;

/// The loader's path; `None` for a static executable.
pub fn interpreter(executable: &Path) -> anyhow::Result<Option<String>> {
    let mut file =
        File::open(executable).with_context(|| format!("open {}", executable.display()))?;
    read_interpreter(&mut file)
        .with_context(|| format!("{} is no ELF executable of 64 bits", executable.display()))
}

fn read_interpreter(file: &mut (impl Read + Seek)) -> anyhow::Result<Option<String>> {
    let header = read_at(file, 0, 64)?;
    ensure!(header.starts_with(b"\x7fELF\x02\x01"), "expected a little-endian ELF header");
    let table_offset = number(&header[32..40]);
    let entry_length = number(&header[54..56]);
    let entries = number(&header[56..58]);
    ensure!(entry_length >= 56, "program headers of {entry_length} bytes, expected 56");
    for entry in 0..entries {
        let offset = table_offset.checked_add(entry * entry_length).context("offset too large")?;
        let entry = read_at(file, offset, 56)?;
        if number(&entry[..4]) == u64::from(PROGRAM_INTERPRETER) {
            let length = number(&entry[32..40]) as usize;
            let path = read_at(file, number(&entry[8..16]), length)?;
            let path = path.strip_suffix(&[0]).unwrap_or(&path);
            return Ok(Some(String::from_utf8(path.to_vec())?));
        }
    }
    Ok(None)
}

fn read_at(file: &mut (impl Read + Seek), offset: u64, length: usize) -> anyhow::Result<Vec<u8>> {
    ensure!(length <= LONGEST_PATH, "{length} bytes, expected at most {LONGEST_PATH}");
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Little-endian, of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A header, and one program header of this type whose content is at the end.
    fn elf(kind: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 120];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64..68].copy_from_slice(&kind.to_le_bytes());
        bytes[72] = 120;
        bytes[96..104].copy_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend(content);
        bytes
    }

    #[test]
    fn the_loader_is_read_where_there_is_one() {
        let dynamic = elf(PROGRAM_INTERPRETER, b"/lib64/ld.so\0");
        let read = read_interpreter(&mut Cursor::new(dynamic)).expect("an executable");
        assert_eq!(read.as_deref(), Some("/lib64/ld.so"));
        let read = read_interpreter(&mut Cursor::new(elf(1, b""))).expect("an executable");
        assert_eq!(read, None);
    }

    #[test]
    fn what_is_no_executable_is_an_error() {
        let whole = elf(PROGRAM_INTERPRETER, b"/lib64/ld.so\0");
        for length in 0..whole.len() {
            assert!(read_interpreter(&mut Cursor::new(&whole[..length])).is_err(), "{length}");
        }
        assert!(read_interpreter(&mut Cursor::new(vec![b'#'; 200])).is_err());
    }

    #[test]
    fn this_test_is_an_executable() {
        let ours = std::env::current_exe().expect("our path");
        if let Some(loader) = interpreter(&ours).expect("an executable") {
            assert!(Path::new(&loader).is_file(), "{loader}");
        }
    }
}
