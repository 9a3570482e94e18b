//! A report of meters: everything that is metered of a subject in one interval. Each figure has its tier, or says why it is
//! missing. Nothing is read here: `cuesta-meters` and its tiers make the figures.
//!
//! - [`Subject`]: what is metered. [`cpu_list`]: lists of CPUs, as the kernel writes them.
//! - `tables`: all of it, declared. `schema`: how a table is declared.
//! - `figure`: [`Figure`], a value with its [`Tier`] or the reason why there is none.
//! - [`CounterFigures`]: what clocks and counters say, before samples share it out.
//! - `own`, `closure`: what some tables compute from their own fields.

mod closure;
mod counter_figures;
pub mod cpu_list;
mod figure;
mod own;
mod schema;
mod subject;
mod tables;

pub use counter_figures::{CounterFigures, NOT_ITS_OWN};
pub use figure::{Figure, Tier};
pub use own::Source;
pub use schema::OrEmpty;
pub use subject::{NoSubject, Subject};
pub use tables::{
    ByCause, CauseRow, Closure, Count, Counts, Cpu, Device, Idle, Interface, Limits, MeterReport, Network, Own,
    Quantiles, Sampling, TimeRow, Traffic,
};

impl Cpu {
    /// All that was not idle, nor taken by the hypervisor.
    pub fn busy(&self) -> Figure {
        self.usr.with(&self.sys, |usr, sys| usr + sys).with(&self.irq, |busy, irq| busy + irq)
    }
}

impl Count {
    /// `count` events in `seconds`.
    pub fn new(count: u64, seconds: f64) -> Self {
        Self { count, per_s: count as f64 / seconds }
    }
}

/// Why a figure has no interval: ticks and tracers leave none that could be stated.
pub fn unsampled<T>() -> Figure<T> {
    Figure::absent("it does not come from samples")
}
