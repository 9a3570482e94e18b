//! An agent on a thread of its own.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::agent::Agent;
use super::control::{Control, Lock};
use super::requests::{Request, Requests, requests};
use super::{EndpointError, EndpointSpec};

/// A running agent, for any thread to ask. Dropping it ends it: traffic goes on without it.
#[derive(Debug)]
pub struct Endpoint {
    requests: Requests,
    /// None once it is stopped.
    running: Mutex<Option<Running>>,
    end: Arc<End>,
}

#[derive(Debug)]
struct Running {
    thread: JoinHandle<Result<(), EndpointError>>,
    /// Dropped last: the lock stays taken until the agent has cleaned up.
    _control: Control,
}

/// Whether the agent has ended.
#[derive(Debug, Default)]
struct End {
    has_come: Mutex<bool>,
    changed: Condvar,
}

impl Endpoint {
    /// Starts the agent of the calling thread's network namespace; when this returns it works.
    pub fn start(spec: &EndpointSpec) -> Result<Self, EndpointError> {
        let lock = Lock::take()?;
        let (requests, queue) = requests().map_err(EndpointError::system("making an eventfd"))?;
        let agent = Agent::new(spec, queue)?;
        let end = Arc::new(End::default());
        let at_end = EndOnDrop(Arc::clone(&end));
        let thread = thread::Builder::new()
            .name("tmux".to_owned())
            .spawn(move || {
                let _at_end = at_end;
                agent.run()
            })
            .map_err(EndpointError::system("starting a thread"))?;
        let control = lock.serve(requests.clone())?;
        let running = Mutex::new(Some(Running { thread, _control: control }));
        Ok(Self { requests, running, end })
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
        let has_come = self.end.locked();
        let waited = self.end.changed.wait_timeout_while(has_come, timeout, |has_come| !*has_come);
        *waited.expect("no panic while it is held").0
    }

    /// Ends the agent and takes back all that it set up. An error tells why it had ended before; a second time nothing happens.
    pub fn stop(&self) -> Result<(), EndpointError> {
        let running = self.running.lock().expect("no panic while it is held").take();
        let Some(Running { thread, _control }) = running else { return Ok(()) };
        let _ = self.requests.ask(Request::Stop);
        thread.join().unwrap_or_else(|_| Err(EndpointError::Ended(": a defect, its thread has panicked".to_owned())))
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

impl End {
    fn locked(&self) -> MutexGuard<'_, bool> {
        self.has_come.lock().expect("no panic while it is held")
    }
}

/// Tells the end when the agent's thread ends, however it does.
#[derive(Debug)]
struct EndOnDrop(Arc<End>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        *self.0.locked() = true;
        self.0.changed.notify_all();
    }
}
