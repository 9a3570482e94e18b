//! Typists through TMux beside plain ones: what a key costs the host's CPU, and what of that is TMux's agent.

use std::error::Error;
use std::time::Duration;

use super::trip::{Load, Trip};
use crate::job::{Framing, HostJob, Work};
use crate::table::{ResultRow, Spread};

/// Rounds: in each, every setting is played once, in turn.
const ROUNDS: usize = 5;
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
        let beside = |figure: fn(&Trip) -> f64| {
            Spread::new(tmux.iter().zip(plain).map(|(tmux, plain)| figure(tmux) / plain.host))
        };
        let [host, agent] = [beside(|trip| trip.host), beside(|trip| trip.agent)];
        let [before, after] = [plain, tmux].map(Trip::medians);
        let name = format!("host CPU per key through TMux, {users} ports, hold {:?}", self.hold);
        let cost = format!("{host} x   ({after} beside {before})");
        let share = format!("{agent} of the plain host's   ({:.1} us)", after.agent * 1e6);
        if !tmux.iter().zip(plain).all(|(tmux, plain)| self.is_in_force(plain, tmux)) {
            return [(&*name, cost), ("  its agent's CPU per key", share)]
                .map(|(name, measured)| ResultRow::with_target(name, measured, "TMux in force", false));
        }
        [
            ResultRow::at_most(&name, cost, host.median, self.host),
            ResultRow::at_most("  its agent's CPU per key", share, agent.median, self.agent),
        ]
    }

    /// Whether a trip went through TMux: its agent worked, and sent fewer packets than plain lines if it holds segments.
    fn is_in_force(&self, plain: &Trip, tmux: &Trip) -> bool {
        tmux.agent > 0.0 && (self.hold.is_zero() || tmux.packets < plain.packets)
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

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Trip = Trip { host: 40e-6, agent: 0.0, packets: 3.0, echo: 1e-4 };

    #[test]
    fn rows_are_missed_if_tmux_was_not_in_force() {
        let held = Setting::new(20_000, Some(2.0), Some(1.0));
        let rows =
            |packets, agent| held.rows(400, &[PLAIN], &[Trip { agent, packets, ..PLAIN }]).map(|row| row.is_missed());
        assert_eq!(rows(0.1, 1e-5), [false, false]);
        assert_eq!(rows(3.0, 1e-5), [true, true]);
        assert_eq!(rows(0.1, 0.0), [true, true]);
    }

    #[test]
    fn without_a_hold_time_the_agents_cpu_time_alone_tells() {
        let drains = Setting::new(0, None, None);
        assert!(drains.is_in_force(&PLAIN, &Trip { agent: 1e-5, ..PLAIN }));
        assert!(!drains.is_in_force(&PLAIN, &PLAIN));
    }
}
