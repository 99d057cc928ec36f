//! What may differ between two worlds that played the same script. Everything else may not.
//!
//! - Transaction ids: their order must agree over the whole trace, and between faults the number of
//!   transactions too (a refused write is one).
//! - Local reads may be stale, each in its own way: see [`lawful`].
//! - Writes made while a server was killed: see [`lawful`]. Which writes those were is not compared.
//! - The text of an error about arguments.

mod lawful;
mod order;

use std::fmt::Debug;

use stormglass::cluster::{MultiResult, Stat};

use self::order::Order;
use super::script::{Script, Step};
use super::trace::{Answer, Reaction, Record, Reply, Trace, Tree};

pub use lawful::{Figures, lawful};

const DIFFERENCES_SHOWN: usize = 6;
const RECORD_SHOWN: usize = 500;

/// Whether the model's trace may stand for the other one. If so, figures of both.
pub fn allowed(script: &Script, model: &Trace, real: &Trace) -> Result<[Figures; 2], String> {
    let steps = script.steps.len();
    same("the number of records", &model.records.len(), &steps)?;
    same("the number of records", &real.records.len(), &steps)?;
    let lawful_model = lawful(script, model).map_err(|why| format!("the model: {why}"))?;
    let lawful_real = lawful(script, real).map_err(|why| format!("the other world: {why}"))?;
    let mut order = Order::default();
    let mut differences = Vec::new();
    for (index, step) in script.steps.iter().enumerate() {
        let (model, real) = (&model.records[index], &real.records[index]);
        let is_fault = matches!(step, Step::Lag { .. } | Step::Expire { .. } | Step::Kill { .. });
        if is_fault {
            order.lose_step();
        }
        let agreed = agree(step, model, real, &mut order);
        if is_fault {
            order.lose_step();
        }
        if let Err(why) = agreed {
            let all = format!("model {}\nother {}", short(model), short(real));
            differences.push(format!("step {index}, {step:?}\n{why}\n{all}"));
        }
    }
    if differences.is_empty() {
        return Ok([lawful_model, lawful_real]);
    }
    let count = differences.len();
    differences.truncate(DIFFERENCES_SHOWN);
    Err(format!("{count} steps differ, the first ones:\n{}", differences.join("\n\n")))
}

/// A record in one line that can still be read.
pub fn short(record: &Record) -> String {
    let text = format!("{:?}", record.reaction);
    text.chars().take(RECORD_SHOWN).collect()
}

fn same<T: PartialEq + Debug>(what: &str, model: &T, real: &T) -> Result<(), String> {
    if model == real {
        return Ok(());
    }
    Err(format!("{what} differs:\n  model {model:?}\n  other {real:?}"))
}

fn agree(step: &Step, model: &Record, real: &Record, order: &mut Order) -> Result<(), String> {
    same("what fired", &model.fired, &real.fired)?;
    match (&model.reaction, &real.reaction) {
        // Each of them was looked at by itself.
        (Reaction::Replied { .. }, Reaction::Replied { .. })
            if matches!(step, Step::Local { .. }) => {}
        (Reaction::Replied { reply: model, .. }, Reaction::Replied { reply: real, .. }) => {
            agree_on_reply(model, real, order)?;
        }
        // What the other session read was looked at in each of them by itself.
        (Reaction::Chased { reply: model, .. }, Reaction::Chased { reply: real, .. })
        | (Reaction::Lagged { reply: model, .. }, Reaction::Lagged { reply: real, .. }) => {
            agree_on_reply(model, real, order)?;
        }
        (Reaction::Killed { meanwhile: model, .. }, Reaction::Killed { meanwhile: real, .. }) => {
            agree_on_reply(model, real, order)?;
        }
        (
            Reaction::Expired { meanwhile: model, reply: model_reply, closed: model_closed },
            Reaction::Expired { meanwhile: real, reply: real_reply, closed: real_closed },
        ) => {
            agree_on_reply(model, real, order)?;
            same("the reply after the end", model_reply, real_reply)?;
            same("the closing after the end", model_closed, real_closed)?;
        }
        (Reaction::Replies(model), Reaction::Replies(real)) => {
            for (model, real) in model.iter().zip(real) {
                agree_on_reply(model, real, order)?;
            }
            same("the number of replies", &model.len(), &real.len())?;
        }
        (model, real) => same("the reaction", model, real)?,
    }
    match (&model.tree, &real.tree) {
        (Some(model), Some(real)) => agree_on_tree(model, real, order),
        (model, real) => same("whether the tree was read", &model.is_some(), &real.is_some()),
    }
}

fn agree_on_reply(model: &Reply, real: &Reply, order: &mut Order) -> Result<(), String> {
    match (model, real) {
        (Ok(Answer::Data(model_data, model)), Ok(Answer::Data(real_data, real))) => {
            same("data", model_data, real_data)?;
            agree_on_stat(model, real, order)
        }
        (Ok(Answer::Stat(Some(model))), Ok(Answer::Stat(Some(real))))
        | (Ok(Answer::Changed(model)), Ok(Answer::Changed(real))) => {
            agree_on_stat(model, real, order)
        }
        (Ok(Answer::Multi(model)), Ok(Answer::Multi(real))) => {
            same("the number of results", &model.len(), &real.len())?;
            model.iter().zip(real).try_for_each(|(model, real)| match (model, real) {
                (MultiResult::Set { stat: model }, MultiResult::Set { stat: real }) => {
                    agree_on_stat(model, real, order)
                }
                _ => same("a result", model, real),
            })
        }
        _ => same("the reply", model, real),
    }
}

fn agree_on_stat(model: &Stat, real: &Stat, order: &mut Order) -> Result<(), String> {
    let without_ids = |stat: &Stat| Stat { czxid: 0, mzxid: 0, pzxid: 0, ..*stat };
    same("a stat", &without_ids(model), &without_ids(real))?;
    order.pair("czxid", model.czxid, real.czxid)?;
    order.pair("mzxid", model.mzxid, real.mzxid)?;
    order.pair("pzxid", model.pzxid, real.pzxid)
}

fn agree_on_tree(model: &Tree, real: &Tree, order: &mut Order) -> Result<(), String> {
    let paths = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    same("the paths in the tree", &paths(model), &paths(real))?;
    for ((path, model), real) in model.iter().zip(real.values()) {
        let of_znode = |why: String| format!("{path} in the tree: {why}");
        same("data", &model.data, &real.data).map_err(of_znode)?;
        same("children", &model.children, &real.children).map_err(of_znode)?;
        agree_on_stat(&model.stat, &real.stat, order).map_err(of_znode)?;
    }
    Ok(())
}
