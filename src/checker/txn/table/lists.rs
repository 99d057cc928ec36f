//! The lists that were read, each kept as a length of a longer one.

use rustc_hash::FxHashMap;

use super::NONE;

/// How many branches of a key a list is compared with before it becomes one of its own.
const COMPARED: usize = 4;

/// One line of growth of a key's list; all reads of a sane history lie on one.
#[derive(Debug)]
struct Branch {
    key: u32,
    elements: Vec<u32>,
}

/// A list as it was read: the first `length` elements of a branch. The empty one lies on no branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRead {
    pub branch: u32,
    pub length: u32,
}

impl ListRead {
    pub const EMPTY: ListRead = ListRead { branch: NONE, length: 0 };
}

/// All lists by branch. What agrees with the key's longest list costs its elements but once.
#[derive(Debug, Default)]
pub struct Lists {
    branches: Vec<Branch>,
    /// By key: the branch with the longest list.
    longest: Vec<u32>,
    /// By key, of those with several branches: all of them.
    several: FxHashMap<u32, Vec<u32>>,
    elements: usize,
}

impl Lists {
    /// Takes in a list that was read of a key.
    pub fn take(&mut self, key: u32, list: &[u32]) -> ListRead {
        if list.is_empty() {
            return ListRead::EMPTY;
        }
        let length = list.len() as u32;
        let longest = self.longest(key);
        if longest == NONE {
            return ListRead { branch: self.start(key, list), length };
        }
        let mut found = self.extend(longest, list).then_some(longest);
        if found.is_none() {
            let others = self.several.get(&key).cloned().unwrap_or_default();
            let mut others = others.into_iter().rev().filter(|branch| *branch != longest);
            found = others.by_ref().take(COMPARED).find(|branch| self.extend(*branch, list));
        }
        let branch = found.unwrap_or_else(|| self.start(key, list));
        if self.branches[branch as usize].elements.len() > self.elements(longest).len() {
            self.longest[key as usize] = branch;
        }
        ListRead { branch, length }
    }

    /// The elements that a read saw.
    pub fn seen(&self, read: ListRead) -> &[u32] {
        &self.elements(read.branch)[..read.length as usize]
    }

    /// The longest list that was read of a key.
    pub fn longest_of(&self, key: u32) -> &[u32] {
        self.elements(self.longest(key))
    }

    /// The branch of the longest list that was read of a key, or [`NONE`].
    pub fn longest(&self, key: u32) -> u32 {
        self.longest.get(key as usize).copied().unwrap_or(NONE)
    }

    /// Whether a read is a beginning of the longest list of its key.
    pub fn agrees(&self, key: u32, read: ListRead) -> bool {
        let longest = self.longest(key);
        read.branch == longest || self.longest_of(key).starts_with(self.seen(read))
    }

    /// The same for all reads that saw the same list, but for those that disagree with the longest in
    /// several ways.
    pub fn canonical(&self, key: u32, read: ListRead) -> ListRead {
        let branch = if self.agrees(key, read) { self.longest(key) } else { read.branch };
        if read.length == 0 { ListRead::EMPTY } else { ListRead { branch, ..read } }
    }

    /// Of each branch its number, its key and its elements.
    pub fn branches(&self) -> impl Iterator<Item = (u32, u32, &[u32])> {
        (0..).zip(&self.branches).map(|(number, branch)| (number, branch.key, &branch.elements[..]))
    }

    /// The keys of which reads disagree, in order.
    pub fn disputed(&self) -> Vec<u32> {
        let mut keys: Vec<u32> = self.several.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    pub fn bytes(&self) -> usize {
        self.elements * 5
            + self.branches.capacity() * size_of::<Branch>()
            + self.longest.capacity() * 4
    }

    fn elements(&self, branch: u32) -> &[u32] {
        self.branches.get(branch as usize).map_or(&[], |branch| &branch.elements)
    }

    /// Whether one of the two is the beginning of the other; the branch then holds the longer one.
    fn extend(&mut self, branch: u32, list: &[u32]) -> bool {
        let elements = &mut self.branches[branch as usize].elements;
        let common = elements.len().min(list.len());
        if elements[..common] != list[..common] {
            return false;
        }
        elements.extend_from_slice(&list[common..]);
        self.elements += list.len() - common;
        true
    }

    fn start(&mut self, key: u32, list: &[u32]) -> u32 {
        let branch = self.branches.len() as u32;
        self.branches.push(Branch { key, elements: list.to_vec() });
        self.elements += list.len();
        if self.longest.len() <= key as usize {
            self.longest.resize(key as usize + 1, NONE);
        }
        match self.longest[key as usize] {
            NONE => self.longest[key as usize] = branch,
            first => self.several.entry(key).or_insert_with(|| vec![first]).push(branch),
        }
        branch
    }
}
