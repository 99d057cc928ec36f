//! How tasks reach the world: one at a time, at the present moment.
//!
//! For tasks of the runtime that is tokio's time, in whole milliseconds. For tasks of programs, which run
//! while the world is stepped, it is the exact time of the event that woke them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use super::{Guest, Home, World};
use crate::op::Nanos;
use crate::sim::executor::{Executor, LocalTask};
use crate::sim::host::SimHost;
use crate::sim::program::Program;
use crate::sim::zookeeper::{Client, Host};

struct Inner {
    world: RefCell<World>,
    executor: Executor,
    start: tokio::time::Instant,
    /// The world is being stepped: it is later than the world's own time.
    is_stepping: Cell<bool>,
}

/// The world as its clients, its programs and its cluster hold it.
#[derive(Clone)]
pub struct Handle(Rc<Inner>);

impl Handle {
    pub fn new(world: World) -> Handle {
        Handle(Rc::new(Inner {
            world: RefCell::new(world),
            executor: Executor::default(),
            start: tokio::time::Instant::now(),
            is_stepping: Cell::new(false),
        }))
    }

    /// Virtual time since the world began.
    pub fn now(&self) -> Nanos {
        self.0.start.elapsed().as_nanos() as Nanos
    }

    pub(in crate::sim) fn start(&self) -> tokio::time::Instant {
        self.0.start
    }

    /// Calls into the world at the present moment.
    pub fn with<T>(&self, f: impl FnOnce(&mut World) -> T) -> T {
        let mut world = self.0.world.borrow_mut();
        if self.0.is_stepping.get() {
            return f(&mut world);
        }
        world.enter(self.now());
        let result = f(&mut world);
        let next = world.next_at();
        if let Some((waits_for, driver)) = &world.driver
            && (next.is_some_and(|next| next < *waits_for) || !world.born.is_empty())
        {
            driver.wake_by_ref();
        }
        result
    }

    /// Performs all that is due by this time, in order, and lets programs run in between.
    pub(in crate::sim) fn advance(&self, until: Nanos) {
        self.0.is_stepping.set(true);
        // What was woken from outside was so at this very time, after all events that are due before.
        let aside = self.0.executor.set_aside();
        self.run(until);
        self.with(|world| world.now = until);
        self.0.executor.put_back(aside);
        self.run(until);
        self.0.is_stepping.set(false);
    }

    fn run(&self, until: Nanos) {
        loop {
            while self.0.executor.run_one() {}
            let (is_over, born) = self.with(|world| {
                let mut goes_on = true;
                while goes_on && !self.0.executor.has_ready() && world.born.is_empty() {
                    goes_on = world.step(until);
                }
                (!goes_on, world.take_born())
            });
            born.into_iter().for_each(|(home, program)| self.begin(home, &program));
            if is_over && !self.0.executor.has_ready() {
                return;
            }
        }
    }

    fn begin(&self, home: Home, program: &Program) {
        let (handle, serving) = (self.clone(), program(SimHost::new(self.clone(), home)));
        let main = async move {
            let last_words = match serving.await {
                Ok(()) => "ended by itself".to_owned(),
                Err(error) => format!("failed: {error:#}"),
            };
            handle.with(|world| world.end_program(home, last_words));
            handle.0.executor.remove(home.node);
        };
        self.run_task(home, Box::pin(main));
    }

    /// Runs a task of a process; of one that is gone it is dropped.
    pub(in crate::sim) fn run_task(&self, home: Home, task: LocalTask) {
        if self.with(|world| world.pid(home.node)) == Some(home.pid) {
            self.0.executor.spawn(home.node, task);
        }
    }

    /// Whom to wake when a task of a program is woken from outside.
    pub(in crate::sim) fn rest(&self, driver: &Waker) {
        self.0.executor.rest(driver.clone());
    }

    /// Nothing moves any more: its time is over, or something in it broke.
    pub(in crate::sim) fn end(&self, is_broken: bool) {
        self.with(|world| world.end(is_broken));
        self.0.executor.clear();
    }

    /// Waits until the world has broken.
    pub(in crate::sim) async fn broken(&self) {
        std::future::poll_fn(|context| self.with(|world| world.poll_broken(context))).await;
    }

    /// SIGKILL: the process is gone with all its tasks, its connections are closed, its disk stays.
    pub fn kill(&self, node: u8) {
        self.with(|world| world.kill(node));
        self.0.executor.remove(node);
    }

    /// SIGTERM, as programs take it: they let go of all they have. Sessions are being closed then.
    pub fn let_go(&self, node: u8) {
        self.0.executor.remove(node);
    }

    pub fn pause(&self, node: u8) {
        self.with(|world| world.pause(node));
        self.0.executor.freeze(node);
    }

    /// What came meanwhile is found before timers that have run out.
    pub fn resume(&self, node: u8) {
        self.0.executor.thaw(node);
        self.with(|world| world.resume(node));
    }

    /// Adds a ZooKeeper client, which begins to connect, and returns its number.
    pub fn add_client(&self, client: Client, home: Option<Home>) -> u32 {
        self.with(|world| {
            let id = world.next_caller;
            world.next_caller += 1;
            world.clients.insert(id, Guest { client, home });
            let ended = world.ended;
            world.with_client(id, |client, host| match ended {
                true => client.abandon(),
                false => client.start(host),
            });
            id
        })
    }

    /// Calls a client; `None` where it has gone with its process.
    pub fn with_client<T>(
        &self,
        id: u32,
        f: impl FnOnce(&mut Client, &mut Host) -> T,
    ) -> Option<T> {
        self.with(|world| world.with_client(id, f))
    }

    /// Nobody will call this client again. It goes once its session is over.
    pub fn release_client(&self, id: u32) {
        self.with(|world| {
            let Some(guest) = world.clients.get_mut(&id) else { return };
            guest.client.release();
            world.remove_if_done(id);
        });
    }
}
