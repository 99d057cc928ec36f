//! The simulation as a whole: what holds under random faults, and how fast it runs.

mod throughput;
