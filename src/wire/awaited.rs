//! Requests whose replies have not come yet, in the order in which they were sent.

use std::collections::VecDeque;

use super::{OUTSTANDING, RequestId};

pub struct Awaited<T> {
    waiting: VecDeque<(RequestId, T)>,
    last: RequestId,
}

impl<T> Default for Awaited<T> {
    fn default() -> Awaited<T> {
        Awaited { waiting: VecDeque::new(), last: 0 }
    }
}

impl<T: Copy> Awaited<T> {
    /// Numbers a request that will be answered; `None` where too many wait already.
    pub fn push(&mut self, request: T) -> Option<RequestId> {
        if self.waiting.len() >= OUTSTANDING {
            return None;
        }
        let id = self.number();
        self.waiting.push_back((id, request));
        Some(id)
    }

    /// Numbers a request that will not be answered.
    pub fn number(&mut self) -> RequestId {
        self.last += 1;
        self.last
    }

    pub fn first(&self) -> Option<T> {
        self.waiting.front().map(|(_, request)| *request)
    }

    pub fn pop(&mut self) -> Option<(RequestId, T)> {
        self.waiting.pop_front()
    }

    /// Takes the first of the next `among` that is meant.
    pub fn take(&mut self, among: usize, is_meant: impl Fn(&T) -> bool) -> Option<(RequestId, T)> {
        let place = self.waiting.iter().take(among).position(|(_, request)| is_meant(request));
        self.waiting.remove(place?)
    }

    pub fn forget(&mut self, id: RequestId) {
        self.waiting.retain(|(waiting, _)| *waiting != id);
    }

    /// Another of this request right behind it; `None` where it no longer waits.
    pub fn repeat(&mut self, id: RequestId) -> Option<RequestId> {
        let place = self.waiting.iter().position(|(waiting, _)| *waiting == id)?;
        let request = self.waiting[place].1;
        let second = self.number();
        self.waiting.insert(place + 1, (second, request));
        Some(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_request_waits_right_behind_itself() {
        let mut awaited = Awaited::default();
        let first = awaited.push('a').expect("room");
        awaited.push('b').expect("room");
        let second = awaited.repeat(first).expect("it waits");
        let order: Vec<_> = std::iter::from_fn(|| awaited.pop()).collect();
        assert_eq!(order, [(1, 'a'), (second, 'a'), (2, 'b')]);
        assert_eq!(awaited.repeat(first), None);
    }

    #[test]
    fn no_more_wait_than_there_is_room_for() {
        let mut awaited = Awaited::default();
        for _ in 0..OUTSTANDING {
            assert!(awaited.push(()).is_some());
        }
        assert_eq!(awaited.push(()), None);
        awaited.forget(7);
        assert!(awaited.push(()).is_some());
    }
}
