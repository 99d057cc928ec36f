//! The one network of a run: labelled, IPv4 only, on a subnet that meets nothing else.

use std::collections::HashMap;

use bollard::models::{Ipam, IpamConfig, NetworkCreateRequest};
use bollard::query_parameters::ListNetworksOptions;
use sha2::{Digest, Sha256};

use crate::docker::engine::{Engine, words};
use crate::docker::owner::{Owner, RunId};
use crate::docker::subnet::{self, Subnet};

/// How often another subnet is tried when somebody else was faster.
const ATTEMPTS: usize = 16;

/// A network that was made.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub name: String,
    pub subnet: Subnet,
}

#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    #[error(
        "subnet {subnet} is taken: {cause}. Expected one that meets no other Docker network and no route \
         of this host. Name another one, or none to have a free one chosen"
    )]
    Taken { subnet: String, cause: String },
    #[error(
        "no free subnet of length /24 is left in 198.18.0.0/15, 10.213.0.0/16 and 172.30.0.0/16. Remove \
         unused networks (`stormglass down`, `docker network prune`), or name a subnet"
    )]
    NoneLeft,
    #[error("the Docker engine could not make network {name}: {cause}")]
    Engine { name: String, cause: String },
}

/// Makes the run's network, on the subnet asked for or on a free one.
pub(super) async fn create(
    engine: &Engine,
    run: &RunId,
    owner: &Owner,
    wanted: Option<Subnet>,
) -> Result<Network, NetworkError> {
    let name = format!("sg-{run}");
    let failed = |cause: String| NetworkError::Engine { name: name.clone(), cause };
    let mut taken = taken(engine).await.map_err(failed)?;
    if let Some(subnet) = wanted {
        let is_taken = |cause: String| NetworkError::Taken { subnet: subnet.to_string(), cause };
        if let Some((other, whose)) = taken.iter().find(|(other, _)| other.overlaps(subnet)) {
            return Err(is_taken(format!("{whose} has {other}")));
        }
        let made = request(engine, run, owner, &name, subnet).await;
        return made
            .map(|()| Network { name: name.clone(), subnet })
            .map_err(|cause| if is_overlap(&cause) { is_taken(cause) } else { failed(cause) });
    }
    for _ in 0..ATTEMPTS {
        let subnets: Vec<Subnet> = taken.iter().map(|(subnet, _)| *subnet).collect();
        let subnet = subnet::choose(&subnets, seed(run)).ok_or(NetworkError::NoneLeft)?;
        match request(engine, run, owner, &name, subnet).await {
            Ok(()) => return Ok(Network { name, subnet }),
            Err(cause) if is_overlap(&cause) => taken.push((subnet, "another run".to_owned())),
            Err(cause) => return Err(failed(cause)),
        }
    }
    Err(failed(format!("{ATTEMPTS} subnets that seemed free were taken")))
}

/// Every subnet that must be kept clear of, and whose it is.
async fn taken(engine: &Engine) -> Result<Vec<(Subnet, String)>, String> {
    let networks = engine.api().list_networks(None::<ListNetworksOptions>).await;
    let mut taken = Vec::new();
    for network in networks.map_err(|error| words(&error))? {
        let whose = format!("Docker network `{}`", network.name.unwrap_or_default());
        for config in network.ipam.and_then(|ipam| ipam.config).unwrap_or_default() {
            if let Some(Ok(subnet)) = config.subnet.map(|text| text.parse()) {
                taken.push((subnet, whose.clone()));
            }
        }
    }
    let routes = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
    let routes = subnet::parse_routes(&routes).into_iter();
    taken.extend(routes.map(|subnet| (subnet, "a route of this host".to_owned())));
    Ok(taken)
}

async fn request(
    engine: &Engine,
    run: &RunId,
    owner: &Owner,
    name: &str,
    subnet: Subnet,
) -> Result<(), String> {
    let config = IpamConfig {
        subnet: Some(subnet.to_string()),
        gateway: Some(subnet.gateway().to_string()),
        ..IpamConfig::default()
    };
    let request = NetworkCreateRequest {
        name: name.to_owned(),
        driver: Some("bridge".to_owned()),
        enable_ipv6: Some(false),
        ipam: Some(Ipam { config: Some(vec![config]), ..Ipam::default() }),
        options: Some(HashMap::from([(
            "com.docker.network.bridge.enable_icc".to_owned(),
            "true".to_owned(),
        )])),
        labels: Some(owner.labels(run, None, "network")),
        ..NetworkCreateRequest::default()
    };
    engine.api().create_network(request).await.map(|_| ()).map_err(|error| words(&error))
}

fn is_overlap(cause: &str) -> bool {
    let cause = cause.to_lowercase();
    cause.contains("overlap") || cause.contains("conflicts with")
}

fn seed(run: &RunId) -> u64 {
    let digest = Sha256::digest(run.as_str());
    digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
