//! Models by name: what `stormglass check --model` may say, and which checkers that means.

use crate::checker::{Checker, Linearizability};
use crate::op::Value;

/// How the operations of a register history are to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterModel {
    /// What every key holds before the first write.
    pub initial: Value,
    /// Whether `cas` is an operation of this register.
    pub cas: bool,
    /// A `cas` that failed for its precondition proves that the value differed at some moment.
    ///
    /// Only for systems that compare values: where versions are compared, it proves nothing.
    pub failed_cas_is_evidence: bool,
    /// An `ok` read of nil says nothing, as in Knossos, instead of "observed empty".
    pub nil_is_wildcard: bool,
}

impl RegisterModel {
    /// Read and write, empty at first.
    pub const REGISTER: RegisterModel = RegisterModel {
        initial: Value::Nil,
        cas: false,
        failed_cas_is_evidence: false,
        nil_is_wildcard: false,
    };

    /// Read, write and compare-and-set, empty at first.
    pub const CAS_REGISTER: RegisterModel = RegisterModel { cas: true, ..RegisterModel::REGISTER };
}

/// What a history is checked against. A closed set: a new model is a new case here.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    Register(RegisterModel),
}

/// No model has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model `{name}`: expected one of {}", Model::NAMES.join(", "))]
pub struct UnknownModel {
    pub name: String,
}

impl Model {
    pub const NAMES: [&str; 2] = ["register", "cas-register"];

    pub fn by_name(name: &str) -> Result<Model, UnknownModel> {
        match name {
            "register" => Ok(Model::Register(RegisterModel::REGISTER)),
            "cas-register" => Ok(Model::Register(RegisterModel::CAS_REGISTER)),
            _ => Err(UnknownModel { name: name.to_owned() }),
        }
    }

    /// The checkers that judge a history against this model.
    pub fn checkers(&self) -> Vec<Box<dyn Checker>> {
        match self {
            Model::Register(register) => vec![Box::new(Linearizability::new(register.clone()))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_a_model_and_others_are_refused_with_the_list() {
        for name in Model::NAMES {
            assert!(!Model::by_name(name).expect(name).checkers().is_empty());
        }
        let error = Model::by_name("regsiter").expect_err("a typo");
        let expected = "unknown model `regsiter`: expected one of register, cas-register";
        assert_eq!(error.to_string(), expected);
    }
}
