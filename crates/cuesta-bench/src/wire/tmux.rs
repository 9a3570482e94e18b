//! Typists through TMux beside plain ones: what a key costs the host's CPU, and what of that is TMux's agent.

use std::error::Error;
use std::time::Duration;

use super::trip::{Load, Trip};
use crate::job::{Framing, HostJob, Work};
use crate::table::{ResultRow, Spread};

/// Rounds: in each, every setting is played once, in turn.
const ROUNDS: usize = 3;
/// Typists, and the settings that are played beside plain lines.
const LOADS: [(u32, &[Setting]); 3] = [
    (25, &[Setting::new(20_000, None, None)]),
    (
        400,
        &[
            Setting::new(0, None, Some(0.67)),
            Setting::new(1_250, None, None),
            Setting::new(5_000, Some(0.71), Some(0.24)),
            Setting::new(20_000, Some(0.51), Some(0.16)),
        ],
    ),
    (2_000, &[Setting::new(5_000, None, None), Setting::new(20_000, None, None)]),
];

/// A hold time, and its targets: the largest CPU time a key of the host and of its agent, over that of the host with plain lines.
/// They are what a prototype took (the host), and half of that (the agent).
#[derive(Debug, Clone, Copy)]
struct Setting {
    hold: Duration,
    host: Option<f64>,
    agent: Option<f64>,
}

impl Setting {
    const fn new(micros: u64, host: Option<f64>, agent: Option<f64>) -> Self {
        Self { hold: Duration::from_micros(micros), host, agent }
    }

    /// The rows beside the plain trips of the same rounds.
    fn rows(&self, users: u32, plain: &[Trip], tmux: &[Trip]) -> [ResultRow; 2] {
        let beside =
            |of: fn(&Trip) -> f64| Spread::of(tmux.iter().zip(plain).map(|(tmux, plain)| of(tmux) / plain.host));
        let [host, agent] = [beside(|trip| trip.host), beside(|trip| trip.agent)];
        let [before, after] = [plain, tmux].map(Trip::medians);
        let name = format!("host CPU per key through TMux, {users} ports, hold {:?}", self.hold);
        let share = format!("{agent} of the plain host's   ({:.1} us)", after.agent * 1e6);
        [
            ResultRow::at_most(&name, format!("{host} x   ({after} beside {before})"), host.median, self.host),
            ResultRow::at_most("  its agent's CPU per key", share, agent.median, self.agent),
        ]
    }
}

/// Measures all loads.
pub(crate) fn measure(cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (users, settings) in LOADS {
        let (mut plain, mut tmux) = (Vec::new(), vec![Vec::new(); settings.len()]);
        for _ in 0..ROUNDS {
            plain.push(play(users, None, cpus)?);
            for (setting, trips) in settings.iter().zip(&mut tmux) {
                trips.push(play(users, Some(setting.hold), cpus)?);
            }
        }
        rows.extend(settings.iter().zip(&tmux).flat_map(|(setting, tmux)| setting.rows(users, &plain, tmux)));
    }
    Ok(rows)
}

/// Plays typists at the smallest host, with TMux at both ends of the wire if there is a hold time.
fn play(users: u32, hold: Option<Duration>, (drivers, hosts): (usize, usize)) -> Result<Trip, Box<dyn Error>> {
    let host = HostJob::small(Work::Typists, Framing::Tcp, hosts);
    Load { host, users, hold }.play(drivers)
}
