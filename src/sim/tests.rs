//! The simulation as a whole: what holds under random faults, that it repeats, and how fast it runs.

mod anything;
mod chaos;
mod judge;
mod property;
mod soak;
mod tally;
mod throughput;
