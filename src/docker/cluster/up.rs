//! Bringing a cluster up: everything that does not wait for something else is done at once.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::future::{try_join, try_join_all};
use tokio::net::TcpStream;

use crate::agent::protocol::{Enrollment, Place};
use crate::cluster::{Ability, CLIENTS, Mechanism, Needs, Role, Topology};
use crate::docker::agent::Agent;
use crate::docker::cluster::apply::interpose;
use crate::docker::cluster::fitting::Fittings;
use crate::docker::cluster::making::{Made, Making};
use crate::docker::cluster::view::office::Lookout;
use crate::docker::cluster::{ClusterSpec, DockerCluster, Sightings, UpError, ready};
use crate::docker::engine::Engine;
use crate::docker::logs::LogWatch;
use crate::docker::network;
use crate::docker::node;
use crate::docker::owner::Owner;
use crate::docker::{Progress, ability, sweep};
use crate::op::NodeName;
use crate::reference::controller::Config;

/// The setting of controllers that names their leader znode.
const ELECT_PATH: &str = "zookeeper.elect_path";

/// An address of this host answers or refuses at once.
const REACHED_WITHIN: Duration = Duration::from_secs(3);

/// A port on which nothing listens in a hold container: being refused proves that it was reached.
const CLOSED_PORT: u16 = 1;

pub(super) async fn up(
    engine: &Engine,
    spec: &ClusterSpec,
    progress: Progress<'_>,
) -> Result<DockerCluster, UpError> {
    spec.check()?;
    let made = async {
        let cluster = start(engine, spec, progress).await?;
        progress("waiting until the servers serve");
        match ready::wait(&cluster, spec).await {
            Ok(()) => Ok(cluster),
            Err(error) => {
                for node in cluster.nodes {
                    node.log.leave().await;
                }
                Err(error)
            }
        }
    };
    match made.await {
        Ok(cluster) => Ok(cluster),
        Err(error) => {
            // What failed is the thing to tell; `stormglass down` can take away the rest.
            let _ = sweep::remove(engine, &spec.run).await;
            Err(error)
        }
    }
}

async fn start(
    engine: &Engine,
    spec: &ClusterSpec,
    progress: Progress<'_>,
) -> Result<DockerCluster, UpError> {
    progress("preparing images");
    let own = async { Ok(engine.own_image().await?) };
    let (fittings, own_image) = try_join(Fittings::find(engine, spec, progress), own).await?;
    let owner = Owner::current();
    let network = network::create(engine, &spec.run, &owner, spec.subnet).await?;
    progress("starting containers");
    let sightings = Sightings::new();
    let log_watch = Arc::new(LogWatch::new(sightings.sighter()));
    let making = Making {
        engine,
        spec,
        owner: &owner,
        network: &network,
        own_image: &own_image,
        fittings: &fittings,
        log_watch: log_watch.clone(),
    };
    let topology = making.topology()?;
    let is_fussy = !spec.needs.mechanisms.is_empty() || !spec.needs.optional.is_empty();
    let (agent, made, lacks) = if !is_fussy {
        let made = try_join(making.agent(), making.containers(&topology)).await?;
        (made.0, made.1, Vec::new())
    } else {
        // Nothing is made that could not be broken as asked.
        let agent = making.agent().await?;
        let lacks = check_mechanisms(engine, &agent, spec, &owner).await?;
        (agent, making.containers(&topology).await?, lacks)
    };
    enroll(engine, &agent, &topology, &made, network.subnet.gateway()).await?;
    // Connections that services open once and keep are led through interposers, too.
    interpose::place(&agent, &lacks, interpose::early(&spec.needs, &topology)).await?;
    let nodes = making.start(made).await?;
    Ok(DockerCluster {
        engine: engine.clone(),
        run: spec.run.clone(),
        topology,
        nodes,
        network: network.name,
        images: fittings.images(),
        agent,
        cuts: Default::default(),
        lacks,
        looking: Default::default(),
        supervised: fittings.is_supervised(),
        log_watch,
        sightings,
        paces: Default::default(),
        lookout: Lookout::new(leader_znode(spec)),
        offsets: Default::default(),
    })
}

