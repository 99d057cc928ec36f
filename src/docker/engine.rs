//! The connection to one Docker engine, and what can be wrong with it. It creates nothing.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use bollard::errors::Error as ApiError;
use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker};

use crate::docker::self_image::{self, Supervisor};

/// The oldest API that is spoken; Docker 20.10 has it.
const OLDEST_API: ClientVersion = ClientVersion { major_version: 1, minor_version: 41 };

const DEFAULT_ADDRESS: &str = "unix:///var/run/docker.sock";

/// Long requests (image builds, pulls) stream, so this bounds the silence before the first answer.
const REQUEST_SECONDS: u64 = 120;

/// An engine that answers and is new enough.
#[derive(Clone, Debug)]
pub struct Engine {
    api: Docker,
    address: String,
    version: String,
    api_version: String,
    executable: PathBuf,
}

/// Why no engine can be used.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(
        "no Docker engine answers at {address} ({cause}). Expected a running engine of version 20.10 or \
         later. Start it (`systemctl start docker`, or `dockerd` as root), or name another one with \
         DOCKER_HOST=unix:///path or DOCKER_HOST=tcp://host:port; `--world sim` needs none"
    )]
    Unreachable { address: String, cause: String },
    #[error(
        "no permission to use the Docker engine at {address} ({cause}). Expected a socket that this user \
         may read and write. Run as root, or add the user to the socket's group (`usermod -aG docker \
         $USER`) and log in again; `--world sim` needs no engine"
    )]
    Forbidden { address: String, cause: String },
    #[error(
        "the Docker engine at {address} is too old: version {version} speaks API {api}. Expected API 1.41 \
         or later, which Docker 20.10 has. Update the engine, or name another one with DOCKER_HOST"
    )]
    TooOld { address: String, version: String, api: String },
    #[error(
        "DOCKER_HOST={address} cannot be used ({cause}). Expected unix:///path/of/socket or \
         tcp://host:port without TLS. Correct the variable or unset it to use {DEFAULT_ADDRESS}"
    )]
    BadAddress { address: String, cause: String },
}

impl Engine {
    /// Connects to the engine that `DOCKER_HOST` names, by default the local socket.
    pub async fn connect() -> Result<Engine, EngineError> {
        let address = std::env::var("DOCKER_HOST").ok().filter(|text| !text.is_empty());
        Engine::connect_to(address.as_deref().unwrap_or(DEFAULT_ADDRESS)).await
    }

    /// Connects to the engine at this address and agrees on an API version.
    pub async fn connect_to(address: &str) -> Result<Engine, EngineError> {
        let docker = open(address)?;
        let versions = docker.version().await.map_err(|error| refused(address, &error))?;
        let version = versions.version.unwrap_or_default();
        let api_version = versions.api_version.unwrap_or_default();
        if parse_api(&api_version).is_none_or(|api| api < OLDEST_API) {
            let address = address.to_owned();
            return Err(EngineError::TooOld { address, version, api: api_version });
        }
        let api = docker.negotiate_version().await.map_err(|error| refused(address, &error))?;
        let (address, executable) = (address.to_owned(), self_image::executable());
        Ok(Engine { api, address, version, api_version, executable })
    }

    /// The same engine, with another executable of ours to run in containers (tests).
    pub fn with_executable(self, executable: &Path) -> Engine {
        Engine { executable: executable.to_owned(), ..self }
    }

    /// The image that agents and hold containers run, made if it is not there.
    pub(crate) async fn own_image(&self) -> anyhow::Result<String> {
        let image = self_image::ensure(&self.api, &self.executable).await;
        image.context("make the image of our own executable")
    }

    /// Our own executable as a guest in services' containers.
    pub(crate) async fn supervisor(&self) -> anyhow::Result<Supervisor> {
        Supervisor::pack(&self.executable).await.context("pack our own executable")
    }

