//! What this host and its engine can and cannot do, one line each, with the mend. It leaves nothing behind.

use std::ffi::CString;
use std::net::Ipv4Addr;
use std::time::Duration;

use bollard::models::SystemInfo;

use crate::agent::protocol::TableSupport;
use crate::docker::agent::{Agent, AgentPlan};
use crate::docker::engine::{Engine, EngineError, words};
use crate::docker::images::{self, ListedImage};
use crate::docker::node::{self, Hold, Limits};
use crate::docker::owner::{Owner, RunId};
use crate::docker::{cluster, network, sweep};

const REGISTRY_WITHIN: Duration = Duration::from_secs(15);

/// Three ZooKeeper servers, and what the host itself needs.
const ENOUGH_MEMORY_BYTES: u64 = 3 * (768 << 20) + (1 << 30);

/// A base image, a ZooKeeper image, and logs.
const ENOUGH_DISK_BYTES: u64 = 3 << 30;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    Ok,
    /// Runs work, but something is slower or weaker.
    Warn,
    /// `--world docker` cannot work.
    Fail,
}

impl Grade {
    pub fn name(self) -> &'static str {
        match self {
            Grade::Ok => "ok",
            Grade::Warn => "warn",
            Grade::Fail => "fail",
        }
    }
}

/// One line of `stormglass doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub name: &'static str,
    pub grade: Grade,
    /// What was found.
    pub what: String,
    /// What to do about it.
    pub mend: Option<String>,
}

fn ok(name: &'static str, what: impl Into<String>) -> Finding {
    Finding { name, grade: Grade::Ok, what: what.into(), mend: None }
}

fn warn(name: &'static str, what: impl Into<String>, mend: &str) -> Finding {
    let mend = Some(mend.to_owned());
    Finding { name, grade: Grade::Warn, what: what.into(), mend }
}

fn fail(name: &'static str, what: impl Into<String>, mend: &str) -> Finding {
    let mend = Some(mend.to_owned());
    Finding { name, grade: Grade::Fail, what: what.into(), mend }
}

/// Examines the engine that `DOCKER_HOST` names, and this host.
pub async fn examine(engine: Result<Engine, EngineError>) -> Vec<Finding> {
    let engine = match engine {
        Ok(engine) => engine,
        Err(error) => return vec![no_engine(&error), debootstrap()],
    };
    let version = format!("{} at {}", engine.version(), engine.address());
    let mut findings = vec![
        ok("engine", version),
        ok("permission", "the engine lets this user in"),
        ok("engine API", format!("{} (1.41 is needed)", engine.api_version())),
    ];
    match engine.api().info().await {
        Ok(info) => findings.extend(of_info(&info, engine.is_local())),
        Err(error) => findings.push(fail("engine info", words(&error), "restart the engine")),
    }
    let (kernel, addresses, registry, images) = futures::join!(
        of_kernel(&engine),
        addresses(&engine),
        registry(&engine),
        images::list(&engine)
    );
    findings.extend(kernel);
    findings.extend([addresses, registry, debootstrap()]);
    match images {
        Ok(images) => findings.extend(images.iter().map(of_image)),
        Err(error) => findings.push(fail("images", error.to_string(), "mend the folder ./images")),
    }
    findings
}

fn no_engine(error: &EngineError) -> Finding {
    match error {
        EngineError::Unreachable { address, cause } => fail(
            "engine",
            format!("none answers at {address}: {cause}"),
            "start it (`systemctl start docker`, or `dockerd` as root) or set DOCKER_HOST",
        ),
        EngineError::Forbidden { address, cause } => fail(
            "permission",
            format!("{address}: {cause}"),
            "run as root, or add the user to the socket's group and log in again",
        ),
        EngineError::TooOld { version, api, .. } => fail(
            "engine API",
            format!("version {version} speaks API {api}, 1.41 is needed"),
            "update the engine to 20.10 or later",
        ),
        EngineError::BadAddress { address, cause } => fail(
            "engine",
            format!("DOCKER_HOST={address}: {cause}"),
            "set DOCKER_HOST to unix:///path/of/socket or tcp://host:port, or unset it",
        ),
    }
}

