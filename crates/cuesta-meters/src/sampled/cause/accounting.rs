//! CPU time by cause for consecutive intervals: sampler, constants and exact clocks together.

use std::collections::{BTreeMap, VecDeque};

use cuesta_record::Stamp;

use super::calibrate::{Constants, calibrate};
use super::calibration_cache::{self, Calibration};
use super::causes::{CauseShares, ExactCpu};
use super::interval::interval;
use super::kind::Cause;
use super::sampler::{NotSampled, SampleWindow, Sampler, SamplerOptions, Visibility};
use super::tally::SampleTally;
use crate::report::Measured;
use crate::sampled::own_time;
use crate::sampled::profile::Profile;
use crate::{ByCause, Count, Counts, Cpu, Figure, Network, Own, Subject, Tier};

/// Splits the CPU time of one subject until it is dropped.
#[derive(Debug)]
pub struct CpuAccounting {
    sampler: Sampler,
    calibration: Option<Calibration>,
    /// What could not be sampled, and how to allow it.
    limits: Vec<String>,
    /// Consecutive windows, the oldest first.
    windows: VecDeque<SampleWindow>,
}

/// What samples add to the figures of the plain tier.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) by_cause: Figure<ByCause>,
    /// None unless the whole machine is sampled.
    pub(crate) network: Option<Network>,
    /// Percent of the CPUs: idle time that the sampler's own interrupts used; none if not known.
    pub(crate) interrupts_of_idle: Option<Figure>,
    /// Why the subject's CPU time is in doubt.
    pub(crate) doubt: Option<String>,
    pub(crate) notes: Vec<String>,
}

impl Sampled {
    /// No samples; `by_cause` has the reason.
    pub(crate) fn nothing(by_cause: Figure<ByCause>) -> Self {
        Self { by_cause, network: None, interrupts_of_idle: None, doubt: None, notes: Vec::new() }
    }
}

/// Most windows that are kept: a day of one a second.
const MOST_WINDOWS: usize = 86_400;

impl CpuAccounting {
    /// Measures the constants and starts to sample. Measuring takes about a second of one CPU; `reuse` allows constants of the
    /// last hour.
    ///
    /// # Errors
    /// When nothing may be sampled. [`CpuAccounting::limits`] has what is sampled only in part.
    pub fn start(subject: &Subject, options: SamplerOptions, reuse: bool) -> Result<Self, NotSampled> {
        let measure = || calibrate().map(|constants| Calibration { constants, age: None });
        let calibration = if reuse { calibration_cache::constants() } else { measure() };
        let sampler = Sampler::start(&[subject.clone(), Subject::Machine], options)?;
        let mut limits = sampler.limits().to_vec();
        if let Err(why) = &calibration {
            limits.push(format!("what page faults and system calls hide is not put right: {why}"));
        }
        Ok(Self { sampler, calibration: calibration.ok(), limits, windows: VecDeque::new() })
    }

    /// What could not be sampled, and how to allow it.
    pub fn limits(&self) -> &[String] {
        &self.limits
    }

    /// The constants, if they could be measured.
    pub fn constants(&self) -> Option<&Constants> {
        self.calibration.as_ref().map(|calibration| &calibration.constants)
    }

    /// A note if the constants were measured earlier.
    pub fn reused(&self) -> Option<String> {
        let minutes = self.calibration.as_ref()?.age?.as_secs() / 60;
        Some(match minutes {
            0 => "the sampler's constants are reused: measured less than a minute ago".to_owned(),
            _ => format!("the sampler's constants are reused: measured {minutes} min ago"),
        })
    }

    /// Ends a window. Call it when the exact clocks are read, so that intervals of both agree.
    pub fn mark(&mut self) {
        let Some(window) = self.sampler.window() else { return };
        if self.windows.len() == MOST_WINDOWS {
            self.windows.pop_front();
        }
        self.windows.push_back(window);
    }

    /// The samples from the first mark at or after `from` to the last mark. None if there is no such mark, or sampling began
    /// later.
    pub fn since(&self, from: Stamp) -> Option<SampleWindow> {
        let first = self.windows.partition_point(|window| window.until < from);
        if self.windows.front()?.from > from {
            return None;
        }
        let mut windows = self.windows.iter().skip(first + 1);
        let mut sum = windows.next()?.clone();
        windows.for_each(|window| sum.add(window));
        Some(sum)
    }

    /// The stacks since the last call.
    pub fn take_profile(&self) -> Profile {
        self.sampler.profile()
    }

    /// What samples add to an interval that the plain tier `measured`.
    pub(crate) fn sampled(&self, window: Option<&SampleWindow>, measured: &Measured) -> Sampled {
        let by_cause = self.by_cause(window, measured);
        let (Some(window), Some(found)) = (window, by_cause.value()) else {
            let notes = self.limits.iter().cloned().chain(self.reused()).collect();
            return Sampled { notes, ..Sampled::nothing(by_cause) };
        };
        let period = window.tallies.first().map_or(0.0, SampleTally::period);
        let doubt = own_time::doubt(&measured.own, found, period * 1e-9);
        let lost = found.about["lost"].value().filter(|lost| **lost > 0.0);
        let lost = lost.map(|lost| format!("{lost} samples were lost: there was no room for them"));
        Sampled {
            notes: doubt.iter().chain(&self.limits).cloned().chain(self.reused()).chain(lost).collect(),
            doubt,
            network: self.network(window, measured),
            interrupts_of_idle: self.interrupts_of_idle(window, &measured.cpu),
            by_cause,
        }
    }

