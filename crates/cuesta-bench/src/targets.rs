//! The measurements and their targets.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::job::{Framing, Work};
use crate::pair::{self, Pairing};
use crate::table::ResultRow;
#[cfg(feature = "exact")]
use crate::wire;
use crate::{
    crowd, delays, drawing, following, idle_lines, process, sampling, scale, screens, simulation, telnetd, watched,
};

/// Largest memory of a user, in bytes.
const MEMORY: f64 = 4096.0;
/// Largest memory of a user over ssh, in bytes.
const SSH_MEMORY: f64 = 100.0 * 1024.0;
/// Largest memory of a user over a WebSocket, and over one with TLS, in bytes.
const WS_MEMORY: f64 = 8.0 * 1024.0;
const WSS_MEMORY: f64 = 20.0 * 1024.0;
/// The known delays, in milliseconds.
const DELAYS: [u64; 4] = [1, 5, 20, 100];
/// Least speed of a simulation, over that of Ciw, by number of users; with few of them it is only shown.
const SIMULATED: [(u32, Option<f64>); 3] = [(100, None), (1000, Some(100.0)), (10_000, Some(100.0))];
/// How many users are simulated at once, for their memory.
const SIMULATED_CROWDS: [u32; 2] = [100_000, 1_000_000];
/// Protocol, users alone on a core (fewer if there are no descriptors for them), and largest memory of a user, in bytes.
const CROWDS: [(Framing, u32, f64); 6] = [
    (Framing::Tcp, 10_000, MEMORY),
    (Framing::Tcp, 12_000, MEMORY),
    (Framing::Telnet, 10_000, MEMORY),
    (Framing::Ws, 4_000, WS_MEMORY),
    (Framing::Wss, 4_000, WSS_MEMORY),
    (Framing::Ssh, 4_000, SSH_MEMORY),
];

const TYPISTS: u32 = 1000;
const CLOSED: u32 = 96;

/// Name, work, protocol, users, whether it is a control, and number of pairs.
const PAIRINGS: [(&str, Work, Framing, u32, bool, usize); 11] = [
    ("CPU per key, 1,000 typists, control", Work::Typists, Framing::Tcp, TYPISTS, true, 3),
    ("CPU per key, 1,000 typists, tcp", Work::Typists, Framing::Tcp, TYPISTS, false, 5),
    ("CPU per key, 1,000 typists, telnet", Work::Typists, Framing::Telnet, TYPISTS, false, 5),
    ("CPU per key, 1,000 typists, telnet negotiated", Work::Typists, Framing::Negotiated, TYPISTS, false, 3),
    ("CPU per key, 1,000 typists, ws", Work::Typists, Framing::Ws, TYPISTS, false, 5),
    ("CPU per key, 1,000 typists, wss", Work::Typists, Framing::Wss, TYPISTS, false, 5),
    ("CPU per key, 400 typists, ssh beside russh alone", Work::Typists, Framing::Ssh, USERS_OF_A_KIND, false, 3),
    ("CPU per transaction, 96 users, control", Work::Closed, Framing::Tcp, CLOSED, true, 3),
    ("CPU per transaction, 96 users, tcp", Work::Closed, Framing::Tcp, CLOSED, false, 5),
    ("CPU per transaction, 96 users, telnet", Work::Closed, Framing::Telnet, CLOSED, false, 5),
    ("CPU per transaction, 96 users, telnet negotiated", Work::Closed, Framing::Negotiated, CLOSED, false, 3),
];

/// Kinds of line that are compared with the bare loop on tcp.
const KINDS: [(&str, Framing); 6] = [
    ("tcp", Framing::Tcp),
    ("telnet", Framing::Telnet),
    ("ws", Framing::Ws),
    ("wss", Framing::Wss),
    ("pty", Framing::Pty),
    ("ssh", Framing::Ssh),
];
const USERS_OF_A_KIND: u32 = 400;

/// A measurement with the name of its first row.
pub(crate) type Measurement = (String, Box<dyn Fn() -> Result<Vec<ResultRow>, Box<dyn Error>>>);