fn of_info(info: &SystemInfo, local: bool) -> Vec<Finding> {
    let mut findings = vec![storage(info), cgroups(info), memory(info)];
    let root = info.docker_root_dir.as_deref().filter(|_| local);
    findings.extend(root.and_then(|root| Some(disk(root, free_bytes(root)?))));
    findings
}

fn storage(info: &SystemInfo) -> Finding {
    match info.driver.as_deref().unwrap_or("unknown") {
        "vfs" => warn(
            "storage driver",
            "vfs copies whole images",
            "configure the engine for overlay2: containers start much faster",
        ),
        driver => ok("storage driver", driver),
    }
}

fn cgroups(info: &SystemInfo) -> Finding {
    let version = info.cgroup_version.map_or("unknown".to_owned(), |version| version.to_string());
    if info.memory_limit == Some(false) || info.cpu_cfs_quota == Some(false) {
        let what = format!("version {version}, but memory or CPU limits do not act");
        return warn("cgroups", what, "enable the memory and cpu controllers of the kernel");
    }
    ok("cgroups", format!("version {version}, memory and CPU limits act"))
}

fn memory(info: &SystemInfo) -> Finding {
    let total = u64::try_from(info.mem_total.unwrap_or_default()).unwrap_or_default();
    let limit = Limits::default().memory_bytes;
    let what = format!("{} for {} cores", gibibytes(total), info.ncpu.unwrap_or_default());
    if total < ENOUGH_MEMORY_BYTES {
        let mend = format!("lower the limit of {} a node, or use fewer nodes", gibibytes(limit));
        return warn("memory", what, &mend);
    }
    ok("memory", what)
}

fn disk(root: &str, free: u64) -> Finding {
    let what = format!("{} free in {root}", gibibytes(free));
    if free < ENOUGH_DISK_BYTES {
        let mend = "free some (`docker image prune`): images and logs need about 3 GiB";
        return warn("disk", what, mend);
    }
    ok("disk", what)
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1 << 30) as f64)
}

fn free_bytes(path: &str) -> Option<u64> {
    let path = CString::new(path).ok()?;
    // SAFETY: statvfs is plain data, for which all zeroes is a value; the path is a valid C string.
    let mut filesystem: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call.
    let failed = unsafe { libc::statvfs(path.as_ptr(), &mut filesystem) } != 0;
    (!failed).then(|| filesystem.f_bavail.saturating_mul(filesystem.f_frsize))
}

/// Asks an agent what the kernel of the engine's host lets it do.
async fn of_kernel(engine: &Engine) -> Vec<Finding> {
    let run = RunId::fresh();
    let asked = async {
        let image = engine.own_image().await?;
        let mut plan = AgentPlan::new(run.as_str(), &image);
        plan.labels = Owner::current().labels(&run, None, "agent");
        let agent = Agent::start(engine.api(), &plan).await?;
        let greeting = agent.greeting().clone();
        agent.stop().await.map(|_| greeting)
    };
    let greeting = match asked.await {
        Ok(greeting) => greeting,
        Err(error) => {
            let mend = "the engine must allow host networking and the capability NET_ADMIN";
            return vec![fail("agent", format!("{error:#}"), mend)];
        }
    };
    let mut findings = vec![ok("kernel", greeting.kernel)];
    findings.extend(tables(&greeting.tables));
    findings
}

fn tables(support: &TableSupport) -> Vec<Finding> {
    let acts = || ok("partitions", "nftables tables of the bridge family act");
    match support {
        TableSupport::Owned => {
            vec![acts(), ok("self-healing", "the kernel removes the rules of an agent that dies")]
        }
        TableSupport::Unowned { why } => vec![
            acts(),
            warn(
                "self-healing",
                format!("rules outlive an agent killed by SIGKILL: {why}"),
                "run `stormglass down` after a crash; kernels from 5.12 on need no such care",
            ),
        ],
        TableSupport::Missing { why } => vec![fail(
            "partitions",
            format!("no nftables tables of the bridge family: {why}"),
            "use a kernel with CONFIG_NF_TABLES_BRIDGE; kills and pauses work without",
        )],
    }
}

