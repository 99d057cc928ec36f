//! Runs the tasks of programs: one after the other, in the order in which they were woken, at the world's
//! present moment. Tasks of a frozen process are not polled; those of a dead one are gone.
//!
//! It knows no time and no network. Whoever drives the world lets it run after every event.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

pub type LocalTask = Pin<Box<dyn Future<Output = ()>>>;

/// Tasks that want to be polled, and who is to be told where nobody polls at the moment.
#[derive(Default)]
struct Ready {
    queue: VecDeque<u64>,
    driver: Option<Waker>,
}

/// Waking goes through here, as a waker must be shareable between threads. There is just one.
#[derive(Default)]
struct Bell(Mutex<Ready>);

impl Bell {
    fn with<T>(&self, f: impl FnOnce(&mut Ready) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ring(&self, task: u64) {
        let driver = self.with(|ready| {
            ready.queue.push_back(task);
            ready.driver.take()
        });
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

struct TaskWaker {
    task: u64,
    is_queued: AtomicBool,
    bell: Arc<Bell>,
}

impl TaskWaker {
    fn enqueue(&self) {
        if !self.is_queued.swap(true, Ordering::Relaxed) {
            self.bell.ring(self.task);
        }
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.enqueue();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.enqueue();
    }
}

struct Task {
    node: u8,
    /// `None` while it is being polled.
    future: Option<LocalTask>,
    waker: Waker,
    handle: Arc<TaskWaker>,
}

#[derive(Default)]
struct Tasks {
    all: BTreeMap<u64, Task>,
    last: u64,
    frozen: BTreeSet<u8>,
    /// Woken while their process was frozen, in that order.
    kept: VecDeque<u64>,
}

#[derive(Default)]
pub struct Executor {
    tasks: RefCell<Tasks>,
    bell: Arc<Bell>,
}

impl Executor {
    pub fn spawn(&self, node: u8, future: LocalTask) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.last += 1;
        let (id, bell) = (tasks.last, Arc::clone(&self.bell));
        let handle = Arc::new(TaskWaker { task: id, is_queued: AtomicBool::new(false), bell });
        let waker = Waker::from(Arc::clone(&handle));
        tasks.all.insert(id, Task { node, future: Some(future), waker, handle: handle.clone() });
        drop(tasks);
        handle.enqueue();
    }

    /// Polls the next task that wants it; false where none does.
    pub fn run_one(&self) -> bool {
        let Some(id) = self.bell.with(|ready| ready.queue.pop_front()) else { return false };
        if let Some((future, waker)) = self.take(id) {
            self.poll(id, future, &waker);
        }
        true
    }

    /// What is to be polled of this task, unless it is over or frozen.
    fn take(&self, id: u64) -> Option<(LocalTask, Waker)> {
        let mut tasks = self.tasks.borrow_mut();
        let Tasks { all, frozen, kept, .. } = &mut *tasks;
        let task = all.get_mut(&id)?;
        if frozen.contains(&task.node) {
            kept.push_back(id);
            return None;
        }
        task.handle.is_queued.store(false, Ordering::Relaxed);
        Some((task.future.take()?, task.waker.clone()))
    }

    fn poll(&self, id: u64, mut future: LocalTask, waker: &Waker) {
        let over = future.as_mut().poll(&mut Context::from_waker(waker)).is_ready();
        let mut tasks = self.tasks.borrow_mut();
        if over {
            tasks.all.remove(&id);
        } else if let Some(task) = tasks.all.get_mut(&id) {
            task.future = Some(future);
            return;
        }
        // What it holds may call back here as it is dropped.
        drop(tasks);
        drop(future);
    }

    pub fn has_ready(&self) -> bool {
        self.bell.with(|ready| !ready.queue.is_empty())
    }

    /// No task of this node is polled until it is thawed.
    pub fn freeze(&self, node: u8) {
        self.tasks.borrow_mut().frozen.insert(node);
    }

    pub fn thaw(&self, node: u8) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.frozen.remove(&node);
        let kept = std::mem::take(&mut tasks.kept);
        for id in kept {
            match tasks.all.get(&id) {
                Some(task) if task.node == node => self.bell.ring(id),
                Some(_) => tasks.kept.push_back(id),
                None => {}
            }
        }
    }

    /// Drops all tasks of a node.
    pub fn remove(&self, node: u8) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.frozen.remove(&node);
        let (gone, left) =
            std::mem::take(&mut tasks.all).into_iter().partition(|(_, task)| task.node == node);
        tasks.all = left;
        drop(tasks);
        drop::<BTreeMap<u64, Task>>(gone);
    }

    /// Drops everything.
    pub fn clear(&self) {
        let tasks = self.tasks.take();
        self.bell.with(|ready| *ready = Ready::default());
        drop(tasks);
    }

    /// What has been woken so far waits until it is put back. Nobody need be told of more.
    pub fn set_aside(&self) -> VecDeque<u64> {
        self.bell.with(|ready| std::mem::take(ready).queue)
    }

    pub fn put_back(&self, aside: VecDeque<u64>) {
        self.bell.with(|ready| ready.queue.extend(aside));
    }

    /// Whom to wake when a task is woken from outside.
    pub fn rest(&self, driver: Waker) {
        self.bell.with(|ready| ready.driver = Some(driver));
    }
}
