//! What it costs to open sessions over ssh: connection, key exchange, login, terminal and shell; and web terminals: connection, TLS,
//! upgrade. More are started in a second than the core can open, and the CPU time of all is divided by their number.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use super::SSH;
use super::plot::Axis;
use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::{Part, Start};
use crate::table::{ResultRow, Spread, in_turn, median};

/// Between the starts of two sessions over ssh: less than a handshake takes.
const STAGGER: Duration = Duration::from_micros(500);
/// Web terminals, by what they open and the time between two starts. ttyd's page makes a request first, whose connection shakes hands
/// in full, and then the WebSocket's resumes the session.
const WEB: [(&str, Framing, Duration); 3] = [
    ("ws", Framing::Ws, Duration::from_micros(20)),
    ("wss", Framing::Wss, Duration::from_micros(100)),
    ("ttyd+wss, a request and a resumed session", Framing::TtydWss, Duration::from_micros(200)),
];
const WEB_USERS: u32 = 1000;
const WEB_ROUNDS: usize = 3;
/// Between two keys of a user: hardly any are typed meanwhile.
const CYCLE: Duration = Duration::from_secs(120);
/// Until all sessions are open, after the last was started.
const SETTLE: Duration = Duration::from_secs(2);

/// CPU time of a handshake by number of sessions, beside `russh` alone, which opens one after another.
pub(super) fn measure_ssh(
    most: f64,
    plots: Option<&Path>,
    cpus: (usize, usize),
) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let open = |users, start| open(Framing::Ssh, users, STAGGER, start, cpus);
    let point = |users| Ok((users, [open(users, Part::driver)?, open(users, Part::bare)?]));
    let points: Vec<(u32, [Outcome; 2])> =
        SSH.populations().into_iter().map(point).collect::<Result<_, Box<dyn Error>>>()?;
    let axes = [Axis { title: "sessions", log: true }, Axis { title: "handshakes a second", log: false }];
    let title = "Sessions over ssh opened in a second of CPU time".to_owned();
    let rates = points.iter().map(|(users, both)| (*users, both.map(|outcome| rate(*users, &outcome))));
    SSH.plot(plots, "handshakes", title, axes, rates)?;
    Ok(points.iter().map(|(users, outcomes)| row(*users, *outcomes, most)).collect())
}

/// CPU time of the opening of a web terminal, beside the bare loop, which opens one after another. Without TLS it is only shown:
/// nearly all of the bare loop's CPU time is the kernel's.
pub(super) fn measure_web(most: f64, cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let row = |(name, framing, stagger)| web_row(name, framing, stagger, most, cpus);
    WEB.into_iter().map(row).collect()
}

fn web_row(
    name: &str,
    framing: Framing,
    stagger: Duration,
    most: f64,
    cpus: (usize, usize),
) -> Result<ResultRow, Box<dyn Error>> {
    let open = |start| open(framing, WEB_USERS, stagger, start, cpus);
    let (mut tested, mut limits) = (Vec::new(), Vec::new());
    for round in 0..WEB_ROUNDS {
        let (ours, limit) = in_turn(round, || open(Part::driver), || open(Part::bare))?;
        tested.push(ours);
        limits.push(limit);
    }
    let ratios = Spread::new(tested.iter().zip(&limits).map(|(tested, limit)| tested.opening / limit.opening));
    let [ours, bare] = [&tested, &limits].map(|outcomes| median(outcomes, |outcome| rate(WEB_USERS, outcome)));
    let measured = format!("{ratios} x   ({})", rates(ours, bare));
    let errors = tested.iter().map(|outcome| outcome.errors).sum();
    let name = format!("CPU per opening, {WEB_USERS} lines, {name}");
    if !framing.is_tls() || errors > 0 {
        return Ok(ResultRow::without_target(&name, measured, errors));
    }
    Ok(ResultRow::with_target(&name, measured, &format!("at most {most:.2} x"), ratios.median <= most))
}

fn open(
    framing: Framing,
    users: u32,
    stagger: Duration,
    start: Start,
    (drivers, hosts): (usize, usize),
) -> Result<Outcome, Box<dyn Error>> {
    let work = Work::Typists;
    let (_host, address) = Part::host(HostJob::small(work, framing, hosts))?;
    let job = Job::new(work, framing, users, address, drivers);
    let measure = Duration::from_secs(1);
    start(&Job { cycle: CYCLE, stagger, settle: SETTLE, measure, ..job })?.answer()
}

/// Handshakes in a second of CPU time.
fn rate(users: u32, outcome: &Outcome) -> f64 {
    f64::from(users) / outcome.opening
}

fn rates(ours: f64, limit: f64) -> String {
    let [our_cost, limit_cost] = [ours, limit].map(|rate| 1e6 / rate);
    format!("{our_cost:.0} us beside {limit_cost:.0} us: {ours:.0} a second of a core beside {limit:.0}")
}

fn row(users: u32, [tested, limit]: [Outcome; 2], most: f64) -> ResultRow {
    let [ours, russh] = [tested, limit].map(|outcome| rate(users, &outcome));
    let ratio = tested.opening / limit.opening;
    let measured = format!("{ratio:.2} x   ({})", rates(ours, russh));
    let name = format!("CPU per handshake, {users} sessions, ssh");
    if tested.errors > 0 {
        return ResultRow::without_target(&name, measured, tested.errors);
    }
    ResultRow::with_target(&name, measured, &format!("at most {most:.2} x"), ratio <= most)
}
