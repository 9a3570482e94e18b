//! What others ask of the agent's thread: a queue that wakes it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::event::{EventfdFlags, eventfd};
use serde_json::Value;

use super::EndpointError;

/// A request, and where its answer goes.
#[derive(Debug)]
pub(crate) enum Request {
    /// What the agent does and has counted.
    Status(Sender<Value>),
    /// Begin all counters anew; the answer is what they were.
    Reset(Sender<Value>),
    /// End; the answer is the last status.
    Stop(Sender<Value>),
}

/// The asking end. Clones ask the same agent.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    queue: Sender<Request>,
    wake: Arc<OwnedFd>,
}

/// The agent's end.
#[derive(Debug)]
pub(crate) struct RequestQueue {
    queue: Receiver<Request>,
    wake: Arc<OwnedFd>,
}

/// Both ends of a new queue.
pub(crate) fn requests() -> io::Result<(Requests, RequestQueue)> {
    let (sender, receiver) = channel();
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    Ok((Requests { queue: sender, wake: Arc::clone(&wake) }, RequestQueue { queue: receiver, wake }))
}

impl Requests {
    /// Asks, and waits for the answer.
    pub(crate) fn ask(&self, request: impl FnOnce(Sender<Value>) -> Request) -> Result<Value, EndpointError> {
        let (sender, answer) = channel();
        self.send(request(sender));
        answer.recv().map_err(|_| EndpointError::Ended(String::new()))
    }

    /// Sends a request that has no answer; nothing happens if the agent has ended.
    pub(crate) fn send(&self, request: Request) {
        if self.queue.send(request).is_ok() {
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes()); // full = the agent is awake anyway
        }
    }
}

impl RequestQueue {
    /// The next request that waits.
    pub(crate) fn next(&self) -> Option<Request> {
        self.queue.try_recv().ok()
    }

    /// Makes the descriptor unreadable until the next request; then all that wait must be taken.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }
}

impl AsFd for RequestQueue {
    /// Readable when a request waits.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
