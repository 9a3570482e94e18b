//! The constants, measured at the start: the time of a system call and a page fault that a timer cannot see, and the cost of a
//! sample.
//!
//! Loops run on this thread for about a second of one CPU, in turn without samples and with ten thousand a second: plain
//! arithmetic, null calls, first touches of anonymous pages and second touches.

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuesta_record::{Stamp, clock};
use serde::{Deserialize, Serialize};

use super::kallsyms::Kallsyms;
use super::kind::Cause;
use super::pages::Pages;
use super::reader::Reader;
use super::subject_filter::SubjectFilter;
use super::tally::SampleTally;
use crate::sampled::perf::record::records;
use crate::sampled::perf::{Event, EventConfig, Ring, Scope};

/// The constants of this machine now. They differ by a factor of two from hour to hour on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// A system call that does nothing: seconds.
    pub call: f64,
    /// The part of it that is the return, sampled at the user's next instruction; zero if such samples cannot be recognized
    /// here.
    pub call_hidden: f64,
    /// Its cost to the user's next instructions, since the pipeline starts empty. Samples see it, but in the user's part.
    pub call_after: f64,
    /// A first touch of an anonymous page: seconds.
    pub fault: f64,
    /// The part of it that is the return, sampled in the user's part.
    pub fault_hidden: f64,
    /// One standard deviation of `call_after` and of `fault_hidden`, from the number of samples and from program to program.
    pub errors: [f64; 2],
    /// The cost of a sample to the sampled CPU: seconds.
    pub sample: f64,
    /// The same while the CPU handles a page fault.
    pub sample_in_fault: f64,
}

impl Constants {
    /// Whether all are plausible: none is negative, and calls and faults take time.
    pub(super) fn are_possible(&self) -> bool {
        let Self { call, call_hidden, call_after, fault, fault_hidden, errors, sample, sample_in_fault } = *self;
        let all = [call, call_hidden, call_after, fault, fault_hidden, errors[0], errors[1], sample, sample_in_fault];
        all.iter().all(|each| each.is_finite() && *each >= 0.0) && call > 0.0 && fault > 0.0
    }

    /// CPU time that the samples of a tally used: seconds.
    pub(super) fn interrupts(&self, tally: &SampleTally) -> f64 {
        let in_faults = tally.of(Cause::PageFaults);
        (tally.all() - in_faults) as f64 * self.sample + in_faults as f64 * self.sample_in_fault
    }

    /// The constants while sampling uses this part of the CPU time. A sample slows whatever it interrupts, also the parts that
    /// it cannot see.
    pub(super) fn while_slowed(&self, part: f64) -> Self {
        let stretch = 1.0 / (1.0 - part.clamp(0.0, 0.5));
        Self {
            call: self.call * stretch,
            call_hidden: self.call_hidden * stretch,
            call_after: self.call_after * stretch,
            fault: self.fault * stretch,
            fault_hidden: self.fault_hidden * stretch,
            errors: self.errors.map(|error| error * stretch),
            ..self.clone()
        }
    }
}

/// # Errors
/// If this thread may not be sampled, or the kernel hides its symbols.
pub fn calibrate() -> io::Result<Constants> {
    let symbols = Kallsyms::read(Path::new("/"))?;
    let mut bench = Bench::new(Arc::new(symbols))?;
    let mut pages = Pages::map(PAGES)?;
    let spin = bench.compare(ROUNDS, &mut |()| Ok(()), &mut |()| spin(), &mut ())?;
    let call = bench.compare(CALL_ROUNDS, &mut |()| Ok(()), &mut |()| call(), &mut ())?;
    let fault = bench.compare(FAULT_ROUNDS, &mut Pages::give_back, &mut Pages::touch, &mut pages)?;
    let touch = bench.compare(1, &mut |_| Ok(()), &mut Pages::touch, &mut pages)?;

    let each_call = call.bare / f64::from(CALLS);
    let each = fault.bare / PAGES as f64;
    let present = touch.bare / PAGES as f64;
    let call_after = share(call.tally.of(Cause::User), &call.tally) * each_call;
    let fault_hidden = (share(fault.tally.of(Cause::User), &fault.tally) * each - present).max(0.0);
    Ok(Constants {
        call: each_call,
        call_hidden: share(call.tally.all_syscall_returns(), &call.tally) * each_call,
        call_after,
        fault: each,
        fault_hidden,
        sample: spin.sample,
        sample_in_fault: fault.sample.max(spin.sample),
        errors: [
            (error(&call.tally) * each_call).hypot(UNLIKE[0] * call_after),
            (error(&fault.tally) * each).hypot(UNLIKE[1] * fault_hidden),
        ],
    })
}