    /// The engine's API.
    pub fn api(&self) -> &Docker {
        &self.api
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// True if the engine runs on this machine, so far as its address tells.
    pub fn is_local(&self) -> bool {
        self.address.starts_with("unix://")
    }

    /// The engine's own version, such as `20.10.24`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The newest API version that the engine speaks.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }
}

fn open(address: &str) -> Result<Docker, EngineError> {
    let bad = |cause: &str| EngineError::BadAddress {
        address: address.to_owned(),
        cause: cause.to_owned(),
    };
    if let Some(path) = address.strip_prefix("unix://") {
        check_socket(address, path)?;
        return Docker::connect_with_unix(address, REQUEST_SECONDS, API_DEFAULT_VERSION)
            .map_err(|error| refused(address, &error));
    }
    if !address.starts_with("tcp://") && !address.starts_with("http://") {
        return Err(bad("this scheme is not supported"));
    }
    if std::env::var_os("DOCKER_TLS_VERIFY").is_some_and(|value| !value.is_empty()) {
        return Err(bad("DOCKER_TLS_VERIFY is set, and TLS is not supported"));
    }
    Docker::connect_with_http(address, REQUEST_SECONDS, API_DEFAULT_VERSION)
        .map_err(|error| bad(&error.to_string()))
}

/// Tries the socket itself, because the HTTP client hides whether it is missing, dead or forbidden.
fn check_socket(address: &str, path: &str) -> Result<(), EngineError> {
    let Err(error) = std::os::unix::net::UnixStream::connect(path) else { return Ok(()) };
    let (address, cause) = (address.to_owned(), error.to_string());
    Err(match error.kind() {
        ErrorKind::PermissionDenied => EngineError::Forbidden { address, cause },
        _ => EngineError::Unreachable { address, cause },
    })
}

fn refused(address: &str, error: &ApiError) -> EngineError {
    let (address, cause) = (address.to_owned(), error.to_string());
    match error {
        ApiError::DockerResponseServerError { status_code: 401 | 403, .. } => {
            EngineError::Forbidden { address, cause }
        }
        _ => EngineError::Unreachable { address, cause },
    }
}

fn parse_api(text: &str) -> Option<ClientVersion> {
    let (major, minor) = text.split_once('.')?;
    Some(ClientVersion { major_version: major.parse().ok()?, minor_version: minor.parse().ok()? })
}

/// True where the engine says that the thing asked for is not there.
pub(crate) fn is_missing(error: &ApiError) -> bool {
    matches!(error, ApiError::DockerResponseServerError { status_code: 404, .. })
}

/// True where the engine says that the thing is already in the state asked for, or is just changing.
pub(crate) fn is_conflict(error: &ApiError) -> bool {
    matches!(error, ApiError::DockerResponseServerError { status_code: 304 | 409, .. })
}

/// The engine's own words, without the client's wrapping.
pub(crate) fn words(error: &ApiError) -> String {
    match error {
        ApiError::DockerResponseServerError { message, .. } => message.clone(),
        ApiError::DockerStreamError { error } => error.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn error_at(address: &str) -> String {
        Engine::connect_to(address).await.expect_err("no engine there").to_string()
    }

    #[tokio::test]
    async fn a_missing_socket_is_named_with_the_mend() {
        let text = error_at("unix:///nonexistent/docker.sock").await;
        assert!(text.starts_with("no Docker engine answers at unix:///nonexistent/docker.sock"));
        assert!(text.contains("DOCKER_HOST=") && text.contains("20.10"), "{text}");
    }

    #[tokio::test]
    async fn a_closed_port_is_unreachable() {
        let (_bound, address) = bound_but_closed();
        let address = format!("tcp://{address}");
        assert!(error_at(&address).await.starts_with("no Docker engine answers at tcp://"));
    }

    /// A port that stays ours, and at which nobody listens: a listener that is dropped may live on for a
    /// moment in a child that another test forked.
    fn bound_but_closed() -> (socket2::Socket, std::net::SocketAddr) {
        use socket2::{Domain, Socket, Type};
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any_port = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(&any_port.into()).expect("a free port");
        let address = socket.local_addr().expect("an address").as_socket().expect("of IP");
        (socket, address)
    }

    #[tokio::test]
    async fn an_unknown_scheme_is_a_bad_address() {
        assert!(error_at("ftp://engine").await.contains("Expected unix:///path/of/socket"));
    }

    #[tokio::test]
    async fn an_old_engine_is_refused() {
        let address = serve_once(r#"{"Version":"18.09.1","ApiVersion":"1.39"}"#).await;
        let text = error_at(&address).await;
        assert!(text.contains("version 18.09.1 speaks API 1.39"), "{text}");
    }

    async fn serve_once(body: &'static str) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("tcp://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.expect("written");
        });
        address
    }
}
