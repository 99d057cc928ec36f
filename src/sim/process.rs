//! The process of a simulated node: running, frozen or gone, and what waits for it meanwhile.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    Running,
    /// Frozen: the kernel still takes packets for it, its own timers do not run.
    Paused,
    Down,
}

/// A process, numbered anew at each start. `B` is what a frozen one finds when it is thawed.
#[derive(Debug)]
pub struct Process<B> {
    state: ProcessState,
    pid: u32,
    received: VecDeque<B>,
    late: VecDeque<B>,
}

impl<B> Process<B> {
    pub fn new(pid: u32) -> Self {
        Process {
            state: ProcessState::Running,
            pid,
            received: VecDeque::new(),
            late: VecDeque::new(),
        }
    }

    pub fn state(&self) -> ProcessState {
        self.state
    }

    /// The process number; `None` where there is no process.
    pub fn pid(&self) -> Option<u32> {
        (self.state != ProcessState::Down).then_some(self.pid)
    }

    pub fn kill(&mut self) {
        self.state = ProcessState::Down;
        self.received.clear();
        self.late.clear();
    }

    pub fn start(&mut self, pid: u32) {
        self.state = ProcessState::Running;
        self.pid = pid;
    }

    pub fn pause(&mut self) {
        self.state = ProcessState::Paused;
    }

    /// Keeps a packet in the frozen process's socket buffers.
    pub fn keep_packet(&mut self, packet: B) {
        self.received.push_back(packet);
    }

    /// Remembers a timer that ran out while the process was frozen.
    pub fn keep_timer(&mut self, timer: B) {
        self.late.push_back(timer);
    }

    /// Thaws it and hands over what it finds: first what lies in its sockets, then late timers.
    ///
    /// That order is the usual one: a read that has data returns them though its timeout has passed.
    pub fn resume(&mut self) -> impl Iterator<Item = B> + use<B> {
        self.state = ProcessState::Running;
        std::mem::take(&mut self.received).into_iter().chain(std::mem::take(&mut self.late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thawed_process_reads_its_sockets_before_its_timers() {
        let mut process = Process::new(7);
        process.pause();
        process.keep_timer("timer");
        process.keep_packet("packet");
        assert_eq!(process.pid(), Some(7));
        assert_eq!(process.resume().collect::<Vec<_>>(), ["packet", "timer"]);
        assert_eq!(process.state(), ProcessState::Running);
    }

    #[test]
    fn a_killed_process_forgets_what_waited() {
        let mut process = Process::new(7);
        process.pause();
        process.keep_packet("packet");
        process.kill();
        assert_eq!(process.pid(), None);
        process.start(8);
        process.pause();
        assert_eq!(process.resume().count(), 0);
        assert_eq!(process.pid(), Some(8));
    }
}
