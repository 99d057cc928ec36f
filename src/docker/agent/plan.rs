//! What an agent's container is: its image, its command, and how much of the host it gets.

use std::collections::HashMap;
use std::time::Duration;

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig,
};

use super::RUN_LABEL;
use crate::agent::{HOST_CGROUPS, LEASE};
use crate::docker::self_image::EXECUTABLE;

const HEARTBEAT: Duration = Duration::from_secs(1);

/// How to start an agent.
#[derive(Clone, Debug)]
pub struct AgentPlan {
    pub run: String,
    pub image: String,
    pub container: String,
    /// Beside the run's own.
    pub labels: HashMap<String, String>,
    pub lease: Duration,
    pub heartbeat: Duration,
}

impl AgentPlan {
    pub fn new(run: &str, image: &str) -> AgentPlan {
        AgentPlan {
            run: run.to_owned(),
            image: image.to_owned(),
            container: format!("stormglass-{run}-agent"),
            labels: HashMap::new(),
            lease: LEASE,
            heartbeat: HEARTBEAT,
        }
    }

    pub(super) fn body(&self) -> ContainerCreateBody {
        let mut labels = self.labels.clone();
        labels.insert(RUN_LABEL.to_owned(), self.run.clone());
        let lease_ms = self.lease.as_millis().to_string();
        let command = [EXECUTABLE, "agent", "--run", &self.run, "--lease-ms", &lease_ms];
        ContainerCreateBody {
            image: Some(self.image.clone()),
            cmd: Some(command.map(str::to_owned).to_vec()),
            labels: Some(labels),
            open_stdin: Some(true),
            stdin_once: Some(true),
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            host_config: Some(host_config()),
            ..Default::default()
        }
    }
}

/// The host's namespaces, and only what changing networks, and looking at processes and killing them,
/// takes.
fn host_config() -> HostConfig {
    let host = || Some("host".to_owned());
    // The last one: the memory of a service that runs as another user is a file of that user.
    let capabilities = ["NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE", "KILL", "DAC_OVERRIDE"];
    HostConfig {
        network_mode: host(),
        pid_mode: host(),
        userns_mode: host(),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::HOST),
        // To see whether a container's processes are frozen.
        binds: Some(vec![format!("/sys/fs/cgroup:{HOST_CGROUPS}:ro")]),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(capabilities.map(str::to_owned).to_vec()),
        // The default profile keeps a process from looking at those of other containers.
        security_opt: Some(vec!["apparmor=unconfined".to_owned()]),
        readonly_rootfs: Some(true),
        auto_remove: Some(true),
        // We are attached; a second copy of every heartbeat would only fill the disk.
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_runs_label_and_no_more_than_it_needs() {
        let mut plan = AgentPlan::new("r1", "stormglass/agent:0");
        plan.labels.insert("owner".to_owned(), "me".to_owned());
        let body = plan.body();
        let labels = body.labels.expect("labels");
        assert_eq!((&*labels[RUN_LABEL], &*labels["owner"]), ("r1", "me"));
        let command = body.cmd.expect("a command").join(" ");
        assert_eq!(command, "/stormglass agent --run r1 --lease-ms 5000");
        let host = body.host_config.expect("a host configuration");
        assert_eq!(host.privileged, None);
        assert_eq!(host.cap_drop.as_deref(), Some(&["ALL".to_owned()][..]));
        assert!(host.binds.expect("binds").iter().all(|bind| bind.ends_with(":ro")));
    }
}
