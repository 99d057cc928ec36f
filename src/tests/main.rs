//! Tests across modules, one binary. Slow ones run only where `STORMGLASS_TESTS` names them.

mod bad_input;
mod binary;
mod cells;
mod commands;
mod determinism;
mod differential;
mod docker_agent;
mod docker_clock;
mod docker_cluster;
mod docker_faults;
mod docker_interposer;
mod docker_kvrocks;
mod docker_links;
mod docker_runs;
mod docker_sigkill;
mod docker_storm;
mod fixture;
mod gate;
mod golden;
mod lint;
mod output;
mod page;
mod planted_bugs;
mod report;
mod tidy;
mod triggers;
