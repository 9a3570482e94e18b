//! What it costs a run to be watched: two runs of `cuesta run` at once, one with its page open and with exporters, one alone.
//!
//! `watched.py` plays them, by the command that users have. The driving process of both is on one CPU, all else on the other.

use std::env;
use std::error::Error;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::job::{Framing, HostJob, Work};
use crate::process::Part;
use crate::table::{ResultRow, Spread, median};

/// The measurements, and how the first run of each pair is watched.
pub(crate) const MEASURED: [(&str, How); 3] =
    [("control", How::Alone), ("page and exporters", How::Watched), ("clients who never read, floods", How::Storm)];

const USERS: u32 = 500;
/// Length of the measurement interval, in seconds.
const SECONDS: u32 = 6;
const PAIRS: usize = 10;
/// Largest distance of the control from 1, and of its largest ratio from its least.
const NOISE: f64 = 0.05;
/// Largest CPU time per key over that of a run without a page and exporters.
const COST: f64 = 1.05;
/// The same of the median and of the 99th percentile of lateness, and of the driver's own part of an echo.
const TIMES: [f64; 2] = [1.1, 1.25];

/// How a run is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum How {
    /// No page and no exporter is open.
    Alone,
    /// An open page with the screens of two users, a scrape each second, a collector, and a reader of rows of JSON.
    Watched,
    /// The same; 200 connections that never read, a page whose reader is stopped, and two clients who ask without end.
    Storm,
}

/// A job for `watched.py`.
#[derive(Debug, Serialize)]
struct PairJob {
    runs: [How; 2],
    users: u32,
    seconds: u32,
    target: String,
    /// CPUs.
    drivers: usize,
    hosts: usize,
}

/// What a run says of itself. Times in seconds; of lateness and of the driver's own part p50 and p99.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Played {
    is_valid: bool,
    /// Keys sent while both runs measured.
    keys: f64,
    /// CPU time of the driving threads meanwhile.
    cpu: f64,
    lateness: [f64; 2],
    own: [f64; 2],
    /// How much was seen of it: moments, scrapes and rows.
    seen: u64,
    /// Requests of floods that were answered.
    floods: u64,
}

/// Pairs of a run that is watched and one that is not. A control: neither is.
pub(crate) fn measure(how: How, cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let pairs: Vec<[Played; 2]> = (0..PAIRS).map(|round| play(round, how, cpus)).collect::<Result<_, _>>()?;
    let cost = |played: &Played| played.cpu / played.keys;
    let costs = ratios(&pairs, cost);
    let side = |number: usize| median(&pairs, |pair| cost(&pair[number]) * 1e6);
    let measured = format!("{costs} x   ({:.1} us beside {:.1} us)", side(0), side(1));
    let name = match how {
        How::Alone => {
            let rows = [ResultRow::control("CPU per key, two runs without page and exporters", measured, costs, NOISE)];
            return Ok(rows.into_iter().chain(times(&pairs, None)).collect());
        }
        How::Watched => "CPU per key, with page and exporters over without",
        How::Storm => "CPU per key, never read, floods over without",
    };
    let cost = ResultRow::with_target(name, measured, &format!("at most {COST:.2} x"), costs.median <= COST);
    Ok([cost, validity(&pairs)].into_iter().chain(times(&pairs, Some(TIMES))).collect())
}

/// How many runs of each side are valid by the default thresholds; and whether those who watch saw something.
fn validity(pairs: &[[Played; 2]]) -> ResultRow {
    let valid = [0, 1].map(|number| pairs.iter().filter(|pair| pair[number].is_valid).count());
    let seen = pairs.iter().map(|pair| pair[0].seen).min().unwrap_or(0);
    let floods: u64 = pairs.iter().map(|pair| pair[0].floods).sum();
    let asked = if floods == 0 { String::new() } else { format!(", {} requests", floods / pairs.len() as u64) };
    let measured = format!("{} beside {} of {PAIRS}   (seen {seen} times{asked})", valid[0], valid[1]);
    ResultRow::with_target("  valid runs", measured, "as many", valid[0] >= valid[1] && seen > 0)
}

/// The median and p99 of a run.
type Figure = fn(&Played) -> [f64; 2];

/// The rows of lateness and of the driver's own part.
fn times(pairs: &[[Played; 2]], most: Option<[f64; 2]>) -> Vec<ResultRow> {
    let figures: [(&str, Figure); 2] =
        [("  lateness", |played| played.lateness), ("  the driver's own part of an echo", |played| played.own)];
    let row = |(name, figure): (&str, Figure)| {
        let spreads = [0, 1].map(|place| ratios(pairs, |played| figure(played)[place]));
        let sides = [0, 1].map(|place| [0, 1].map(|number| median(pairs, |pair| figure(&pair[number])[place] * 1e6)));
        let [p50, p99] = [0, 1]
            .map(|place| format!("{} x ({:.0} us beside {:.0} us)", spreads[place], sides[place][0], sides[place][1]));
        let measured = format!("p50 {p50}, p99 {p99}");
        let Some(most) = most else { return ResultRow::without_target(name, measured, 0) };
        let met = (0..2).all(|place| spreads[place].median <= most[place]);
        ResultRow::with_target(name, measured, &format!("p50 {:.2} x, p99 {:.2} x", most[0], most[1]), met)
    };
    figures.into_iter().map(row).collect()
}

/// Plays a pair; in odd rounds the second is started first. The first of the answer is the one that is watched.
fn play(round: usize, how: How, (drivers, hosts): (usize, usize)) -> Result<[Played; 2], Box<dyn Error>> {
    let python =
        env::var_os("CUESTA_BENCH_PYTHON").ok_or("CUESTA_BENCH_PYTHON must be a Python that has cuesta[otlp]")?;
    let (_host, address) = Part::host(HostJob::small(Work::Typists, Framing::Tcp, hosts))?;
    let is_odd = !round.is_multiple_of(2);
    let mut runs = [how, How::Alone];
    if is_odd {
        runs.reverse();
    }
    let job = PairJob { runs, users: USERS, seconds: SECONDS, target: format!("tcp://{address}"), drivers, hosts };
    let script = ["-c", include_str!("watched.py")];
    let mut played: [Played; 2] =
        Part::run(Command::new(python).args(script).arg(serde_json::to_string(&job)?))?.answer()?;
    if is_odd {
        played.reverse();
    }
    Ok(played)
}

/// The first run's figure over the second's, of each pair.
fn ratios(pairs: &[[Played; 2]], figure: impl Fn(&Played) -> f64) -> Spread {
    Spread::new(pairs.iter().map(|pair| figure(&pair[0]) / figure(&pair[1])))
}
