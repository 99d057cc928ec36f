//! Tar archives in memory, as the engine's API takes them. Owner, group and times are fixed.

/// Files to be put into a container or a build.
pub struct Archive {
    builder: tar::Builder<Vec<u8>>,
}

impl Archive {
    pub fn new() -> Archive {
        Archive { builder: tar::Builder::new(Vec::new()) }
    }

    /// Adds a regular file owned by root; the path is relative to where the archive is unpacked.
    pub fn add(&mut self, path: &str, mode: u32, content: &[u8]) {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(content.len() as u64);
        self.builder.append_data(&mut header, path, content).expect("memory takes any file");
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.builder.into_inner().expect("memory takes any file")
    }
}
