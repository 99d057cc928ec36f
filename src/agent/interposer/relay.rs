//! One connection through an interposer: two sockets, and what passes between them.
//!
//! It is one task, so that nothing of a connection needs a lock. A half-closed connection stays half
//! closed, a reset one is reset at both ends.

use std::io;
use std::net::Shutdown;
use std::rc::Rc;
use std::time::Instant;

use tokio::net::TcpStream;
use tokio::time::sleep_until;

use super::armory::{End, Facing};
use super::flow::{Flow, Next, Pace};
use super::shared::Shared;
use super::socket;
use crate::cluster::{Concerning, Toxic};
use crate::wire::{Deed, Splice};

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Closed,
    Reset,
}

/// What a direction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Nothing,
    Until(Instant),
    Room,
}

enum Woken {
    Client,
    Server,
    Other,
    Rearmed,
}

pub struct Relay {
    client: TcpStream,
    server: TcpStream,
    shared: Rc<Shared>,
    end: End,
    splice: Splice,
    /// From the client to the server, and back.
    up: Flow,
    down: Flow,
    toxics: Vec<(Concerning, Toxic)>,
    pace: Pace,
    /// After so many more bytes from the server the connection is reset.
    reset_after: Option<(Concerning, u64)>,
    held: Option<Concerning>,
    /// It closes once what is on its way to the client has arrived.
    is_closing: bool,
    is_server_over: bool,
}

impl Relay {
    pub fn new(client: TcpStream, server: TcpStream, end: End, shared: Rc<Shared>) -> Relay {
        let (up, down) = (Flow::new(shared.fork()), Flow::new(shared.fork()));
        Relay {
            client,
            server,
            shared,
            end,
            splice: Splice::default(),
            up,
            down,
            toxics: Vec::new(),
            pace: Pace::default(),
            reset_after: None,
            held: None,
            is_closing: false,
            is_server_over: false,
        }
    }

    /// Passes everything on until both ends have closed, or one of them or a fault ends it.
    pub async fn run(mut self) {
        let ending = self.pass().await;
        let mut armory = self.shared.armory.borrow_mut();
        self.splice.finish(&mut Facing { armory: &mut armory, end: &self.end });
        if let Some(concerning) = self.held {
            armory.let_go(concerning);
        }
        drop(armory);
        if ending == Ending::Reset {
            socket::reset(self.client);
            socket::reset(self.server);
        }
    }

    async fn pass(&mut self) -> Ending {
        let mut changes = self.shared.changes();
        let mut ending = self.rearm();
        loop {
            let up = flush(&mut self.up, &self.server, &self.pace);
            let down = flush(&mut self.down, &self.client, &self.pace);
            if let Some(ending) = ending.or_else(|| self.ending()) {
                return ending;
            }
            let reads_client = !self.up.has_ended() && self.up.has_room();
            let reads_server = !self.is_server_over && self.down.has_room();
            let timer = [up, down].into_iter().filter_map(Wait::until).min();
            let woken = tokio::select! {
                _ = self.client.readable(), if reads_client => Woken::Client,
                _ = self.server.readable(), if reads_server => Woken::Server,
                _ = self.server.writable(), if up == Wait::Room => Woken::Other,
                _ = self.client.writable(), if down == Wait::Room => Woken::Other,
                () = rest_until(timer), if timer.is_some() => Woken::Other,
                _ = changes.changed() => Woken::Rearmed,
            };
            ending = match woken {
                Woken::Client => self.read_client(),
                Woken::Server => self.read_server(),
                Woken::Rearmed => self.rearm(),
                Woken::Other => None,
            };
        }
    }

    fn ending(&self) -> Option<Ending> {
        let is_over = self.up.is_shut() && self.down.is_shut();
        let is_closed_on = self.is_closing && self.down.is_empty();
        let is_left = self.held.is_some() && self.up.has_ended();
        (is_over || is_closed_on || is_left).then_some(Ending::Closed)
    }

    /// Looks at what is armed now.
    fn rearm(&mut self) -> Option<Ending> {
        let shared = Rc::clone(&self.shared);
        let mut armory = shared.armory.borrow_mut();
        let is_released = self.held.is_some_and(|held| !armory.is_armed(held));
        if armory.is_closing || is_released {
            return Some(Ending::Reset);
        }
        self.toxics = armory.toxics(&self.end);
        let pace = Pace::of(self.toxics.iter().map(|(_, toxic)| toxic));
        let is_late_for_nothing =
            self.down.delayed_by().is_some_and(|concerning| !armory.is_armed(concerning));
        if self.pace != pace || is_late_for_nothing {
            self.pace = pace;
            self.up.hurry();
            self.down.hurry();
        }
        let reset = self.toxics.iter().find_map(|(concerning, toxic)| match toxic {
            Toxic::Reset { after_bytes } => Some((*concerning, *after_bytes)),
            _ => None,
        });
        // What is counted already goes on being counted.
        if self.reset_after.map(|(before, _)| before) != reset.map(|(now, _)| now) {
            self.reset_after = reset;
        }
        match self.reset_after {
            Some((concerning, 0)) => {
                armory.count_hit(concerning);
                Some(Ending::Reset)
            }
            _ => None,
        }
    }

