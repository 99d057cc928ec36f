//! Names that recur in every event (nodes, operations), held once and passed around as two bytes.
//!
//! A million operations are two million events; this keeps each small.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU16;
use std::ops::Deref;
use std::sync::{Mutex, OnceLock};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many different names one process may see; those beyond share [`OVERFLOW`].
const MOST: usize = u16::MAX as usize;

/// Stands for every name beyond the limit: no cluster has so many nodes, no history so many operations.
const OVERFLOW: &str = "(too many names)";

static TEXTS: [OnceLock<&'static str>; MOST] = [const { OnceLock::new() }; MOST];
static KNOWN: Mutex<Option<FxHashMap<&'static str, NonZeroU16>>> = Mutex::new(None);

/// A name. Ordered, compared and hashed as its text; cheap to copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name(NonZeroU16);

impl Name {
    pub fn as_str(&self) -> &'static str {
        let position = usize::from(self.0.get()) - 1;
        TEXTS[position].get().copied().unwrap_or(OVERFLOW)
    }

    fn of(text: &str) -> Name {
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let known = known.get_or_insert_default();
        if let Some(number) = known.get(text) {
            return Name(*number);
        }
        let text = if known.len() + 1 < MOST { text } else { OVERFLOW };
        if let Some(number) = known.get(text) {
            return Name(*number);
        }
        let kept: &'static str = Box::leak(text.into());
        let position = known.len();
        let number = NonZeroU16::MIN.saturating_add(position as u16);
        // Nobody else sets this place: the lock is held, and the position is new.
        let _ = TEXTS[position].set(kept);
        known.insert(kept, number);
        Name(number)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::of(text)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name::of(&text)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Name) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

// As text, so that maps by name can be asked by text.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        String::deserialize(deserializer).map(Name::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_the_same_name_and_order_is_that_of_the_texts() {
        let [late, early] = ["zookeeper2", "zookeeper1"].map(Name::from);
        assert_eq!(Name::from("zookeeper2".to_owned()), late);
        assert_ne!(late, early);
        assert!(early < late && *early == *"zookeeper1");
        assert_eq!(std::mem::size_of::<Option<Name>>(), 2);
        let map = std::collections::BTreeMap::from([(late, 1)]);
        assert_eq!(map.get("zookeeper2"), Some(&1));
    }

    #[test]
    fn threads_agree_on_names() {
        let make = || (0..200).map(|n| Name::from(format!("shared-{n}"))).collect::<Vec<_>>();
        let other = std::thread::spawn(make);
        let mine = make();
        assert_eq!(other.join().unwrap(), mine);
        assert!(mine.iter().enumerate().all(|(n, name)| **name == *format!("shared-{n}")));
    }
}
