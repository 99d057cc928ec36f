//! What an object is to the checker: a value with a first state and steps (Herlihy and Wing 1990 call it a
//! sequential specification).

use std::fmt::Debug;
use std::hash::Hash;

use super::fast::Shortcut;
use super::search::Guide;
use super::seen::{Seen, Timed};

/// A sequential object. A system is right if it behaves as if every operation took effect on such an
/// object at one moment between invocation and completion.
///
/// A model of one's own: an elevator button that is pressed and answered, one ride a press.
///
/// ```
/// use stormglass::checker::{Budget, Checker, Object, Objects, Seen, Verdict};
/// use stormglass::history::History;
/// use stormglass::op::{Event, Kind, Process};
///
/// #[derive(Debug)]
/// struct Button;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Use {
///     Press,
///     Ride,
/// }
///
/// impl Object for Button {
///     type State = bool;
///     type Operation = Use;
///
///     fn name(&self) -> &'static str {
///         "button"
///     }
///
///     fn init(&self) -> bool {
///         false
///     }
///
///     fn parse(&self, seen: &Seen) -> Result<Option<Use>, String> {
///         match seen.f() {
///             "press" => Ok(Some(Use::Press)),
///             "ride" => Ok(Some(Use::Ride)),
///             _ => Err(seen.foreign("press, ride")),
///         }
///     }
///
///     fn step(&self, pressed: &bool, operation: &Use) -> Option<bool> {
///         match operation {
///             Use::Press => Some(true),
///             Use::Ride => pressed.then_some(false),
///         }
///     }
///
///     fn describe(&self, operation: &Use) -> String {
///         format!("{operation:?}").to_lowercase()
///     }
///
///     fn describe_state(&self, pressed: &bool) -> String {
///         if *pressed { "the button is pressed" } else { "nobody has pressed" }.to_owned()
///     }
/// }
///
/// let event = |index, kind, f| Event { index, ..Event::new(kind, Process::Client(0), f) };
/// let history = History::new(vec![event(0, Kind::Invoke, "ride"), event(1, Kind::Ok, "ride")]);
/// let found = Objects::new(Button).finish(&history, &Budget::UNBOUNDED);
/// assert_eq!(found.verdict, Verdict::Invalid);
/// ```
pub trait Object: Debug + Send + Sync {
    /// What it holds. Cheap to clone where it can be: every state that a search meets is kept once.
    type State: Clone + Eq + Hash + Send;
    /// An operation together with its result, as far as that is known.
    type Operation: Clone + Eq + Hash + Debug + Send + Sync;

    /// As in `--model`.
    fn name(&self) -> &'static str;

    fn init(&self) -> Self::State;

    /// The operation of a history. `None`: it says nothing, whatever came of it. An error says why it is
    /// none of this object's. Operations that failed are not asked for: they did not happen.
    fn parse(&self, seen: &Seen) -> Result<Option<Self::Operation>, String>;

    /// The state afterwards; `None` where the operation cannot happen, or not with this result.
    fn step(&self, state: &Self::State, operation: &Self::Operation) -> Option<Self::State>;

    /// In a few words, with what it was answered: `get of "a"`.
    fn describe(&self, operation: &Self::Operation) -> String;

    /// As the end of a sentence: `the value is "a"`.
    fn describe_state(&self, state: &Self::State) -> String;

    /// Whether the operation never changes any state. Then it takes effect as early as it can.
    fn observes(&self, _operation: &Self::Operation) -> bool {
        false
    }

    /// The parts of the object that the operation touches, if it touches no others and does to each
    /// what it would do if there were no others; none: all. What touches different parts is judged apart.
    fn parts(&self, _operation: &Self::Operation) -> Vec<u64> {
        Vec::new()
    }

    /// What an operation of unknown outcome may have been, where one state has several successors.
    fn alternatives(
        &self,
        operation: &Self::Operation,
        _all: &[Timed<Self::Operation>],
    ) -> Vec<Self::Operation> {
        vec![operation.clone()]
    }

    /// Whether `by`, if it happened, can tell that `open` happened.
    ///
    /// An order must stay one without any operations of unknown outcome of which none of those left, and
    /// so none that surely happened, can tell.
    fn may_tell(&self, _by: &Self::Operation, _open: &Self::Operation) -> bool {
        true
    }

    /// Whether the operation may lead out of a state that is hopeless; see there.
    fn resets(&self, _operation: &Self::Operation) -> bool {
        true
    }

    /// Whether `wanted`, which observes, cannot happen any more in this state, nor in any that follows from
    /// it, unless by an operation that resets and of which `wanted` may tell.
    fn hopeless(&self, _state: &Self::State, _wanted: &Self::Operation) -> bool {
        false
    }

    /// Whether all that resets leads to one state from everywhere. Then all states are alike in which none of
    /// a history's observations can happen any more.
    fn overwrites(&self) -> bool {
        false
    }

    /// What helps to find an order, by position.
    fn guide(&self, operations: &[Timed<Self::Operation>]) -> Vec<Guide> {
        let guide = |timed: &Timed<Self::Operation>| Guide {
            is_eager: self.observes(&timed.operation),
            rank: timed.complete,
        };
        operations.iter().map(guide).collect()
    }

    /// The clusters of operations that this one is of: those that can all be left out of any order, so
    /// that the rest stays one. They make explanations shorter.
    fn clusters(&self, _operation: &Self::Operation) -> Vec<u64> {
        Vec::new()
    }

    /// What is left of the operation without these clusters, which are sorted.
    fn without(&self, operation: &Self::Operation, _clusters: &[u64]) -> Option<Self::Operation> {
        Some(operation.clone())
    }

    /// Decides by what is known of such objects, where that is certain.
    fn shortcut(&self, _operations: &[Timed<Self::Operation>]) -> Shortcut {
        Shortcut::None
    }

    /// Why these operations have no order, in sentences, where there is more to say than that every order
    /// fails. `moment` tells when the event of an invocation or a completion was.
    fn reason(
        &self,
        _core: &[Timed<Self::Operation>],
        _moment: &dyn Fn(u32) -> String,
    ) -> Vec<String> {
        Vec::new()
    }

    /// About how many bytes a state takes that is not kept anywhere else.
    fn weight(&self, _state: &Self::State) -> usize {
        size_of::<Self::State>()
    }
}