    fn read_client(&mut self) -> Option<Ending> {
        let shared = Rc::clone(&self.shared);
        let mut buffer = shared.buffer.borrow_mut();
        let deeds = match self.client.try_read(&mut buffer) {
            Ok(0) => {
                self.up.finish();
                self.splice.end_of_requests()
            }
            Ok(length) => {
                let mut armory = shared.armory.borrow_mut();
                let mut facing = Facing { armory: &mut armory, end: &self.end };
                self.splice.requests(&buffer[..length], &mut facing)
            }
            Err(error) => return (!is_nothing(&error)).then_some(Ending::Reset),
        };
        self.perform(deeds, true)
    }

    fn read_server(&mut self) -> Option<Ending> {
        let shared = Rc::clone(&self.shared);
        let mut buffer = shared.buffer.borrow_mut();
        let deeds = match self.server.try_read(&mut buffer) {
            Ok(0) => {
                self.is_server_over = true;
                // A connection that is held or about to close does not end by this.
                if self.held.is_none() && !self.is_closing {
                    self.down.finish();
                }
                self.splice.end_of_replies()
            }
            Ok(length) => {
                let is_last = self.reset_after.is_some_and(|(_, left)| length as u64 >= left);
                let length = self.count_down(length);
                let deeds = {
                    let mut armory = shared.armory.borrow_mut();
                    let mut facing = Facing { armory: &mut armory, end: &self.end };
                    self.splice.replies(&buffer[..length], &mut facing)
                };
                let ending = self.perform(deeds, false);
                if !is_last {
                    return ending;
                }
                let _ = flush(&mut self.down, &self.client, &self.pace);
                return Some(Ending::Reset);
            }
            Err(error) if is_nothing(&error) => return None,
            Err(_) if self.held.is_some() => {
                self.is_server_over = true;
                return None;
            }
            Err(_) => return Some(Ending::Reset),
        };
        self.perform(deeds, false)
    }

    /// How many of these bytes still pass before the connection is reset.
    fn count_down(&mut self, length: usize) -> usize {
        let Some((concerning, left)) = &mut self.reset_after else { return length };
        let passes = (*left).min(length as u64);
        *left -= passes;
        if *left == 0 {
            self.shared.armory.borrow_mut().count_hit(*concerning);
        }
        passes as usize
    }

    fn perform(&mut self, deeds: Vec<Deed>, is_up: bool) -> Option<Ending> {
        let now = Instant::now();
        for deed in deeds {
            let flow = if is_up { &mut self.up } else { &mut self.down };
            match deed {
                Deed::Pass(bytes) => {
                    flow.push(bytes, now, &self.pace);
                    if !self.pace.is_none() {
                        let mut armory = self.shared.armory.borrow_mut();
                        let toxics = self.toxics.iter();
                        toxics.for_each(|(concerning, _)| armory.count_hit(*concerning));
                    }
                }
                Deed::Delay(delay, concerning) => flow.delay(delay, now, concerning),
                Deed::Hold(concerning) => {
                    self.held = Some(concerning);
                    self.shared.armory.borrow_mut().hold(concerning);
                }
                Deed::Close => self.is_closing = true,
            }
        }
        None
    }
}

impl Wait {
    fn until(self) -> Option<Instant> {
        match self {
            Wait::Until(instant) => Some(instant),
            Wait::Nothing | Wait::Room => None,
        }
    }
}

async fn rest_until(timer: Option<Instant>) {
    if let Some(timer) = timer {
        sleep_until(timer.into()).await;
    }
}

/// Writes what is due, as far as the socket takes it.
fn flush(flow: &mut Flow, to: &TcpStream, pace: &Pace) -> Wait {
    loop {
        let now = Instant::now();
        let written = match flow.next(now, pace) {
            Next::Nothing => return Wait::Nothing,
            Next::At(due) => return Wait::Until(due),
            Next::Write(bytes) => to.try_write(bytes),
            Next::End => {
                // The other end may be gone altogether.
                let _ = socket::shut(to, Shutdown::Write);
                flow.shut();
                return Wait::Nothing;
            }
        };
        match written {
            Ok(length) => flow.wrote(length, now, pace),
            Err(error) if is_nothing(&error) => return Wait::Room,
            Err(_) => {
                // What the other end still says is read; that it is gone shows there.
                flow.abandon();
                flow.finish();
                flow.shut();
                return Wait::Nothing;
            }
        }
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
