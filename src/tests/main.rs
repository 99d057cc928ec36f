//! Tests across modules, one binary. Slow ones run only where `STORMGLASS_TESTS` names them.

mod differential;
mod docker_agent;
mod docker_cluster;
mod fixture;
mod gate;
mod page;
mod report;
mod tidy;
