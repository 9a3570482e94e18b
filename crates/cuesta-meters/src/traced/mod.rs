//! The exact tier: tracers in the kernel, where it comes and goes, and what they counted.
//!
//! The only room that knows BPF, and only with the cargo feature `exact`; without it nothing can be traced, and that is said.
//!
//! - [`Trace`]: a tracer at work; what it counted goes into a [`MeterReport`](crate::MeterReport).
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
#[cfg(not(feature = "exact"))]
pub(crate) use absent::TraceDelta;
#[cfg(feature = "exact")]
pub(crate) use figures::TraceDelta;
#[cfg(feature = "exact")]
pub use trace::Trace;

use crate::report::Measured;
use crate::{Counts, Figure, Idle, Traffic};

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

/// What the plain tier has, with the reason why nothing was traced at each figure that only tracing gives.
pub(crate) fn untraced(plain: Measured, why: &str) -> Measured {
    let mut notes = plain.notes;
    notes.push(format!("not traced: {why}"));
    let (share, count) = (|| Figure::unmetered(why), || Figure::unmetered(why));
    Measured {
        notes,
        idle: Idle { page_wait: share(), loading: share(), quota_wait: share(), ..plain.idle },
        counts: Counts { execs: count(), system_calls: count(), ..plain.counts },
        traffic: Traffic {
            run_queue_delay: Figure::unmetered(why),
            off_cpu: Figure::unmetered(why),
            page_waits: count(),
            page_wait: share(),
            ..plain.traffic
        },
        ..plain
    }
}
