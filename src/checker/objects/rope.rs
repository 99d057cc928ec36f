//! Sequences that share their beginnings: appending costs the same however long they are.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An element of a rope, which tells itself by a number; different elements may have the same.
pub trait Element: Clone + Eq {
    fn digest(&self) -> u64;
}

impl Element for u8 {
    fn digest(&self) -> u64 {
        u64::from(*self) + 1
    }
}

impl Element for super::atom::Atom {
    fn digest(&self) -> u64 {
        super::atom::Atom::digest(self) % PRIME
    }
}

/// Digests are polynomials of their elements modulo this.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0b3d_7c53_9e1f_a265;

/// Elements in order, with what makes them quick to append and to compare.
#[derive(Clone, Debug)]
pub struct Piece<T> {
    elements: Arc<[T]>,
    digest: u64,
    /// `BASE` to the power of the length.
    power: u64,
}

/// A sequence of elements; its pieces are shared with the sequences that it was made from.
#[derive(Clone, Debug)]
pub struct Rope<T>(Option<Arc<Node<T>>>);

#[derive(Debug)]
struct Node<T> {
    before: Rope<T>,
    piece: Piece<T>,
    length: usize,
    digest: u64,
}

impl<T: Element> Piece<T> {
    pub fn new(elements: Vec<T>) -> Piece<T> {
        let mut piece = Piece { elements: elements.into(), digest: 0, power: 1 };
        for element in piece.elements.iter() {
            piece.digest = add(multiply(piece.digest, BASE), element.digest());
            piece.power = multiply(piece.power, BASE);
        }
        piece
    }

    pub fn elements(&self) -> &[T] {
        &self.elements
    }
}

impl<T> Rope<T> {
    pub const EMPTY: Rope<T> = Rope(None);
    /// Bytes of a link, with its counts.
    pub const LINK: usize = size_of::<Node<T>>() + 2 * size_of::<usize>();

    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |node| node.length)
    }

    fn digest(&self) -> u64 {
        self.0.as_ref().map_or(0, |node| node.digest)
    }
}

impl<T: Element> Rope<T> {
    pub fn of(piece: &Piece<T>) -> Rope<T> {
        Rope::EMPTY.with(piece)
    }

    /// This and then the piece.
    pub fn with(&self, piece: &Piece<T>) -> Rope<T> {
        if piece.elements.is_empty() {
            return self.clone();
        }
        Rope(Some(Arc::new(Node {
            before: self.clone(),
            piece: piece.clone(),
            length: self.len() + piece.elements.len(),
            digest: add(multiply(self.digest(), piece.power), piece.digest),
        })))
    }

    /// The last piece that was put on, and what was there before.
    pub fn split_last(&self) -> Option<(&Rope<T>, &Piece<T>)> {
        self.0.as_ref().map(|node| (&node.before, &node.piece))
    }

    /// Whether it holds these elements.
    pub fn is(&self, piece: &Piece<T>) -> bool {
        self.len() == piece.elements.len()
            && self.digest() == piece.digest
            && self.is_prefix(piece.elements())
    }

    /// Whether these elements begin with it.
    pub fn begins(&self, elements: &[T]) -> bool {
        self.len() <= elements.len() && self.is_prefix(elements)
    }

    fn is_prefix(&self, elements: &[T]) -> bool {
        let mut rest = self;
        while let Some(node) = &rest.0 {
            let start = node.before.len();
            if elements.get(start..node.length) != Some(&*node.piece.elements) {
                return false;
            }
            rest = &node.before;
        }
        true
    }

    pub fn to_vec(&self) -> Vec<T> {
        let mut pieces = Vec::new();
        let mut rest = self;
        while let Some(node) = &rest.0 {
            pieces.push(&node.piece);
            rest = &node.before;
        }
        pieces.into_iter().rev().flat_map(|piece| piece.elements.iter().cloned()).collect()
    }

    fn shares(&self, other: &Rope<T>) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl<T: Element> PartialEq for Rope<T> {
    fn eq(&self, other: &Rope<T>) -> bool {
        if self.shares(other) {
            return true;
        }
        if self.len() != other.len() || self.digest() != other.digest() {
            return false;
        }
        // Most often they differ in nothing but where their last pieces begin.
        let (mut one, mut two) = (self, other);
        while let (Some(left), Some(right)) = (&one.0, &two.0) {
            if left.before.len() != right.before.len() {
                return one.to_vec() == two.to_vec();
            }
            if left.piece.elements != right.piece.elements {
                return false;
            }
            (one, two) = (&left.before, &right.before);
            if one.shares(two) {
                return true;
            }
        }
        true
    }
}

impl<T: Element> Eq for Rope<T> {}

impl<T> Hash for Rope<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.digest());
    }
}

impl<T: Element> PartialEq for Piece<T> {
    fn eq(&self, other: &Piece<T>) -> bool {
        self.digest == other.digest && self.elements == other.elements
    }
}

impl<T: Element> Eq for Piece<T> {}

impl<T> Hash for Piece<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.digest);
    }
}

impl<T> Drop for Node<T> {
    /// One after the other: a rope of a million pieces would else need a stack as deep.
    fn drop(&mut self) {
        let mut rest = self.before.0.take();
        while let Some(mut node) = rest.and_then(Arc::into_inner) {
            rest = node.before.0.take();
        }
    }
}

fn multiply(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    add(product as u64 & PRIME, (product >> 61) as u64)
}

fn add(one: u64, other: u64) -> u64 {
    let sum = one + other;
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str) -> Piece<u8> {
        Piece::new(text.as_bytes().to_vec())
    }

    #[test]
    fn a_rope_is_its_elements_however_it_was_made() {
        let one = Rope::of(&piece("ab")).with(&piece("")).with(&piece("c"));
        let other = Rope::of(&piece("a")).with(&piece("bc"));
        assert!(one == other && one.is(&piece("abc")) && one.len() == 3);
        assert!(one != Rope::of(&piece("abd")) && !one.is(&piece("ab")));
        assert!(one.begins(b"abcd") && !one.begins(b"abd") && !one.begins(b"ab"));
        assert!(Rope::EMPTY.begins(b"x") && Rope::EMPTY.is(&piece("")));
        assert_eq!(one.to_vec(), b"abc");
    }

    #[test]
    fn long_ropes_are_dropped_and_compared_without_a_deep_stack() {
        let letter = piece("x");
        let make = || (0..300_000).fold(Rope::EMPTY, |rope, _| rope.with(&letter));
        assert!(make() == make());
    }
}
