//! CPU time by cause, interval after interval: sampler, constants and exact clocks together.

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

/// Splits the CPU time of one subject for as long as it lives.
#[derive(Debug)]
pub struct CpuAccounting {
    sampler: Sampler,
    calibration: Option<Calibration>,
    /// What was not had, and how to allow it.
    limits: Vec<String>,
    /// One after the other, the oldest first.
    windows: VecDeque<SampleWindow>,
}

/// What samples add to what was measured.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) by_cause: Figure<ByCause>,
    /// None where not all that runs is sampled.
    pub(crate) network: Option<Network>,
    /// Percent of the CPUs that the sampler's own interrupts took of idle ones; none where that is not known.
    pub(crate) interrupts_of_idle: Option<Figure>,
    /// Why the subject's CPU time is not to be trusted.
    pub(crate) doubt: Option<String>,
    pub(crate) notes: Vec<String>,
}

impl Sampled {
    /// Nothing was sampled; `by_cause` says why.
    pub(crate) fn nothing(by_cause: Figure<ByCause>) -> Self {
        Self { by_cause, network: None, interrupts_of_idle: None, doubt: None, notes: Vec::new() }
    }
}

/// Windows that are kept: with one a second, those of a day.
const MOST_WINDOWS: usize = 86_400;

impl CpuAccounting {
    /// Takes the constants, and begins to sample. Measuring them takes about a second of one CPU; those of the last hour are
    /// reused if `reuse`.
    ///
    /// # Errors
    /// When nothing may be sampled. What may be sampled only in part is said by [`CpuAccounting::limits`].
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

    /// What was not had, and how to allow it; empty if nothing.
    pub fn limits(&self) -> &[String] {
        &self.limits
    }

    /// The constants, if they could be measured.
    pub fn constants(&self) -> Option<&Constants> {
        self.calibration.as_ref().map(|calibration| &calibration.constants)
    }

    /// That the constants were measured earlier, if they were.
    pub fn reused(&self) -> Option<String> {
        let minutes = self.calibration.as_ref()?.age?.as_secs() / 60;
        Some(match minutes {
            0 => "the sampler's constants are reused: measured less than a minute ago".to_owned(),
            _ => format!("the sampler's constants are reused: measured {minutes} min ago"),
        })
    }

    /// Sets a bound, at the instant at which the exact clocks are read: intervals go from bound to bound.
    pub fn mark(&mut self) {
        let Some(window) = self.sampler.window() else { return };
        if self.windows.len() == MOST_WINDOWS {
            self.windows.pop_front();
        }
        self.windows.push_back(window);
    }

    /// What was sampled from the first bound at or after `from` to the last one. None if there is no such bound, or sampling
    /// began later.
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

    /// The stacks since they were last asked for.
    pub fn take_profile(&self) -> Profile {
        self.sampler.profile()
    }

    /// All that samples say of an interval in which that was `measured`.
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

    /// CPU time by cause of an interval, of the time that was `measured`.
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

    /// What the network's soft interrupts took of the machine in such an interval: the machine's busy samples share its busy
    /// time, the subject's share its own. Nothing where not all that runs is sampled.
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

    /// Percent of the CPUs that the sampler's own interrupts took of idle ones: the kernel's account of idle begins anew behind
    /// each, and no task has that time. None where idle CPUs are not sampled, or the cost is not known.
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

/// The samples of what the subject's clock counts. Ticks tell of interrupts beside a part only where the kernel times them
/// apart from tasks, and there a task's clock leaves out those that came while it ran.
fn own(subject: &SampleTally, own: &Own) -> SampleTally {
    match own.irq {
        Figure::Metered { tier: Tier::Plain, .. } => subject.clone().without_interrupts(),
        _ => subject.clone(),
    }
}

/// The subject's page faults, if they were counted for it alone.
fn faults(counts: &Counts) -> Option<u64> {
    if counts.of_machine.iter().any(|name| name == "minor_faults") {
        return None;
    }
    Some(counts.minor_faults.value()?.count + counts.major_faults.value()?.count)
}

/// How many there were of a cause, where they are counted for the subject alone.
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
    fn intervals_follow_each_other_and_sums_are_those_of_their_parts() {
        let subject = Subject::Process(std::process::id());
        let mut accounting = CpuAccounting::start(&subject, SamplerOptions::default(), false)
            .expect("this test needs to be allowed to sample");
        accounting.mark();
        let first = accounting.windows[0].until;
        let mut sum = 0_u64;
        // Until enough was sampled, however long that takes on a busy machine.
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
