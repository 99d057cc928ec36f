//! Trials of what acts on networks, over the loopback interface of a namespace made for each.

use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::agent::cap;
use crate::agent::fault_table::{Cut, FaultTables};
use crate::agent::live_socket;
use crate::agent::netlink::{Exchange, Socket, Subsystem};
use crate::agent::nftables::{BaseChain, ChainKind, Expressions, Family, OUTPUT, TableChanges};
use crate::agent::protocol::{Hook, Matched};
use crate::cluster::FaultId;

const NEW_LINK: u16 = 16;
const LOOPBACK_INDEX: i32 = 1;
const WITHIN: Duration = Duration::from_secs(1);
/// It names tables, in namespaces where there are no others.
const RUN: &str = "trial";
const FAULT: FaultId = FaultId(0);

/// Works in a network namespace of its own, with loopback, which ends with the thread.
fn in_scratch<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    let inside = || {
        // SAFETY: a plain system call; it moves only this thread.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(io::Error::last_os_error()).context("make a network namespace for a trial");
        }
        let mut up = [0; 16];
        up[4..8].copy_from_slice(&LOOPBACK_INDEX.to_ne_bytes());
        for at in [8, 12] {
            up[at..at + 4].copy_from_slice(&(libc::IFF_UP as u32).to_ne_bytes());
        }
        let mut route = Exchange::open(Subsystem::Route)?;
        route.change(NEW_LINK, 0, &up).context("bring up a trial's loopback")?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(inside).join())
        .unwrap_or_else(|_| Err(anyhow::anyhow!("the trial panicked")))
}

fn listen() -> anyhow::Result<(TcpListener, SocketAddrV4)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("listen on loopback")?;
    let port = listener.local_addr().context("ask for a port")?.port();
    listener.set_nonblocking(true).context("set up a listener")?;
    Ok((listener, SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)))
}

fn connect(to: SocketAddrV4) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&to.into(), WITHIN)
}

pub fn reject() -> anyhow::Result<String> {
    in_scratch(|| {
        let mut tables = FaultTables::open_refusing(RUN)?;
        let (_listener, address) = listen()?;
        connect(address).context("connect before anything is refused")?;
        let cut = Cut {
            hooks: [Hook::Input].into(),
            pairs: [(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST)].into(),
            matched: Matched::Refused { port: Some(address.port()) },
        };
        tables.install(FAULT, &cut)?;
        match connect(address) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            other => bail!("a connection that was to be refused: {other:?}"),
        }
        let tally = tables.remove(FAULT)?.context("the trial's table went by itself")?;
        ensure!(tally.packets > 0, "refused, but not by our rule: {tally:?}");
        connect(address).context("connect after the refusal was taken back")?;
        Ok("a connection to a listener of our own was refused with RST, and one after that not"
            .into())
    })
}

pub fn redirect() -> anyhow::Result<String> {
    in_scratch(|| {
        let (meant, address) = listen()?;
        let (other, other_address) = listen()?;
        let chain =
            BaseChain { name: "output", kind: ChainKind::Nat, hook: OUTPUT, priority: -100 };
        let rule = Expressions::new().tcp_to_port(address.port()).redirect(other_address.port());
        let table = TableChanges::new(Family::Ip, "sg_trial_redirect");
        let table = table.add_table(0).add_base_chain(chain).add_rule(chain.name, rule);
        Socket::open()?.transact(&table.finish())?;
        let _stream = connect(address).context("connect to a redirected port")?;
        ensure!(meant.accept().is_err(), "the connection was not redirected");
        other.accept().context("the connection did not come where it was redirected to")?;
        Ok("a connection to a listener of our own came out at another".into())
    })
}

pub fn close_sockets() -> anyhow::Result<String> {
    in_scratch(|| {
        let (listener, address) = listen()?;
        let mut near = connect(address).context("connect to ourselves")?;
        let (mut far, _) = listener.accept().context("accept from ourselves")?;
        let mut exchange = Exchange::open(Subsystem::SocketDiagnosis)?;
        let sockets = live_socket::list(&mut exchange).context("list sockets")?;
        let victim = sockets.iter().find(|socket| socket.remote == address);
        let victim = victim.context("our own connection is not listed")?;
        ensure!(
            live_socket::destroy(&mut exchange, victim).context("close a socket")?,
            "our own connection was gone"
        );
        let mut failures = Vec::new();
        for stream in [&mut near, &mut far] {
            stream.set_nonblocking(false).context("set up a stream")?;
            stream.set_read_timeout(Some(WITHIN)).context("set up a stream")?;
            failures.push(stream.read(&mut [0]).map_err(|error| error.kind()));
        }
        let wanted = [Err(ErrorKind::ConnectionAborted), Err(ErrorKind::ConnectionReset)];
        ensure!(failures == wanted, "the ends heard {failures:?}, expected {wanted:?}");
        Ok("a connection of our own was closed, and both ends heard of it".into())
    })
}

pub fn shape() -> anyhow::Result<String> {
    in_scratch(|| {
        let started = Instant::now();
        let speed = cap::trial(LOOPBACK_INDEX)?;
        let took = started.elapsed();
        Ok(format!("a burst over loopback was slowed to {speed} B/s, seen within {took:.0?}"))
    })
}
