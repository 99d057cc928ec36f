//! The simulation as a whole: what holds under random faults, that it repeats, and how fast it runs.

mod chaos;
mod judge;
mod soak;
mod throughput;
