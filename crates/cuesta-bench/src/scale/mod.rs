//! How the driver's cost grows with its users, and its throughput with its threads and nodes.
//!
//! - `curve`: one rate of keys from more and more users; `load`: one rate for each user, so that the load grows with them;
//!   `handshakes`: what it costs to open sessions over ssh, and web terminals.
//! - `threads`: two threads and two processes beside one; `cpu_limit`: how much CPU time each may take; `batch`: how they
//!   share a CPU.
//! - `nodes`: nodes of a Ray cluster, in runs that `nodes.py` starts.
//! - `plot`: the figures as pictures for `docs/bench.md`.

mod batch;
mod cpu_limit;
mod curve;
mod handshakes;
mod load;
mod nodes;
mod plot;
mod threads;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use plot::{Axis, Line, Plot};

use crate::job::Framing;
use crate::process;
use crate::targets::Measurement;

/// Largest growth of a key's cost from a thousand users to the most: less cannot be told from the scatter of a few pairs.
const GROWTH: f64 = 1.15;
/// Largest CPU time of a handshake, over that of `russh` alone; of one with TLS, over that of `rustls` alone.
const HANDSHAKE: f64 = 1.25;
/// Least throughput of two threads, over that of one.
const TWICE: f64 = 1.8;
/// Largest CPU time of a key on a node of a cluster, over that on the engine's machine.
const NODE: f64 = 1.02;

/// The measurements with their names. `plots`: the folder of the plots, if they are wanted.
pub(crate) fn measurements(plots: Option<&Path>, cpus: (usize, usize)) -> Vec<Measurement> {
    let mut all: Vec<Measurement> = Vec::new();
    for kind in [TCP, WS, WSS, SSH] {
        let (curves, loads) = (plots.map(Path::to_owned), plots.map(Path::to_owned));
        let curve = move || kind.measure_curve(GROWTH, curves.as_deref(), cpus);
        all.push((format!("scale: users against cost, {}", kind.name()), Box::new(curve)));
        let load = move || kind.measure_load(loads.as_deref(), cpus);
        all.push((format!("scale: users against driver CPU, {}", kind.name()), Box::new(load)));
    }
    let plots = plots.map(Path::to_owned);
    let handshakes = move || handshakes::measure_ssh(HANDSHAKE, plots.as_deref(), cpus);
    all.push(("scale: ssh handshakes".to_owned(), Box::new(handshakes)));
    all.push(("scale: ws and wss handshakes".to_owned(), Box::new(move || handshakes::measure_web(HANDSHAKE, cpus))));
    all.push(("scale: two threads".to_owned(), Box::new(move || threads::measure(TWICE, cpus))));
    all.push((
        "scale: nodes, one beside the engine's machine".to_owned(),
        Box::new(move || nodes::compare_engines(NODE, cpus)),
    ));
    all.push(("scale: nodes, three beside one".to_owned(), Box::new(move || nodes::compare_nodes(cpus))));
    all
}

/// Users of one kind of line, from few to as many as there are descriptors for.
#[derive(Debug, Clone, Copy)]
struct Kind {
    framing: Framing,
    users: &'static [u32],
    /// Keys a second of all users together, where they share one rate.
    rate: u32,
    /// Between two keys of a user, where each has its own rate.
    cycle: Duration,
    /// Between the starts of two users: two drivers on one core, and one alone.
    stagger: (Duration, Duration),
    rounds: usize,
}

const TCP: Kind = Kind {
    framing: Framing::Tcp,
    users: &[100, 300, 1000, 3000, 10_000, 20_000],
    rate: 10_000,
    cycle: Duration::from_millis(500),
    stagger: (Duration::from_micros(200), Duration::from_micros(100)),
    rounds: 3,
};

const WS: Kind = Kind { framing: Framing::Ws, users: &[100, 1000, 4000], rounds: 2, ..TCP };

const WSS: Kind = Kind { framing: Framing::Wss, stagger: (Duration::from_millis(1), Duration::from_micros(500)), ..WS };

const SSH: Kind = Kind {
    framing: Framing::Ssh,
    users: &[100, 300, 1000, 2000, 4000],
    rate: 1000,
    cycle: Duration::from_secs(2),
    stagger: (Duration::from_millis(3), Duration::from_micros(1500)),
    rounds: 2,
};

impl Kind {
    /// The numbers of users that fit.
    fn populations(self) -> Vec<u32> {
        let most = process::room_for_lines();
        let mut populations: Vec<_> = self.users.iter().map(|users| (*users).min(most)).collect();
        populations.dedup();
        populations
    }

    /// Its name, in words and in the names of files.
    fn name(self) -> String {
        format!("{:?}", self.framing).to_lowercase()
    }

    /// Draws what Cuesta and the limit took by number of users, into a file whose name begins with `name`; nothing without a
    /// folder.
    fn plot(
        self,
        folder: Option<&Path>,
        name: &str,
        title: String,
        axes: [Axis; 2],
        points: impl Iterator<Item = (u32, [f64; 2])>,
    ) -> Result<(), Box<dyn Error>> {
        let Some(folder) = folder else { return Ok(()) };
        let (tested, limit) =
            points.map(|(users, [tested, limit])| ((users.into(), tested), (users.into(), limit))).unzip();
        let limit_name = if self.framing == Framing::Ssh { "russh alone" } else { "bare epoll loop" };
        let lines = vec![Line { name: "Cuesta", points: tested }, Line { name: limit_name, points: limit }];
        let [x, y] = axes;
        Plot { title, x, y, lines }.write(&folder.join(format!("{name}-{}.svg", self.name())))
    }
}
