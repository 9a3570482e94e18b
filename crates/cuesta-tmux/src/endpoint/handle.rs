//! An agent on a thread of its own.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::agent::Agent;
use super::control::{Control, Lock};
use super::requests::{Request, Requests, requests};
use super::{EndpointError, EndpointSpec};

/// A running agent. Dropping it ends it: traffic goes on without it.
#[derive(Debug)]
pub struct Endpoint {
    requests: Requests,
    thread: Option<JoinHandle<Result<(), EndpointError>>>,
    /// Disconnected when the thread ends.
    ended: Receiver<()>,
    /// Dropped last: the lock stays taken until the agent has cleaned up.
    _control: Control,
}

impl Endpoint {
    /// Starts the agent of the calling thread's network namespace; when this returns it works.
    pub fn start(spec: &EndpointSpec) -> Result<Self, EndpointError> {
        let lock = Lock::take()?;
        let (requests, queue) = requests().map_err(EndpointError::system("making an eventfd"))?;
        let agent = Agent::new(spec, queue)?;
        let (running, ended) = channel();
        let thread = thread::Builder::new()
            .name("tmux".to_owned())
            .spawn(move || {
                let _running = running;
                agent.run()
            })
            .map_err(EndpointError::system("starting a thread"))?;
        let control = lock.serve(requests.clone())?;
        Ok(Self { requests, thread: Some(thread), ended, _control: control })
    }

    /// What the agent does and has counted (docs/tmux.md).
    pub fn status(&self) -> Result<Value, EndpointError> {
        self.requests.ask(Request::Status)
    }

    /// Begins all counters anew; returns what they were.
    pub fn reset(&self) -> Result<Value, EndpointError> {
        self.requests.ask(Request::Reset)
    }

    /// Waits at most `timeout` for the end; true if it has come: by the control socket, or because the agent failed.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.ended.recv_timeout(timeout) != Err(RecvTimeoutError::Timeout)
    }

    /// Ends the agent and takes back all that it set up. An error tells why it had ended before.
    pub fn stop(mut self) -> Result<(), EndpointError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), EndpointError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let _ = self.requests.ask(Request::Stop);
        thread.join().unwrap_or_else(|_| Err(EndpointError::Ended(": a defect, its thread has panicked".to_owned())))
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