/// Relative spread of `call_after` and `fault_hidden` between programs, from programs that time themselves (`tests/truth`).
const UNLIKE: [f64; 2] = [0.5, 0.1];
/// Calls of a pass.
const CALLS: u32 = 16_384;
/// Pages of a pass.
const PAGES: usize = 1024;
/// Passes, each without and with samples.
const ROUNDS: usize = 24;
/// Passes of calls.
const CALL_ROUNDS: usize = 60;
/// Passes of faults. Only a tenth of a fault is hidden, so more are needed.
const FAULT_ROUNDS: usize = 240;

fn share(part: u64, tally: &SampleTally) -> f64 {
    if tally.all() == 0 { 0.0 } else { part as f64 / tally.all() as f64 }
}

/// One standard deviation of the user's share.
fn error(tally: &SampleTally) -> f64 {
    let user = share(tally.of(Cause::User), tally);
    (user * (1.0 - user) / tally.all().max(1) as f64).sqrt()
}

fn call() {
    for _ in 0..CALLS {
        black_box(rustix::process::getppid());
    }
}

fn spin() {
    let mut sum = 0_u64;
    for n in 0..1_500_000_u64 {
        sum = black_box(sum ^ n);
    }
    black_box(sum);
}

/// A loop, with and without samples.
struct Outcome {
    /// CPU time of a pass without samples: seconds.
    bare: f64,
    /// CPU time that a sample added: seconds.
    sample: f64,
    tally: SampleTally,
}

/// An event on this thread.
struct Bench {
    ring: Ring,
    config: EventConfig,
    reader: Reader,
    bytes: Vec<u8>,
}

impl Bench {
    fn new(symbols: Arc<Kallsyms>) -> io::Result<Self> {
        let config = EventConfig { scope: Scope::Task, period: 100_003, cgroup: false, ..EventConfig::machine() };
        let ring = Ring::of(Event::open(config, Some(0), None)?)?;
        Ok(Self {
            ring,
            config,
            reader: Reader::new(symbols, vec![SubjectFilter::Everything], false),
            bytes: Vec::new(),
        })
    }

    /// Runs `pass` with and without samples in turn; `before` prepares each pass and is not measured.
    fn compare<T>(
        &mut self,
        rounds: usize,
        before: &mut dyn FnMut(&mut T) -> io::Result<()>,
        pass: &mut dyn FnMut(&mut T),
        state: &mut T,
    ) -> io::Result<Outcome> {
        let mut tally = SampleTally::default();
        let (mut bare, mut added) = (Vec::new(), Vec::new());
        // One more pass that does not count, since caches are cold.
        for round in 0..=rounds {
            before(state)?;
            let without = timed(|| pass(state));
            before(state)?;
            self.ring.event().enable()?;
            let with = timed(|| pass(state));
            self.ring.event().disable()?;
            let sampled = self.samples();
            if round > 0 {
                bare.push(without.as_secs_f64());
                added.push((with.as_secs_f64() - without.as_secs_f64()) / sampled.all().max(1) as f64);
                tally += &sampled;
            }
        }
        Ok(Outcome { bare: median(&mut bare), sample: median(&mut added).max(0.0), tally })
    }

    fn samples(&mut self) -> SampleTally {
        self.bytes.clear();
        self.ring.drain(&mut self.bytes);
        for record in records(&self.bytes, self.config.layout()) {
            self.reader.read(record);
        }
        self.reader.forget(Stamp::ZERO);
        self.reader.take().pop().unwrap_or_default()
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let before = clock::thread_cpu();
    work();
    clock::thread_cpu().saturating_sub(before)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
