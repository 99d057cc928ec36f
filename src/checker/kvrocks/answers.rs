//! Which node answered an operation, for which slot, and when it can have done so.

use crate::op::{Event, Kind, Nanos, NodeName, Value};

/// An invocation and its completion, if there is one.
pub(super) type Pair<'a> = (&'a Event, Option<&'a Event>);

/// An operation that a node answered.
#[derive(Clone, Copy, Debug)]
pub(in crate::checker) struct Answer<'a> {
    pub invocation: &'a Event,
    pub completion: &'a Event,
    pub node: NodeName,
    pub slot: Option<u16>,
    /// Between these moments it took effect: that node was asked, and its answer had come.
    pub start: Nanos,
    pub end: Nanos,
}

impl<'a> Answer<'a> {
    /// `None` if it did not end with `ok`, or nobody knows who answered.
    pub fn of(pair: &Pair<'a>) -> Option<Answer<'a>> {
        Answer::given(pair).filter(|answer| answer.completion.kind == Kind::Ok)
    }

    /// The same for an answer that may also have been a refusal.
    pub fn given(&(invocation, completion): &Pair<'a>) -> Option<Answer<'a>> {
        let completion = completion.filter(|event| event.kind != Kind::Info)?;
        let route = completion.route.as_deref();
        let node = route.and_then(|route| route.last()).map(|hop| hop.node).or(completion.node)?;
        // The node that answered was asked only when the one before it had sent the client on.
        let hops = route.map_or(&[][..], |route| &route.hops);
        let sent_on = hops.len().checked_sub(2).map_or(0, |before| hops[before].after_us * 1_000);
        let end = completion.time;
        Some(Answer {
            invocation,
            completion,
            node,
            slot: route.and_then(|route| route.slot),
            start: invocation.time.saturating_add(sent_on).min(end),
            end,
        })
    }

    /// It changed something.
    pub fn is_write(&self) -> bool {
        is_write(self.invocation)
    }
}

/// Whether an operation changes something if it happens.
pub(super) fn is_write(invocation: &Event) -> bool {
    match &*invocation.f {
        "write" | "cas" | "add" | "incr" | "acquire" | "release" | "store" => true,
        "txn" => appends(&invocation.value).next().is_some(),
        _ => false,
    }
}

/// Keys and values that a transaction appends.
pub(super) fn appends(value: &Value) -> impl Iterator<Item = (i64, i64)> {
    parts(value).filter_map(|part| match part {
        [f, key, value] if f == "append" => Some((key.as_i64()?, value.as_i64()?)),
        _ => None,
    })
}

/// The parts of a transaction: `["append", 3, 7]`, `["r", 3, [1, 7]]`.
pub(super) fn parts(value: &Value) -> impl Iterator<Item = &[serde_json::Value]> {
    let array = match value {
        Value::Json(json) => json.as_array(),
        _ => None,
    };
    array.into_iter().flatten().filter_map(|part| part.as_array().map(Vec::as_slice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;

    #[test]
    fn who_answered_and_since_when_it_can_have_is_read_from_the_route() {
        let history = history(
            "
            1.0 0@kvrocks1 invoke write 5 key=1
            1.5 0@kvrocks1 ok write 5 key=1 slot=130 via=kvrocks1:MOVED@200000,kvrocks3:ok@400000
            2.0 0@kvrocks1 invoke write 6 key=1
            2.5 0@kvrocks1 fail write 6 key=1 slot=130 via=kvrocks1:TRYAGAIN
            3.0 1 invoke read nil key=1
            3.5 1 ok read 5 key=1
            4.0 2@kvrocks2 invoke txn [[\"append\",3,7],[\"r\",3,null]]
            4.5 2@kvrocks2 ok txn [[\"append\",3,7],[\"r\",3,[7]]]",
        );
        let pairs = history.operations();
        let answers: Vec<Answer> = pairs.iter().filter_map(Answer::of).collect();
        let told: Vec<_> = answers
            .iter()
            .map(|a| {
                (a.node.as_str(), a.slot, a.start / 1_000_000, a.end / 1_000_000, a.is_write())
            })
            .collect();
        let expected =
            [("kvrocks3", Some(130), 1_200, 1_500, true), ("kvrocks2", None, 4_000, 4_500, true)];
        assert_eq!(
            told, expected,
            "a failed operation, and one nobody knows the node of, are left out"
        );
        assert_eq!(appends(&pairs[3].0.value).collect::<Vec<_>>(), [(3, 7)]);
    }
}