/// Runs the measurements whose name contains `wanted`; true if every target is met. `plots`: the folder of the plots of those that
/// have some.
pub(crate) fn measure(wanted: &str, plots: Option<&Path>, out: &mut impl Write) -> Result<bool, Box<dyn Error>> {
    let mut rows = Vec::new();
    let all = measurements(process::two_cpus()?, plots);
    for (_, measure) in all.iter().filter(|(name, _)| name.contains(wanted)) {
        for row in measure()? {
            row.print(out)?;
            rows.push(row);
        }
    }
    if rows.is_empty() {
        let names: Vec<_> = all.into_iter().map(|(name, _)| name).collect();
        return Err(format!("no measurement is called \"{wanted}\"; there are:\n  {}", names.join("\n  ")).into());
    }
    print_summary(&rows, out)
}

fn measurements(cpus: (usize, usize), plots: Option<&Path>) -> Vec<Measurement> {
    let mut all = Vec::new();
    let mut add = |name: String, measure: Box<dyn Fn() -> _>| all.push((name, measure));
    for (name, work, framing, users, control, pairs) in PAIRINGS {
        // The limit speaks telnet's bytes, but negotiates nothing.
        let beside = if framing == Framing::Negotiated { Framing::Telnet } else { framing };
        let pairing = Pairing { work, framing, beside, users, control };
        add(name.to_owned(), Box::new(move || pairing.measure(name, pairs, cpus)));
    }
    for (name, framing) in KINDS {
        let measure = move || Ok(vec![pair::beside_bare_tcp(name, framing, USERS_OF_A_KIND, cpus)?]);
        add(format!("CPU per key, a {name} line"), Box::new(measure));
    }
    add("drawing".to_owned(), Box::new(|| Ok(drawing::measure())));
    add("screens".to_owned(), Box::new(move || Ok(vec![screens::measure(USERS_OF_A_KIND, cpus)?])));
    let room = process::room_for_lines();
    let mut crowds = CROWDS.map(|(framing, users, memory)| (framing, users.min(room), memory)).to_vec();
    crowds.dedup();
    for (framing, users, memory) in crowds {
        let name = format!("{framing:?}, {users} typists alone").to_lowercase();
        let row = name.clone();
        add(name, Box::new(move || crowd::measure(&row, framing, users, memory, cpus)));
    }
    add("busybox telnetd".to_owned(), Box::new(move || telnetd::measure(cpus)));
    add("idle lines".to_owned(), Box::new(move || Ok(vec![idle_lines::measure(cpus.1)?])));
    for ms in DELAYS {
        let measure = move || Ok(vec![delays::measure(Duration::from_millis(ms), cpus)?]);
        add(format!("echo beyond a known delay of {ms} ms"), Box::new(measure));
    }
    for (users, ratio) in SIMULATED {
        let measure = move || Ok(vec![simulation::beside_ciw(users, ratio, cpus)?]);
        add(format!("simulation beside Ciw, {users} users"), Box::new(measure));
    }
    for users in SIMULATED_CROWDS {
        let measure = move || Ok(vec![simulation::crowd(users, MEMORY, cpus.0)?]);
        add(format!("simulation of {users} users"), Box::new(measure));
    }
    add("sampling".to_owned(), Box::new(sampling::measure));
    #[cfg(feature = "exact")]
    add("TMux".to_owned(), Box::new(move || wire::measure_tmux(cpus)));
    #[cfg(feature = "exact")]
    add("in-kernel path".to_owned(), Box::new(move || wire::measure_kernel_path(cpus)));
    #[cfg(feature = "exact")]
    add("tracing".to_owned(), Box::new(crate::tracing::measure));
    for measured in following::MEASURED {
        let measure = move || following::measure(measured, cpus);
        all.push((format!("following: {}", measured.0), Box::new(measure)));
    }
    for (name, how) in watched::MEASURED {
        all.push((format!("watched: {name}"), Box::new(move || watched::measure(how, cpus))));
    }
    all.extend(scale::measurements(plots, cpus));
    all
}

fn print_summary(rows: &[ResultRow], out: &mut impl Write) -> Result<bool, Box<dyn Error>> {
    let missed = rows.iter().filter(|row| row.is_missed()).count();
    writeln!(out, "\n{}", if missed == 0 { "Every target is met.".into() } else { format!("MISSED: {missed}.") })?;
    Ok(missed == 0)
}
