//! TMux's agents at both ends of the wire, as parts.

use std::error::Error;
use std::io::{self, Write};
use std::net::IpAddr;
use std::thread;
use std::time::Duration;

use cuesta_tmux::endpoint::{Endpoint, EndpointSpec};
use serde::{Deserialize, Serialize};

use super::namespaces::{Side, Wire};
use crate::process::{self, Part};

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct AgentJob {
    peer: IpAddr,
    hold: Duration,
    cpu: usize,
}

/// Both agents, which run until they are dropped.
pub(crate) struct Agents {
    pub(crate) host: Part,
    _driver: Part,
}

impl Agents {
    /// Starts both, and waits until they work.
    pub(crate) fn start(wire: &Wire, hold: Duration) -> Result<Self, Box<dyn Error>> {
        let start = |side: &Side, peer: &Side| -> Result<Part, Box<dyn Error>> {
            let job = AgentJob { peer: peer.address, hold, cpu: side.cpu };
            Ok(Part::start_at(side, "agent", &job)?.announced()?.0)
        };
        Ok(Self { host: start(&wire.host, &wire.driver)?, _driver: start(&wire.driver, &wire.host)? })
    }
}

/// Runs an agent until it is killed; first prints a row when it works.
pub(crate) fn serve(job: &str) -> Result<(), Box<dyn Error>> {
    let job: AgentJob = serde_json::from_str(job)?;
    process::pin(job.cpu)?;
    let spec = EndpointSpec {
        peers: vec![job.peer],
        delay: job.hold.as_nanos() as u64,
        ports: Vec::new(),
        ..EndpointSpec::default()
    };
    let _endpoint = Endpoint::start(&spec)?;
    writeln!(io::stdout(), "ready")?;
    loop {
        thread::park();
    }
}
