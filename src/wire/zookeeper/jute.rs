//! Reads jute's primitive types one after another; what is not there is `None`, never a panic.

/// What is left of a record.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    rest: &'a [u8],
}

impl<'a> Record<'a> {
    pub fn new(bytes: &'a [u8]) -> Record<'a> {
        Record { rest: bytes }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*first)
    }

    pub fn int(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    pub fn long(&mut self) -> Option<i64> {
        self.take().map(i64::from_be_bytes)
    }

    pub fn boolean(&mut self) -> Option<bool> {
        self.take::<1>().map(|[byte]| byte != 0)
    }

    /// Bytes or text behind its length; as much as is there. A length of -1 is nothing.
    pub fn buffer(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.int()?).unwrap_or(0).min(self.rest.len());
        let (buffer, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(buffer)
    }

    /// Passes over a list of access rights: permissions, scheme and id each.
    pub fn skip_rights(&mut self) -> Option<()> {
        for _ in 0..self.int()?.max(0) {
            self.int()?;
            self.buffer()?;
            self.buffer()?;
        }
        Some(())
    }

    /// A znode's version, from its `Stat`, which is passed over.
    pub fn stat_version(&mut self) -> Option<i32> {
        self.take::<32>()?;
        let version = self.int()?;
        self.take::<32>()?;
        Some(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_nothing() {
        let mut record = Record::new(&[0, 0, 0, 9, b'a', b'b']);
        assert_eq!(record.buffer(), Some(&b"ab"[..]));
        assert_eq!((record.int(), record.long(), record.boolean()), (None, None, None));
        let mut none = Record::new(&[0xff, 0xff, 0xff, 0xff, 1]);
        assert_eq!((none.buffer(), none.boolean()), (Some(&[][..]), Some(true)));
        assert_eq!(Record::new(&[0x7f, 0xff, 0xff, 0xff, 0, 0]).skip_rights(), None);
    }
}