/// Makes a network with one container and sees whether its address is reached from here.
async fn addresses(engine: &Engine) -> Finding {
    let run = RunId::fresh();
    let tried = try_address(engine, &run).await;
    let removed = sweep::remove(engine, &run).await;
    match tried.and(removed) {
        Ok(()) => ok("container addresses", "reached from here"),
        Err(error) => fail(
            "container addresses",
            format!("{error:#}"),
            "use an engine that runs on this host itself, not in a virtual machine",
        ),
    }
}

async fn try_address(engine: &Engine, run: &RunId) -> anyhow::Result<()> {
    let image = engine.own_image().await?;
    let owner = Owner::current();
    let network = network::create(engine, run, &owner, None).await?;
    let address = network.subnet.node(0).unwrap_or(Ipv4Addr::UNSPECIFIED);
    let hold = Hold {
        name: format!("sg-{run}-doctor"),
        image: &image,
        network: &network.name,
        address,
        hostname: "doctor",
        labels: owner.labels(run, None, "hold"),
    };
    node::start_hold(engine, hold).await?;
    Ok(cluster::check_address(engine, address).await?)
}

/// Asks the engine for an image's manifest, which it has to fetch from the registry.
async fn registry(engine: &Engine) -> Finding {
    let offline = "nothing to do: images are then made from Debian's packages, once";
    let asked = engine.api().inspect_registry_image("debian:bookworm-slim", None);
    match tokio::time::timeout(REGISTRY_WITHIN, asked).await {
        Ok(Ok(_)) => ok("registry", "answers: official images can be pulled"),
        Ok(Err(error)) => warn("registry", format!("not reached: {}", words(&error)), offline),
        Err(_) => {
            let what = format!("silent for {} s", REGISTRY_WITHIN.as_secs());
            warn("registry", what, offline)
        }
    }
}

fn debootstrap() -> Finding {
    match images::debootstrap_lacks() {
        None => ok("debootstrap", "images can be made without a registry"),
        Some(lack) => warn(
            "debootstrap",
            lack,
            "needed only where no registry answers: apt-get install debootstrap, and build as root",
        ),
    }
}

fn of_image(image: &ListedImage) -> Finding {
    let name = &image.name;
    if image.has_official {
        return ok("image", format!("{name}: {} is there", image.official));
    }
    match &image.built {
        Some(built) if image.has_built => ok("image", format!("{name}: {built} is there")),
        Some(_) => warn(
            "image",
            format!("{name}: not there yet"),
            "`stormglass images build` makes it beforehand; a run makes it when needed",
        ),
        None => warn(
            "image",
            format!("{name}: {} is not there", image.official),
            "a run pulls it; where it cannot, our own reference server runs in its place and is \
             recorded as `reference`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_forbids_is_told_apart_from_none() {
        let address = || "unix:///x".to_owned();
        let cause = || "why".to_owned();
        let none = no_engine(&EngineError::Unreachable { address: address(), cause: cause() });
        let forbidden = no_engine(&EngineError::Forbidden { address: address(), cause: cause() });
        assert_eq!((none.name, none.grade), ("engine", Grade::Fail));
        assert_eq!((forbidden.name, forbidden.grade), ("permission", Grade::Fail));
        assert!(none.mend.is_some() && forbidden.mend.is_some());
    }

    #[test]
    fn little_memory_and_disk_are_warned_of() {
        let small = SystemInfo { mem_total: Some(1 << 30), ..SystemInfo::default() };
        assert_eq!(memory(&small).grade, Grade::Warn);
        let large = SystemInfo { mem_total: Some(16 << 30), ..SystemInfo::default() };
        assert_eq!(memory(&large).grade, Grade::Ok);
        assert_eq!(disk("/var", 1 << 30).grade, Grade::Warn);
        assert_eq!(disk("/var", 9 << 30).grade, Grade::Ok);
        assert!(free_bytes("/").is_some_and(|free| free > 0));
    }

    #[test]
    fn kernels_without_tables_cannot_cut() {
        let missing = tables(&TableSupport::Missing { why: "no".to_owned() });
        assert_eq!(missing.iter().map(|finding| finding.grade).max(), Some(Grade::Fail));
        let unowned = tables(&TableSupport::Unowned { why: "old".to_owned() });
        assert_eq!(unowned.iter().map(|finding| finding.grade).max(), Some(Grade::Warn));
    }
}
