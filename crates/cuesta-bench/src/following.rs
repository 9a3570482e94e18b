//! What it costs a host that keys are followed through it: people type at sshd, and keys are followed and are not, in turn.
//!
//! `following.py` plays them. sshd and its shells are on one CPU; driver and reader on the other; the kernel's workers on both.

use std::env;
use std::error::Error;
use std::process::Command;

use serde::Serialize;

use crate::process::Part;
use crate::table::{ResultRow, Spread};

/// The measurements: whose keys may be followed, whether they are, and the largest CPU time over that without.
pub(crate) const MEASURED: [(&str, &str, bool, f64); 3] =
    [("control", "1/30", false, 1.02), ("1 in 30", "1/30", true, 1.02), ("all", "1/1", true, 1.08)];

const USERS: u32 = 300;
/// Turns with and without, and the length of each in seconds.
const PAIRS: usize = 12;
const SECONDS: u32 = 4;
/// Largest distance of the control from 1, and of its largest ratio from its least.
const NOISE: f64 = 0.05;

/// A job for `following.py`.
#[derive(Debug, Serialize)]
struct FollowingJob {
    users: u32,
    path: &'static str,
    is_followed: bool,
    pairs: usize,
    seconds: u32,
    /// CPUs.
    drivers: usize,
    hosts: usize,
}

/// CPU time of the host with and without, in pairs of turns that follow one another.
pub(crate) fn measure(
    (name, path, is_followed, most): (&str, &'static str, bool, f64),
    (drivers, hosts): (usize, usize),
) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let python = env::var_os("CUESTA_BENCH_PYTHON").ok_or("CUESTA_BENCH_PYTHON must be a Python that has cuesta")?;
    let job = FollowingJob { users: USERS, path, is_followed, pairs: PAIRS, seconds: SECONDS, drivers, hosts };
    let script = ["-c", include_str!("following.py")];
    let turns: Vec<f64> = Part::run(Command::new(python).args(script).arg(serde_json::to_string(&job)?))?.answer()?;
    let ratios = Spread::new(turns.chunks_exact(2).map(|pair| pair[1] / pair[0]));
    let cores = turns.iter().step_by(2).sum::<f64>() / f64::from(SECONDS) / PAIRS as f64;
    let measured = format!("{ratios} x   ({cores:.3} of a core without)");
    let row = format!("CPU of a host with {USERS} typists, {name} followed over none");
    if !is_followed {
        let row = format!("CPU of a host with {USERS} typists, two turns without");
        return Ok(vec![ResultRow::control(&row, measured, ratios, NOISE)]);
    }
    Ok(vec![ResultRow::with_target(&row, measured, &format!("at most {most:.2} x"), ratios.median <= most)])
}
