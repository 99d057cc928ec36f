//! How tasks reach the world: one at a time, at the present moment of tokio's clock.

use std::cell::RefCell;
use std::rc::Rc;

use super::World;
use crate::op::Nanos;
use crate::sim::zookeeper::{Client, Host};

/// The world as its clients and its cluster hold it.
#[derive(Clone)]
pub struct Handle {
    world: Rc<RefCell<World>>,
    start: tokio::time::Instant,
}

impl Handle {
    pub fn new(world: World) -> Handle {
        Handle { world: Rc::new(RefCell::new(world)), start: tokio::time::Instant::now() }
    }

    /// Virtual time since the world began.
    pub fn now(&self) -> Nanos {
        self.start.elapsed().as_nanos() as Nanos
    }

    pub(in crate::sim) fn start(&self) -> tokio::time::Instant {
        self.start
    }

    /// Calls into the world at the present moment.
    pub fn with<T>(&self, f: impl FnOnce(&mut World) -> T) -> T {
        let mut world = self.world.borrow_mut();
        world.enter(self.now());
        let result = f(&mut world);
        let next = world.next_at();
        if let Some((waits_for, driver)) = &world.driver
            && next.is_some_and(|next| next < *waits_for)
        {
            driver.wake_by_ref();
        }
        result
    }

    /// Adds a client, which begins to connect, and returns its number.
    pub fn add_client(&self, client: Client) -> u32 {
        self.with(|world| {
            let id = world.next_client;
            world.next_client += 1;
            world.clients.insert(id, client);
            let ended = world.ended;
            world.with_client(id, |client, host| match ended {
                true => client.abandon(),
                false => client.start(host),
            });
            id
        })
    }

    /// Calls a client that its session keeps alive.
    pub fn with_client<T>(&self, id: u32, f: impl FnOnce(&mut Client, &mut Host) -> T) -> T {
        self.with(|world| world.with_client(id, f)).expect("a session's client lives as long as it")
    }

    /// Nobody will call this client again. It goes once its session is over.
    pub fn release_client(&self, id: u32) {
        self.with(|world| {
            let Some(client) = world.clients.get_mut(&id) else { return };
            client.release();
            world.remove_if_done(id);
        });
    }
}
