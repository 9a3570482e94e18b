//! The traced tier: tracers in the kernel, and their counts. In JSON, as a flag and as the cargo feature it is called `exact`.
//! The *light* tracer (`--exact`) leaves system calls out; the *full* one (`--calls`) counts them too.
//!
//! With `path/` the only room that knows BPF, and only with the cargo feature `exact`. Without it nothing is traced, and reports say so.
//!
//! - [`Trace`]: a running tracer; its counts go into a [`MeterReport`](crate::MeterReport).
//! - `trace.bpf.c`, `account.h`, `distributions.h`, `kernel.h`: the programs in the kernel. `tracer`: loads and reads them.
//! - `account`: the account of a CPU; `histogram`: durations off CPUs. `figures`, `causes`: the difference of two readings →
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
pub(crate) use absent::NOT_BUILT_IN;
#[cfg(not(feature = "exact"))]
pub use absent::Trace;
#[cfg(feature = "exact")]
pub use trace::Trace;
#[cfg(feature = "exact")]
pub(crate) use tracer::{TYPES, no_types, refusal};

use crate::report::CounterFigures;
use crate::{Figure, MeterReport};

/// How much is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Scheduler, interrupts, page faults: for timed runs.
    Light,
    /// System calls too, which makes each slower: for a short separate run.
    Full,
}

/// The compiled programs for the kernel, this room's and those of `path/`: ELF objects that adapt to any kernel (CO-RE); none if they
/// are not built in.
pub const fn objects() -> Option<[&'static [u8]; 2]> {
    #[cfg(feature = "exact")]
    return Some([tracer::PROGRAMS, crate::path::PROGRAMS]);
    #[cfg(not(feature = "exact"))]
    None
}

/// The plain tier's figures. Each figure that only tracing gives says why nothing was traced.
pub(crate) fn untraced(mut plain: CounterFigures, why: &str) -> CounterFigures {
    let MeterReport { notes, idle, counts, traffic, .. } = &mut plain.report;
    notes.push(format!("not traced: {why}"));
    (idle.page_wait, idle.loading, idle.quota_wait) = (Figure::absent(why), Figure::absent(why), Figure::absent(why));
    (counts.execs, counts.system_calls) = (Figure::absent(why), Figure::absent(why));
    (traffic.run_queue_delay, traffic.off_cpu) = (Figure::absent(why), Figure::absent(why));
    (traffic.page_waits, traffic.page_wait) = (Figure::absent(why), Figure::absent(why));
    plain
}
