//! The job of a part, as JSON. The limit and Cuesta get the same job.

use std::iter;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use cuesta_host::Path;
use cuesta_record::{Stamp, clock};
use serde::{Deserialize, Serialize};

/// Time for the drivers to start: a job's users begin this long after the job is made.
const HEAD_START: Duration = Duration::from_millis(150);
/// Keystroke of a typist.
pub(crate) const KEY: &[u8] = b"x";
/// Default time between two keys of a typist.
pub(crate) const CYCLE: Duration = Duration::from_millis(200);
/// Input of a closed transaction: 13 characters, sent at once.
pub(crate) const INPUT: &str = "abcdefghijkl\r";
/// Length of its answer.
pub(crate) const ANSWER: usize = 150;
/// Length of the echo of that input: it ends in CR LF.
pub(crate) const ECHO: usize = INPUT.len() + 1;
/// Length of a prompting host's first prompt.
pub(crate) const PROMPT: usize = 2;

/// The work of the users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    /// Each types a key every 200 ms whatever the host does, and each key is timed to its echo.
    Typists,
    /// As `Typists`, but each key is timed to the screen.
    Screens,
    /// Each sends its next input when the answer to the last is complete.
    Closed,
    /// As `Closed`, at a host that prompts and echoes. With a `cycle` each sends an input that often.
    Echoed,
}

/// The protocol of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Framing {
    /// Bare characters.
    Tcp,
    /// Telnet, whose host negotiates nothing.
    Telnet,
    /// Telnet, whose host offers ECHO and SUPPRESS-GO-AHEAD, and asks for the window.
    Negotiated,
    /// The same characters in binary messages of a WebSocket.
    Ws,
    /// The same over TLS.
    Wss,
    /// As ttyd's page does it over TLS: a request, then a WebSocket, whose connection resumes the TLS session of the request's.
    TtydWss,
    /// The same characters over ssh.
    Ssh,
    /// The same characters to `cat` on a pseudo-terminal.
    Pty,
}

impl Framing {
    /// Time between the starts of two users: the host's core must keep up with handshakes.
    pub(crate) fn stagger(self) -> Duration {
        match self {
            Self::Tcp | Self::Telnet | Self::Negotiated => Duration::from_micros(50),
            Self::Ws => Duration::from_micros(200),
            Self::Wss | Self::TtydWss => Duration::from_millis(1),
            Self::Pty => Duration::from_millis(2),
            Self::Ssh => Duration::from_millis(6),
        }
    }

    pub(crate) fn is_web(self) -> bool {
        matches!(self, Self::Ws | Self::Wss | Self::TtydWss)
    }

    pub(crate) fn is_tls(self) -> bool {
        matches!(self, Self::Wss | Self::TtydWss)
    }

    pub(crate) fn is_telnet(self) -> bool {
        matches!(self, Self::Telnet | Self::Negotiated)
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct HostJob {
    pub(crate) work: Work,
    pub(crate) framing: Framing,
    /// The address that it listens at.
    pub(crate) address: IpAddr,
    pub(crate) cpu: usize,
    /// The built-in host, which relays to a program for each line by this path, instead of the smallest possible one.
    pub(crate) relays: Option<Path>,
    /// The built-in host instead of the smallest possible one.
    pub(crate) built_in: bool,
    /// The delay of the built-in host.
    pub(crate) delay: Duration,
    /// The port of the smallest possible hosts that share one, each for the lines that are opened on its CPU; 0 = a new one.
    pub(crate) shared_port: Option<u16>,
}

/// A job for a driver.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) framing: Framing,
    pub(crate) users: u32,
    /// Where the host is.
    pub(crate) address: String,
    /// Where further hosts are: each has as many of the users as the first.
    pub(crate) further: Vec<String>,
    pub(crate) cpu: usize,
    /// The CPU of each further thread of Cuesta.
    pub(crate) further_cpus: Vec<usize>,
    /// Number of this driver among those that share the users, and how many there are.
    pub(crate) agent: (u32, u32),
    /// When the first user starts.
    pub(crate) start: Stamp,
    /// The kernel stamps the lines of the users whose number is a multiple of this; with 0 it stamps none.
    pub(crate) stamps: u32,
    /// Whether Cuesta's idle threads spin, which takes up to a tenth of their time and belongs to no key.
    pub(crate) spin: bool,
    /// Time between two keys of a typist.
    pub(crate) cycle: Duration,
    /// Between the starts of two users.
    pub(crate) stagger: Duration,
    /// From the last user's start to the window.
    pub(crate) settle: Duration,
    /// Length of the measurement window.
    pub(crate) measure: Duration,
}

/// Random first instants of the limit's users, as Cuesta's have.
pub(crate) fn phases(cycle: Duration) -> impl Iterator<Item = Duration> {
    let cycle = cycle.as_nanos() as u64;
    let next =
        |random: &u64| Some(random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    iter::successors(Some(0x9E37_79B9_7F4A_7C15), next)
        .skip(1)
        .map(move |random| Duration::from_nanos((random >> 16) % cycle))
}

impl HostJob {
    /// The smallest possible host.
    pub(crate) fn small(work: Work, framing: Framing, cpu: usize) -> Self {
        let address = Ipv4Addr::LOCALHOST.into();
        Self { work, framing, address, cpu, relays: None, built_in: false, delay: Duration::ZERO, shared_port: None }
    }
}

impl Job {
    /// A short job that begins shortly.
    pub(crate) fn new(work: Work, framing: Framing, users: u32, address: String, cpu: usize) -> Self {
        Self {
            work,
            framing,
            users,
            address,
            further: Vec::new(),
            cpu,
            further_cpus: Vec::new(),
            agent: (0, 1),
            start: clock::now() + HEAD_START,
            stamps: 0,
            spin: false,
            cycle: CYCLE,
            stagger: framing.stagger(),
            settle: Duration::from_millis(800),
            measure: Duration::from_secs(3),
        }
    }

    /// The same at these hosts.
    pub(crate) fn at(self, mut addresses: Vec<String>) -> Self {
        let address = addresses.remove(0);
        Self { address, further: addresses, ..self }
    }

    /// All hosts.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> + Clone {
        [&self.address].into_iter().chain(&self.further).map(String::as_str)
    }

    /// Users of this driver.
    pub(crate) fn own_users(&self) -> u32 {
        self.users / self.agent.1
    }

    pub(crate) fn window_start(&self) -> Stamp {
        self.start + self.stagger * self.users + self.settle
    }

    pub(crate) fn window_end(&self) -> Stamp {
        self.window_start() + self.measure
    }
}
