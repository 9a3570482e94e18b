//! What it costs to open sessions over ssh: connection, key exchange, login, terminal and shell. More are started in a second than
//! the core can open, and the CPU time of all is divided by their number.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use super::SSH;
use super::plot::Axis;
use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::{Part, Start};
use crate::table::ResultRow;

/// Between the starts of two sessions: less than a handshake takes.
const STAGGER: Duration = Duration::from_micros(500);
/// Between two keys of a user: hardly any are typed meanwhile.
const CYCLE: Duration = Duration::from_secs(120);
/// Until all sessions are open, after the last was started.
const SETTLE: Duration = Duration::from_secs(2);

/// CPU time of a handshake by number of sessions, beside `russh` alone, which opens one after another.
pub(super) fn measure(most: f64, plots: Option<&Path>, cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let point = |users| Ok((users, [open(users, Part::driver, cpus)?, open(users, Part::bare, cpus)?]));
    let points: Vec<(u32, [Outcome; 2])> =
        SSH.populations().into_iter().map(point).collect::<Result<_, Box<dyn Error>>>()?;
    let axes = [Axis { title: "sessions", log: true }, Axis { title: "handshakes a second", log: false }];
    let title = "Sessions over ssh opened in a second of CPU time".to_owned();
    let rates = points.iter().map(|(users, both)| (*users, both.map(|outcome| rate(*users, &outcome))));
    SSH.plot(plots, "handshakes", title, axes, rates)?;
    Ok(points.iter().map(|(users, outcomes)| row(*users, *outcomes, most)).collect())
}

fn open(users: u32, start: Start, (drivers, hosts): (usize, usize)) -> Result<Outcome, Box<dyn Error>> {
    let (work, framing) = (Work::Typists, Framing::Ssh);
    let (_host, address) = Part::host(HostJob::small(work, framing, hosts))?;
    let job = Job::new(work, framing, users, address, drivers);
    let measure = Duration::from_secs(1);
    start(&Job { cycle: CYCLE, stagger: STAGGER, settle: SETTLE, measure, ..job })?.answer()
}

/// Handshakes in a second of CPU time.
fn rate(users: u32, outcome: &Outcome) -> f64 {
    f64::from(users) / outcome.opening
}

fn row(users: u32, [tested, limit]: [Outcome; 2], most: f64) -> ResultRow {
    let [ours, russh] = [tested, limit].map(|outcome| rate(users, &outcome));
    let ratio = tested.opening / limit.opening;
    let measured = format!(
        "{ratio:.2} x   ({:.0} us beside {:.0} us): {ours:.0} a second of a core beside {russh:.0}",
        1e6 / ours,
        1e6 / russh
    );
    let name = format!("CPU per handshake, {users} sessions, ssh");
    if tested.errors > 0 {
        return ResultRow::without_target(&name, measured, tested.errors);
    }
    ResultRow::with_target(&name, measured, &format!("at most {most:.2} x"), ratio <= most)
}
