//! Why the decisions can be trusted: every one of them is compared with one that tries all orders.

mod allowed;
mod containers;
mod counters;
mod crossing;
mod leases;
mod lists;
mod locks;
mod long;
mod oracle;
mod recorded;
mod semaphores;
mod sets;
mod soundness;
mod strings;
mod told;
mod told_of_objects;
mod transactions;
