//! The agent's thread.

use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Value, json};

use super::requests::{Request, RequestQueue};
use super::{EndpointError, EndpointSpec};

/// The agent.
#[derive(Debug)]
pub(crate) struct Agent {
    spec: EndpointSpec,
    requests: RequestQueue,
}

impl Agent {
    pub(crate) fn new(spec: &EndpointSpec, requests: RequestQueue) -> Result<Self, EndpointError> {
        if spec.peers.is_empty() {
            return Err(EndpointError::setting("peers", "none is given", "name at least one address"));
        }
        Ok(Self { spec: spec.clone(), requests })
    }

    /// Works until it is told to end.
    pub(crate) fn run(self) -> Result<(), EndpointError> {
        loop {
            let mut polled = [PollFd::new(&self.requests, PollFlags::IN)];
            poll(&mut polled, None).map_err(|error| EndpointError::system("poll")(error.into()))?;
            self.requests.clear();
            while let Some(request) = self.requests.next() {
                match request {
                    Request::Status(answer) | Request::Reset(answer) => drop(answer.send(self.status())),
                    Request::Stop(answer) => {
                        let _ = answer.send(self.status());
                        return Ok(());
                    }
                }
            }
        }
    }

    fn status(&self) -> Value {
        json!({ "settings": self.spec })
    }
}
