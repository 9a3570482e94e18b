//! The exact tier: tracers in the kernel, where it comes and goes, and what they counted.
//!
//! The only room that knows BPF, and only with the cargo feature `exact`; without it nothing can be traced, and that is said.
//!
//! - [`Trace`]: a tracer at work; what it has to say goes into a [`MeterReport`].
//! - `trace.bpf.c`, `account.h`, `distributions.h`, `kernel.h`: what runs in the kernel. `tracer`: loads it, and reads it out.
//! - `account`: what a CPU did, as it is read; `histogram`: how long tasks were off it. `figures`, `causes`: two of them →
//!   figures of a report. All pure.

#[cfg(not(feature = "exact"))]
mod absent;
#[cfg(feature = "exact")]
mod account;
#[cfg(feature = "exact")]
mod causes;
#[cfg(feature = "exact")]
mod figures;
#[cfg(feature = "exact")]
mod histogram;
#[cfg(feature = "exact")]
mod trace;
#[cfg(feature = "exact")]
mod tracer;

#[cfg(not(feature = "exact"))]
pub use absent::Trace;
#[cfg(feature = "exact")]
pub use trace::Trace;

use crate::{Figure, MeterReport};

/// How deep is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Scheduler, interrupts, page faults: for timed runs.
    Light,
    /// System calls too, which makes each of them dearer: for a short run apart.
    Full,
}

/// What runs in the kernel, as compiled: an ELF object that finds its way in any kernel (CO-RE); none if it is not built in.
pub const fn object() -> Option<&'static [u8]> {
    #[cfg(feature = "exact")]
    return Some(tracer::PROGRAMS);
    #[cfg(not(feature = "exact"))]
    None
}

/// Says in a report why nothing was traced.
pub(crate) fn untraced(report: &mut MeterReport, why: &str) {
    report.notes.push(format!("not traced: {why}"));
    let (counts, idle, traffic) = (&mut report.counts, &mut report.idle, &mut report.traffic);
    for figure in [&mut idle.page_wait, &mut idle.loading, &mut idle.quota_wait, &mut traffic.page_wait] {
        *figure = Figure::unmetered(why);
    }
    traffic.run_queue_delay = Figure::unmetered(why);
    traffic.off_cpu = Figure::unmetered(why);
    for count in [&mut counts.execs, &mut counts.system_calls, &mut traffic.page_waits] {
        *count = Figure::unmetered(why);
    }
}
