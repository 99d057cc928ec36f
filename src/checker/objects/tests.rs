//! Why the decisions can be trusted: every one of them is compared with one that tries all orders.

mod kv;
mod multi_register;
mod oracle;
mod recorded;
mod soundness;
mod told;