    /// The `measured` CPU time by cause.
    fn by_cause(&self, window: Option<&SampleWindow>, measured: &Measured) -> Figure<ByCause> {
        let own_seconds = measured.own_seconds();
        let Some(cpu) = own_seconds.value() else {
            return Figure::unmetered(own_seconds.why().unwrap_or_default());
        };
        let Some(window) = window else {
            return Figure::unmetered("the samples of this interval are not all there");
        };
        let exact = ExactCpu { cpu: *cpu, faults: faults(&measured.counts), capacity: measured.capacity() };
        let Some(tally) = window.tallies.first() else { return Figure::unmetered("nothing was sampled") };
        let shares = CauseShares::new(&own(tally, &measured.own), window, exact, self.constants());
        Figure::sampled(shares.report(exact, &counts(&measured.counts, &shares)))
    }

    /// CPU time of the network's soft interrupts: their part of the machine's busy samples × its busy time. None unless the
    /// whole machine is sampled.
    fn network(&self, window: &SampleWindow, measured: &Measured) -> Option<Network> {
        let [subject, machine] = &window.tallies[..] else { return None };
        if !self.sampler.sees_machine() || window.visibility != Visibility::Whole {
            return None;
        }
        let part = |tally: &SampleTally| tally.network as f64 / tally.busy_time().max(1.0);
        let cpus: Vec<_> = measured.per_cpu.values().chain(measured.beside.values()).collect();
        let busy = |cpu: &&Cpu| cpu.usr.value().zip(cpu.sys.value()).zip(cpu.irq.value()).map(|((a, b), c)| a + b + c);
        let busy = cpus.iter().map(busy).sum::<Option<f64>>()? / cpus.len().max(1) as f64;
        let percent = busy * part(machine);
        let limits = interval(part(machine), machine.effective()).map(|limit| busy * limit);
        Some(Network {
            seconds: Figure::sampled(percent / 100.0 * measured.seconds * cpus.len() as f64),
            percent: Figure::sampled(percent),
            interval: Figure::sampled(limits),
            in_subject: measured
                .own_seconds()
                .with(&Figure::sampled(part(&own(subject, &measured.own))), |seconds, part| seconds * part),
        })
    }

    /// Percent of the CPUs: idle time that the sampler's own interrupts used. The kernel's idle clock stops for each, and no
    /// task has that time. None if idle CPUs are not sampled, or the cost is not known.
    fn interrupts_of_idle(&self, window: &SampleWindow, cpu: &Cpu) -> Option<Figure> {
        if !self.sampler.sees_machine() {
            return None;
        }
        let (known, machine) = (self.constants()?, window.tallies.last()?);
        let (often, time) = (machine.of(Cause::Idle) as f64, machine.time_of(Cause::Idle) as f64 * 1e-9);
        let taken = if time > 0.0 { known.sample * often / time } else { 0.0 };
        let idle = cpu.idle.with(&cpu.iowait, |idle, waiting| idle + waiting);
        Some(Figure::sampled(taken).with(&idle, |taken, idle| taken * idle))
    }
}

/// The samples of the time that the subject's clock counts. If the kernel times interrupts apart from tasks, a task's clock
/// leaves out the interrupts during it, and the tally must too. Then, and only then, ticks give the interrupts beside a
/// subject.
fn own(subject: &SampleTally, own: &Own) -> SampleTally {
    match own.irq {
        Figure::Metered { tier: Tier::Plain, .. } => subject.clone().without_interrupts(),
        _ => subject.clone(),
    }
}

/// The subject's page faults; none if only those of the machine are counted.
fn faults(counts: &Counts) -> Option<u64> {
    if counts.of_machine.iter().any(|name| name == "minor_faults") {
        return None;
    }
    Some(counts.minor_faults.value()?.count + counts.major_faults.value()?.count)
}

/// Number of events of each cause; missing if only those of the machine are counted.
fn counts(counts: &Counts, causes: &CauseShares) -> BTreeMap<Cause, Figure> {
    let of = |name: &str, figure: &Figure<Count>| {
        if counts.of_machine.iter().any(|other| other == name) {
            return Figure::unmetered("it is counted for the whole machine only");
        }
        figure.map(|count| count.count as f64)
    };
    let faults = faults(counts).map(|faults| Figure::plain(faults as f64));
    let unknown = || Figure::unmetered("it is not counted for this subject");
    let counted = [
        (Cause::PageFaults, faults.unwrap_or_else(unknown)),
        (Cause::Dispatching, of("switches", &counts.switches)),
        (Cause::Interrupts, of("interrupts", &counts.interrupts)),
        (Cause::Softirq, of("softirqs", &counts.softirqs)),
    ];
    counted.into_iter().chain(causes.counted_calls()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_consecutive_and_add_up() {
        let subject = Subject::Process(std::process::id());
        let mut accounting = CpuAccounting::start(&subject, SamplerOptions::default(), false)
            .expect("this test needs to be allowed to sample");
        accounting.mark();
        let first = accounting.windows[0].until;
        let mut sum = 0_u64;
        // Work until there are enough samples, however long that takes on a busy machine.
        while accounting.since(first).is_none_or(|window| window.tallies[0].busy() < 50) {
            (0..5_000_000_u64).for_each(|n| sum = std::hint::black_box(sum ^ n));
            accounting.mark();
        }
        let (all, last) = (accounting.since(first).expect("bounded"), accounting.windows.back().expect("some").clone());
        assert_eq!((all.from, all.until), (first, last.until));
        assert_eq!(accounting.since(last.from), Some(last.clone()));
        assert_eq!(
            all.tallies[0].all(),
            accounting.windows.iter().skip(1).map(|window| window.tallies[0].all()).sum::<u64>()
        );
        assert_eq!(accounting.since(Stamp::ZERO), None);
        assert_eq!(accounting.since(last.until), None);
    }
}
