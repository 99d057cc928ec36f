//! Tests of the whole, in one binary. Those that need a Docker engine run with `STORMGLASS_DOCKER=1`.

mod docker_agent;
mod docker_cluster;
