//! The one integration test binary.

mod docker_cluster;