/// Where the controllers elect their leader.
fn leader_znode(spec: &ClusterSpec) -> String {
    let config = spec.config.get(&Role::Controller);
    let path = config.and_then(|config| config.get(ELECT_PATH));
    path.map_or(Config::ELECT_PATH, String::as_str).to_owned()
}

/// Fails with the first mechanism that is needed and does not act; those that can be done without.
async fn check_mechanisms(
    engine: &Engine,
    agent: &Agent,
    spec: &ClusterSpec,
    owner: &Owner,
) -> Result<Vec<Ability>, UpError> {
    let needed = spec.needs.mechanisms.iter().map(|(mechanism, _)| mechanism);
    let freezes = needed.chain(&spec.needs.optional).any(|one| *one == Mechanism::Freeze);
    let abilities = if freezes {
        ability::try_all(engine, agent, &spec.run, owner).await?
    } else {
        agent.abilities().await?
    };
    match lacking(&spec.needs, &abilities) {
        Some(error) => Err(error),
        None => Ok(abilities.into_iter().filter(|ability| !ability.acts).collect()),
    }
}

/// The first need that is not met.
fn lacking(needs: &Needs, abilities: &[Ability]) -> Option<UpError> {
    let of = |mechanism| abilities.iter().find(|ability| ability.mechanism == mechanism);
    let is_lacking =
        |(mechanism, _): &&(Mechanism, String)| of(*mechanism).is_none_or(|found| !found.acts);
    let (mechanism, nemesis) = needs.mechanisms.iter().find(is_lacking)?.clone();
    let how = of(mechanism).map_or("it was not tried".to_owned(), |ability| ability.how.clone());
    let acting = abilities.iter().filter(|ability| ability.acts);
    let acting: Vec<&str> = acting.map(|ability| ability.mechanism.name()).collect();
    let alternatives = if acting.is_empty() { "nothing".to_owned() } else { acting.join(", ") };
    Some(UpError::Lacks { nemesis, mechanism, how, alternatives })
}

/// Proves that this host reaches a container's address.
pub(in crate::docker) async fn check_address(
    engine: &Engine,
    address: Ipv4Addr,
) -> Result<(), UpError> {
    let reached = TcpStream::connect((address, CLOSED_PORT));
    let cause = match tokio::time::timeout(REACHED_WITHIN, reached).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("silence for {} s", REACHED_WITHIN.as_secs()),
    };
    let (address, engine) = (address.to_string(), engine.address().to_owned());
    Err(UpError::Addresses { address, engine, cause })
}

/// Makes the nodes and the clients' place known to the agent.
async fn enroll(
    engine: &Engine,
    agent: &Agent,
    topology: &Topology,
    made: &[Made<'_>],
    gateway: Ipv4Addr,
) -> Result<(), UpError> {
    let enrolling = topology.nodes.iter().zip(made).map(|(node, made)| async move {
        let state = node::state(engine, &made.hold).await;
        let pid = state.map(|state| node::pid(&state)).context("ask for a hold container")?;
        let pid = pid.with_context(|| format!("the hold container of {} ended", node.name))?;
        let place = Place::Container { pid };
        anyhow::Ok(Enrollment { node: node.name, address: node.address, place })
    });
    let mut enrollments = try_join_all(enrolling).await?;
    let node: NodeName = crate::name::Name::from(CLIENTS);
    enrollments.push(Enrollment { node, address: gateway, place: Place::Host });
    Ok(agent.enroll(enrollments).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_told_with_what_is_not() {
        let ability =
            |mechanism, acts| Ability { mechanism, acts, how: "it is missing".to_owned() };
        let abilities = [ability(Mechanism::BridgeTables, true), ability(Mechanism::Shape, false)];
        let told = |mechanism| {
            let mechanisms = vec![(mechanism, "throttle".to_owned())];
            let needs = Needs { mechanisms, ..Needs::default() };
            lacking(&needs, &abilities).map(|error| error.to_string())
        };
        assert_eq!(told(Mechanism::BridgeTables), None);
        let text = told(Mechanism::Shape).expect("it lacks");
        assert!(
            text.starts_with("nemesis throttle cannot act here: it needs shape, and it is missing")
        );
        assert!(text.contains("What does act here: bridge-tables."), "{text}");
        assert!(told(Mechanism::Trace).is_some_and(|text| text.contains("was not tried")));
    }
}
