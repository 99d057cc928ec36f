//! The variants that an expectation asks for.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a server is that has no variant chosen, and what a real one is.
pub const AS_SHIPPED: &str = "as-shipped";

/// Another word for the data nodes' role.
const NODE: (&str, &str) = ("node", "kvrocks");

/// Variants by role, all of which a run must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedVariant {
    /// Of any role.
    Name(String),
    Roles(BTreeMap<String, String>),
}

impl WantedVariant {
    pub(super) fn matches(&self, chosen: &BTreeMap<String, String>) -> bool {
        match self {
            // Beside a role with another variant, the others' being as shipped says nothing.
            WantedVariant::Name(name) if name == AS_SHIPPED => {
                chosen.values().all(|value| value == AS_SHIPPED)
            }
            WantedVariant::Name(name) => chosen.values().any(|value| value == name),
            WantedVariant::Roles(roles) => roles.iter().all(|(role, name)| {
                let has = chosen.get(role).map_or(AS_SHIPPED, String::as_str);
                has == name
            }),
        }
    }

    fn parse(text: &str) -> WantedVariant {
        match text.split_once('=') {
            Some((role, name)) => WantedVariant::Roles([(role_name(role), name.to_owned())].into()),
            None => WantedVariant::Name(text.to_owned()),
        }
    }

    /// The names that it asks for, with their roles where it names them.
    pub fn names(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            WantedVariant::Name(name) => vec![(None, name)],
            WantedVariant::Roles(roles) => {
                roles.iter().map(|(role, name)| (Some(role.as_str()), name.as_str())).collect()
            }
        }
    }
}

fn role_name(role: &str) -> String {
    if role == NODE.0 { NODE.1.to_owned() } else { role.to_owned() }
}

impl fmt::Display for WantedVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |(role, name): (Option<&str>, &str)| match role {
            Some(role) => format!("{role}={name}"),
            None => name.to_owned(),
        };
        f.write_str(&self.names().into_iter().map(word).collect::<Vec<_>>().join(" "))
    }
}

impl Serialize for WantedVariant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WantedVariant::Name(name) => name.serialize(serializer),
            WantedVariant::Roles(roles) => roles.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WantedVariant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WantedVariant, D::Error> {
        deserializer.deserialize_any(Wanted)
    }
}

struct Wanted;

impl<'de> Visitor<'de> for Wanted {
    type Value = WantedVariant;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a variant's name, role=name, or { role: name }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WantedVariant, E> {
        Ok(WantedVariant::parse(text))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<WantedVariant, M::Error> {
        let mut roles = BTreeMap::new();
        while let Some((role, name)) = map.next_entry::<String, String>()? {
            roles.insert(role_name(&role), name);
        }
        match roles.is_empty() {
            true => Err(M::Error::custom("expected at least one role with a variant")),
            false => Ok(WantedVariant::Roles(roles)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(wanted: &str, chosen: &[(&str, &str)]) -> bool {
        let wanted: WantedVariant = serde_yaml::from_str(wanted).expect(wanted);
        let written = serde_yaml::to_string(&wanted).expect("plain data");
        assert_eq!(serde_yaml::from_str::<WantedVariant>(&written).ok(), Some(wanted.clone()));
        let pair = |(role, name): &(&str, &str)| ((*role).to_owned(), (*name).to_owned());
        wanted.matches(&chosen.iter().map(pair).collect())
    }

    #[test]
    fn a_variant_is_wanted_of_any_role_or_of_named_ones() {
        let lease = [("controller", "as-shipped"), ("kvrocks", "lease")];
        let shipped = [("controller", "as-shipped"), ("kvrocks", "as-shipped")];
        for (wanted, of_lease, of_shipped) in [
            ("lease", true, false),
            ("node=lease", true, false),
            ("kvrocks=lease", true, false),
            ("controller=lease", false, false),
            ("{ node: lease }", true, false),
            ("{ kvrocks: lease, controller: as-shipped }", true, false),
            ("{ kvrocks: lease, controller: cas }", false, false),
            ("as-shipped", false, true),
            ("controller=as-shipped", true, true),
        ] {
            assert_eq!(matches(wanted, &lease), of_lease, "{wanted}");
            assert_eq!(matches(wanted, &shipped), of_shipped, "{wanted}");
        }
        assert!(matches("as-shipped", &[]), "a real image is as it is shipped");
        assert!(matches("kvrocks=as-shipped", &[]));
        assert!(serde_yaml::from_str::<WantedVariant>("{}").is_err());
    }
}
