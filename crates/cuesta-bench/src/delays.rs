//! Checks that a known delay of the host is measured exactly.

use std::error::Error;
use std::time::Duration;

use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::{self, Part};
use crate::table::{ResultRow, with_errors};
use crate::wakes::Wakes;

const USERS: u32 = 100;
const SETTLE: Duration = Duration::from_secs(1);
const MEASURE: Duration = Duration::from_secs(5);
/// Largest part of the driver in an echo, in microseconds: p50 and p99.
const OWN: [f64; 2] = [30.0, 300.0];

/// Runs typists at the built-in host, on another core, which delays each echo by `delay`. The part of the driver is held to targets,
/// the rest is only shown.
pub(crate) fn measure(delay: Duration, (drivers, hosts): (usize, usize)) -> Result<ResultRow, Box<dyn Error>> {
    let (work, framing) = (Work::Typists, Framing::Tcp);
    let (_host, address) = Part::host(HostJob { built_in: true, delay, ..HostJob::small(work, framing, hosts) })?;
    let _awake = process::stay_awake();
    let usual = Job::new(work, framing, USERS, address, drivers);
    let job = Job { stamps: 1, spin: true, settle: SETTLE, measure: MEASURE, ..usual };
    let wakes = Wakes::on(hosts);
    let outcome: Outcome = Part::driver(&job)?.answer()?;
    let sleep = wakes.p99_lateness()? * 1e6;
    let excess = outcome.echo.map(|echo| (echo - delay.as_secs_f64()) * 1e6);
    let own = outcome.own.map(|own| own * 1e6);
    let cpu = outcome.cpu / MEASURE.as_secs_f64();
    let measured = format!(
        "ours p50 {:.0} us, p99 {:.0} us; of p50 {:+.0} us, p99 {:+.0} us in all (a bare sleep {sleep:+.0} us); driver CPU {:.0} %",
        own[0],
        own[1],
        excess[0],
        excess[1],
        cpu * 1e2
    );
    let exact = excess[0] > 0.0 && own[0] > 0.0 && own[0] <= OWN[0] && own[1] <= OWN[1];
    let met = exact && cpu < 0.5 && outcome.errors == 0;
    let name = format!("echo beyond a known delay of {} ms", delay.as_millis());
    let target = format!("{:.0} us, {:.0} us", OWN[0], OWN[1]);
    Ok(ResultRow::with_target(&name, with_errors(measured, outcome.errors), &target, met))
}
