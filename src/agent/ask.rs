//! Asks a node's service from within the node's own network: past every rule on its links and past its
//! interposers, so that only the service itself decides what is heard.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::{Duration, Instant};

use anyhow::Context;
use socket2::{Domain, Socket, Type};

use super::interposer::MARK;
use super::namespace::Inside;
use super::protocol::Heard;

/// What more an answer holds is not read.
const LONGEST_ANSWER: usize = 4096;

/// What is sent, and how much of an answer is enough.
#[derive(Clone, Debug)]
pub struct Question {
    pub send: String,
    /// So many bytes; fewer where the service says no more.
    pub enough: usize,
}

/// A socket in a node's network that goes to the node's own address.
pub struct Line {
    socket: Socket,
    to: SocketAddrV4,
}

impl Line {
    /// Opens the socket alone: it stays in its network, whoever uses it.
    pub fn open(inside: &Inside, address: Ipv4Addr, port: u16) -> anyhow::Result<Line> {
        let socket = inside.run(|| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            // What has our mark is not led to an interposer.
            socket.set_mark(MARK)?;
            anyhow::Ok(socket)
        });
        let socket = socket.context("open a socket in a node's network")?;
        Ok(Line { socket, to: SocketAddrV4::new(address, port) })
    }

    /// Asks and listens, for no longer than this.
    pub fn ask(self, question: &Question, bound: Duration) -> Heard {
        let deadline = Instant::now() + bound;
        let connected = self.socket.connect_timeout(&SocketAddr::from(self.to).into(), bound);
        if let Err(error) = connected {
            return Heard::Silent { why: error.to_string() };
        }
        let mut stream = TcpStream::from(self.socket);
        let mut answer = Vec::new();
        let ended = exchange(&mut stream, question, deadline, &mut answer);
        match (answer.is_empty(), ended) {
            (false, _) => Heard::Said { text: String::from_utf8_lossy(&answer).into_owned() },
            (true, Ok(())) => Heard::Silent { why: "it closed the connection".to_owned() },
            (true, Err(error)) => Heard::Silent { why: words(&error) },
        }
    }
}

fn exchange(
    stream: &mut TcpStream,
    question: &Question,
    deadline: Instant,
    answer: &mut Vec<u8>,
) -> io::Result<()> {
    stream.set_write_timeout(Some(left(deadline)?))?;
    stream.write_all(question.send.as_bytes())?;
    let enough = question.enough.min(LONGEST_ANSWER);
    let mut buffer = [0; LONGEST_ANSWER];
    while answer.len() < enough {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => answer.extend(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What is left of the time; a socket takes no timeout of zero.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// What is heard of a service that does this with its only connection.
    fn heard(
        enough: usize,
        bound: Duration,
        serve: impl FnOnce(TcpStream) + Send + 'static,
    ) -> Heard {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let served = std::thread::spawn(move || serve(listener.accept().expect("a client").0));
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let line = Line { socket, to: SocketAddrV4::new(Ipv4Addr::LOCALHOST, port) };
        let heard = line.ask(&Question { send: "ruok".to_owned(), enough }, bound);
        served.join().expect("served");
        heard
    }

    fn said(text: &str) -> Heard {
        Heard::Said { text: text.to_owned() }
    }

    fn question(stream: &mut TcpStream) {
        stream.read_exact(&mut [0; 4]).expect("the question");
    }

    #[test]
    fn an_answer_in_pieces_is_heard_up_to_what_is_enough() {
        let long = Duration::from_secs(20);
        let pieces = |mut stream: TcpStream| {
            question(&mut stream);
            stream.set_nodelay(true).expect("set");
            for piece in ["im", "ok"] {
                stream.write_all(piece.as_bytes()).expect("written");
            }
            // Held open until the other side has heard enough.
            let _ = stream.read(&mut [0]);
        };
        assert_eq!(heard(4, long, pieces), said("imok"));
    }

    #[test]
    fn what_was_said_counts_though_it_is_less_than_expected() {
        let closes = |mut stream: TcpStream| {
            question(&mut stream);
            stream.write_all(b"no").expect("written");
        };
        assert_eq!(heard(4, Duration::from_secs(20), closes), said("no"));
    }

    #[test]
    fn silence_and_refusal_are_told_apart_and_bounded() {
        let (hang_up, hung_up) = std::sync::mpsc::channel::<()>();
        let silent = move |stream: TcpStream| {
            let _ = hung_up.recv();
            drop(stream);
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let line = |port| Line {
            socket: Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket"),
            to: SocketAddrV4::new(Ipv4Addr::LOCALHOST, port),
        };
        let serving = std::thread::spawn(move || silent(listener.accept().expect("a client").0));
        let question = Question { send: "ruok".to_owned(), enough: 4 };
        let heard = line(port).ask(&question, Duration::from_millis(20));
        assert_eq!(heard, Heard::Silent { why: "no answer".to_owned() });
        drop(hang_up);
        serving.join().expect("served");
        let heard = line(port).ask(&question, Duration::from_secs(20));
        assert!(matches!(heard, Heard::Silent { ref why } if why.contains("refused")), "{heard:?}");
    }
}
