//! Engines that are not there or not for us. None is needed.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use expect_test::expect;
use socket2::{Domain, Socket, Type};

use super::{assert_paragraph, refused};
use crate::binary::Folder;

const COMMANDS: [&str; 3] = ["run zookeeper/register --world docker --quiet", "down", "images"];

#[test]
fn a_socket_that_is_not_there_is_named() {
    let folder = Folder::new().with("DOCKER_HOST", "unix:///nowhere/docker.sock");
    let said = COMMANDS.map(|command| refused(&folder, command, 3));
    expect![[r#"
        stormglass: no Docker engine answers at unix:///nowhere/docker.sock (No such file or directory (os error 2)). Expected a running engine of version 20.10 or later. Start it (`systemctl start docker`, or `dockerd` as root), or name another one with DOCKER_HOST=unix:///path or DOCKER_HOST=tcp://host:port; `--world sim` needs none
    "#]].assert_eq(&said[0]);
    assert!(said.iter().all(|text| *text == said[0]), "{said:#?}");
    let doctor = folder.run("doctor");
    assert_eq!(doctor.code, Some(3), "{doctor:?}");
    expect![[r#"
        ok    simulation: needs nothing of this host
        fail  engine       none answers at unix:///nowhere/docker.sock: No such file or directory (os error 2); start it (`systemctl start docker`, or `dockerd` as root) or set DOCKER_HOST
        ok    debootstrap  images can be made without a registry
    "#]].assert_eq(&doctor.out);
}

#[test]
fn a_port_nobody_listens_on_is_named() {
    // Bound, and nobody listens.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(&any_port.into()).expect("a free port");
    let port = socket.local_addr().expect("an address").as_socket().expect("of IP").port();
    let folder = Folder::new().with("DOCKER_HOST", &format!("tcp://127.0.0.1:{port}"));
    for command in COMMANDS {
        let said = refused(&folder, command, 3).replace(&port.to_string(), "[port]");
        let start = "stormglass: no Docker engine answers at tcp://127.0.0.1:[port] (";
        assert!(said.starts_with(start) && said.contains("Start it"), "{said}");
    }
    let doctor = folder.run("doctor");
    assert!(doctor.code == Some(3) && doctor.out.contains(&port.to_string()), "{doctor:?}");
}

#[test]
fn an_address_of_another_kind_is_named() {
    let folder = Folder::new().with("DOCKER_HOST", "ssh://somewhere");
    let said = COMMANDS.map(|command| refused(&folder, command, 3));
    expect![[r#"
        stormglass: DOCKER_HOST=ssh://somewhere cannot be used (this scheme is not supported). Expected unix:///path/of/socket or tcp://host:port without TLS. Correct the variable or unset it to use unix:///var/run/docker.sock
    "#]].assert_eq(&said[0]);
}

#[test]
fn a_socket_without_permission_is_named_with_the_mend() {
    let folder = Folder::new();
    let socket = folder.path("docker.sock");
    let _listener = UnixListener::bind(&socket).expect("a socket");
    std::fs::set_permissions(&socket, PermissionsExt::from_mode(0o600)).expect("closed to others");
    let address = format!("unix://{}", socket.display());
    let folder = folder.with("DOCKER_HOST", &address);
    let Some(mut command) = folder.command_as_nobody("down") else { return };
    let said = folder.said(command.output().expect("a process"));
    assert_paragraph(&said, "down", 3);
    expect![[r#"
        stormglass: no permission to use the Docker engine at unix://[folder]/docker.sock (Permission denied (os error 13)). Expected a socket that this user may read and write. Run as root, or add the user to the socket's group (`usermod -aG docker $USER`) and log in again; `--world sim` needs no engine
    "#]].assert_eq(&said.err);
}
