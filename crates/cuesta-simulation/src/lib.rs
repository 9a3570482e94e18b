//! The driver's users at a host that is a model: stations with service demands, in virtual time.
//!
//! A fitted model (stations, each with a service demand per transaction) has exact means where theory gives them. Percentiles,
//! slow lines, typing and think times as a tape has them need a simulation. The users are the driver's own: their programs,
//! their pacing, their random streams, their counts. Only the other end of their lines is a model, and it has no task for a user.
//!
//! - [`simulate()`]: a [`SimulationSpec`] and scripts in, [`Figures`] and histograms out. No folder is written.
//! - `spec`: what to simulate, as JSON.
//! - `host`: the stations, and how many lines are open; `line`: a user's line, which takes its requests through the stations.
//! - `station`: first come first served, where a departure is known at the arrival; or sharing, where later arrivals move it.
//! - `usage`: how busy a station was in the measurement intervals.
//! - `figures`: what was counted, with intervals from batch means.
//!
//! It is no emulator: what the host would write is not computed. A wait ends when the model's response comes, whatever the
//! tape waits for.

mod figures;
mod host;
mod line;
mod simulate;
mod spec;
mod station;
mod usage;

pub use figures::{BatchFigures, Estimate, Figures, SeriesFigures, StationFigures, StepFigures};
pub use simulate::{Simulated, SimulationError, simulate};
pub use spec::{Demand, Discipline, HostSpec, Population, SimulationSpec, Speed, StationSpec};
