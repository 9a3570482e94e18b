//! CPU time by cause for consecutive intervals: sampler, constants and CPU clocks together; and what samples say of the
//! subject's own CPU time: interrupts outside it, and a doubt if clocks and samples disagree.

use std::collections::{BTreeMap, VecDeque};

use cuesta_meters_report::{
    ByCause, Count, CounterFigures, Counts, Cpu, Figure, MeterReport, Network, Own, Subject, Tier,
};
use cuesta_record::Stamp;

use super::calibrate::{Calibration, Constants, calibrate, reusable_constants};
use super::causes::{Cause, CauseShares, ClockedCpu};
use super::sampler::{NotSampled, Sampler, SamplerOptions};
use super::share::interval;
use super::tally::{SampleTally, SampleWindow, Visibility};
use crate::profile::Profile;

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
pub struct SampledFigures {
    pub by_cause: Figure<ByCause>,
    /// None unless the whole machine is sampled.
    network: Option<Network>,
    /// Percent of the CPUs: idle time that the sampler's own interrupts used; none if not known.
    pub interrupts_of_idle: Option<Figure>,
    /// Why the subject's CPU time is in doubt.
    doubt: Option<String>,
    notes: Vec<String>,
}

impl SampledFigures {
    /// No samples; `by_cause` has the reason.
    pub fn nothing(by_cause: Figure<ByCause>) -> Self {
        Self { by_cause, network: None, interrupts_of_idle: None, doubt: None, notes: Vec::new() }
    }

    /// Adds to the figures of clocks and counters what samples say of them.
    pub fn counter_figures(&self, counted: CounterFigures) -> CounterFigures {
        let own = match self.by_cause.value() {
            Some(by_cause) => with_interrupts(&counted, by_cause),
            None => counted.own.clone(),
        };
        let counters = counted.report;
        let report = MeterReport {
            own: Own { doubt: self.doubt.clone(), ..own },
            network: self.network.clone().unwrap_or(counters.network),
            notes: counters.notes.into_iter().chain(self.notes.iter().cloned()).collect(),
            closure: match &self.interrupts_of_idle {
                Some(percent) => counters.closure.and("the sampler on idle CPUs", percent),
                None => counters.closure,
            },
            ..counters
        };
        CounterFigures { report, ..counted }
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
        let calibration = if reuse { reusable_constants() } else { measure() };
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

    /// Ends a window. Call it when the CPU clocks are read, so that intervals of both agree.
    pub fn end_window(&mut self) {
        let Some(window) = self.sampler.window() else { return };
        if self.windows.len() == MOST_WINDOWS {
            self.windows.pop_front();
        }
        self.windows.push_back(window);
    }

    /// The samples since `from`, when clocks were read. The first window that ends at or after `from` ended with that reading, so
    /// the sum begins with the next window. None if no window follows, or sampling began after `from`.
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

    /// What samples add to an interval that began at `from` and whose clocks and counters are `counted`.
    pub fn sampled_figures(&self, from: Stamp, counted: &CounterFigures) -> SampledFigures {
        let window = self.since(from);
        let by_cause = self.by_cause(window.as_ref(), counted);
        let (Some(window), Some(causes)) = (&window, by_cause.value()) else {
            let notes = self.limits.iter().cloned().chain(self.reused()).collect();
            return SampledFigures { notes, ..SampledFigures::nothing(by_cause) };
        };
        let period = window.tallies.first().map_or(0.0, SampleTally::period);
        let doubt = doubt(&counted.own, causes, period * 1e-9);
        let lost = causes.about.0.as_ref().and_then(|about| about.lost.value()).filter(|lost| **lost > 0.0);
        let lost = lost.map(|lost| format!("{lost} samples were lost: there was no room for them"));
        SampledFigures {
            notes: doubt.iter().chain(&self.limits).cloned().chain(self.reused()).chain(lost).collect(),
            doubt,
            network: self.network(window, counted),
            interrupts_of_idle: self.interrupts_of_idle(window, &counted.cpu),
            by_cause,
        }
    }

    /// The `counted` CPU time by cause.
    fn by_cause(&self, window: Option<&SampleWindow>, counted: &CounterFigures) -> Figure<ByCause> {
        let own_seconds = counted.own_seconds();
        let Some(cpu) = own_seconds.value() else {
            return Figure::absent(own_seconds.why().unwrap_or_default());
        };
        let Some(window) = window else {
            return Figure::absent("the samples of this interval are not all there");
        };
        let clocked = ClockedCpu { cpu: *cpu, fault_count: fault_count(&counted.counts), capacity: counted.capacity() };
        let Some(tally) = window.tallies.first() else { return Figure::absent("nothing was sampled") };
        let shares = CauseShares::new(&within_own_time(tally, &counted.own), window, clocked, self.constants());
        Figure::sampled(shares.report(clocked, &counts_by_cause(&counted.counts, &shares)))
    }

    /// CPU time of the network's soft interrupts: their part of the machine's busy samples × its busy time. None unless the
    /// whole machine is sampled.
    fn network(&self, window: &SampleWindow, counted: &CounterFigures) -> Option<Network> {
        let [subject, machine] = &window.tallies[..] else { return None };
        if !self.sampler.sees_machine() || window.visibility != Visibility::Whole {
            return None;
        }
        let part = |tally: &SampleTally| tally.network as f64 / tally.busy_time().max(1.0);
        let cpus: Vec<_> = counted.per_cpu.values().chain(counted.beside.values()).collect();
        let busy = |cpu: &&Cpu| cpu.usr.value().zip(cpu.sys.value()).zip(cpu.irq.value()).map(|((a, b), c)| a + b + c);
        let busy = cpus.iter().map(busy).sum::<Option<f64>>()? / cpus.len().max(1) as f64;
        let percent = busy * part(machine);
        let limits = interval(part(machine), machine.effective()).map(|limit| busy * limit);
        Some(Network {
            seconds: Figure::sampled(percent / 100.0 * counted.seconds * cpus.len() as f64),
            percent: Figure::sampled(percent),
            interval: Figure::sampled(limits),
            in_subject: counted
                .own_seconds()
                .with(&Figure::sampled(part(&within_own_time(subject, &counted.own))), |seconds, part| seconds * part),
        })
    }

    /// Percent of the CPUs: idle time that the sampler's own interrupts used. The kernel's idle clock stops for each, and no
    /// task has that time. None if idle CPUs are not sampled, or the cost is not known.
    fn interrupts_of_idle(&self, window: &SampleWindow, cpu: &Cpu) -> Option<Figure> {
        if !self.sampler.sees_machine() {
            return None;
        }
        let (known, machine) = (self.constants()?, window.tallies.last()?);
        let (often, time) = (machine.samples_of(Cause::Idle) as f64, machine.time_of(Cause::Idle) as f64 * 1e-9);
        let taken = if time > 0.0 { known.sample * often / time } else { 0.0 };
        let idle = cpu.idle.with(&cpu.iowait, |idle, waiting| idle + waiting);
        Some(Figure::sampled(taken).with(&idle, |taken, idle| taken * idle))
    }
}

/// The subject's samples, without interrupts if the subject's clock leaves them out: a kernel that times interrupts apart from
/// tasks stops a task's clock during an interrupt. `own.irq` comes from ticks (the plain tier) on such a kernel alone.
fn within_own_time(subject: &SampleTally, own: &Own) -> SampleTally {
    match own.irq {
        Figure::Metered { tier: Tier::Plain, .. } => subject.clone().without_interrupts(),
        _ => subject.clone(),
    }
}

/// The subject's page faults; none if only those of the machine are counted.
fn fault_count(counts: &Counts) -> Option<u64> {
    if counts.of_machine.iter().any(|name| name == "minor_faults") {
        return None;
    }
    Some(counts.minor_faults.value()?.count + counts.major_faults.value()?.count)
}

/// Number of events of each cause; missing if only those of the machine are counted.
fn counts_by_cause(counts: &Counts, causes: &CauseShares) -> BTreeMap<Cause, Figure> {
    let number = |name: &str, figure: &Figure<Count>| {
        if counts.of_machine.iter().any(|other| other == name) {
            return Figure::absent("it is counted for the whole machine only");
        }
        figure.map(|count| count.count as f64)
    };
    let faults = fault_count(counts).map(|faults| Figure::plain(faults as f64));
    let unknown = || Figure::absent("it is not counted for this subject");
    let counted = [
        (Cause::PageFaults, faults.unwrap_or_else(unknown)),
        (Cause::Dispatching, number("switches", &counts.switches)),
        (Cause::Interrupts, number("interrupts", &counts.interrupts)),
        (Cause::Softirq, number("softirqs", &counts.softirqs)),
    ];
    counted.into_iter().chain(causes.calls.clone()).collect()
}

/// Samples over clocks, as a ratio, that raises no doubt.
const AGREE: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Standard deviations of a number of samples within which chance may explain a difference.
const CHANCE: f64 = 4.0;

/// The subject's own time, with the interrupts outside it: those of the CPUs less those sampled in the subject's time.
/// Unchanged if the subject's clock leaves interrupts out, or the samples do not see the kernel.
fn with_interrupts(counted: &CounterFigures, by_cause: &ByCause) -> Own {
    let own = counted.own.clone();
    if own.others.value().is_none() || own.irq.value().is_some() || by_cause.causes.contains_key(Cause::Kernel.name()) {
        return own;
    }
    let percent = |cause: Cause| by_cause.causes.get(cause.name()).and_then(|row| row.percent.value().copied());
    let within = percent(Cause::Interrupts).unwrap_or(0.0) + percent(Cause::Softirq).unwrap_or(0.0);
    let beside = counted.cpu.irq.with(&Figure::sampled(within), |irq, within| irq - within);
    own.with_beside(&counted.cpu.busy(), &beside)
}

/// Why the subject's CPU time is in doubt: samples, one every `period` seconds, do not agree with its clocks. If samples miss
/// the kernel, only too many samples are a reason.
fn doubt(own: &Own, by_cause: &ByCause, period: f64) -> Option<String> {
    let seconds = own.seconds.value()?;
    let about = by_cause.about.0.as_ref()?;
    let samples = about.samples.value().filter(|_| period > 0.0)?;
    // A sample stands for a period, or for two if its CPU was sampled at half rate.
    let sampled_seconds = samples * period + about.half_rate_seconds.value().unwrap_or(&0.0) / 2.0;
    let (samples, expected) = (sampled_seconds / period, seconds / period);
    let by_chance = (samples - expected).abs() <= CHANCE * samples.max(expected).max(CHANCE).sqrt();
    let ratio = if *seconds > 0.0 { sampled_seconds / seconds } else { f64::INFINITY };
    let is_partial = by_cause.causes.contains_key(Cause::Kernel.name()) && ratio < 1.0;
    if by_chance || is_partial || AGREE.contains(&ratio) {
        return None;
    }
    Some(format!(
        "its clocks have {seconds:.2} s of CPU time, samples met it for {sampled_seconds:.2} s: the figure is not to be trusted"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuesta_meters_plain::{CounterSnapshot, Delta, Roots};
    use cuesta_meters_report::{OrEmpty, Sampling};

    #[test]
    fn windows_are_consecutive_and_add_up() {
        let subject = Subject::Process(std::process::id());
        let mut accounting = CpuAccounting::start(&subject, SamplerOptions::default(), false)
            .expect("this test must be allowed to sample: run it as root");
        accounting.end_window();
        let first = accounting.windows[0].until;
        let mut sum = 0_u64;
        // Work until there are enough samples, however long that takes on a busy machine.
        while accounting.since(first).is_none_or(|window| window.tallies[0].busy() < 50) {
            (0..5_000_000_u64).for_each(|n| sum = std::hint::black_box(sum ^ n));
            accounting.end_window();
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

    #[test]
    fn samples_that_do_not_agree_with_the_clocks_are_a_doubt() {
        let subject = Subject::Process(std::process::id());
        let [earlier, later] = [(); 2].map(|()| CounterSnapshot::take(&Roots::default(), &subject));
        let own = Delta::compare(&earlier, &later).unwrap().report().own;
        let clocked = ClockedCpu { cpu: 0.0, fault_count: None, capacity: 0.0 };
        let shares = CauseShares::new(&SampleTally::default(), &SampleWindow::default(), clocked, None);
        let nothing = shares.report(clocked, &BTreeMap::new());
        let (row, about) = (nothing.causes["unclassified"].clone(), nothing.about.0.clone().unwrap());
        let doubt_of = |seconds, samples: f64, half_rate: f64, causes: &[&str]| {
            let own = Own { seconds: Figure::plain(seconds), ..own.clone() };
            let about = Sampling {
                half_rate_seconds: Figure::sampled(half_rate),
                samples: Figure::sampled(samples),
                ..about.clone()
            };
            let by_cause = ByCause {
                causes: causes.iter().map(|name| ((*name).to_owned(), row.clone())).collect(),
                about: OrEmpty(Some(about)),
                ..nothing.clone()
            };
            let why = doubt(&own, &by_cause, 1e-3);
            assert!(why.as_ref().is_none_or(|why| why.contains("not to be trusted")));
            why.is_some()
        };
        let doubt = |seconds, samples: f64, causes: &[&str]| doubt_of(seconds, samples, 0.0, causes);
        assert!(!doubt_of(2.0, 1000.0, 2.0, &["user"]), "each sample stands for two periods");
        assert!(doubt(0.084, 2700.0, &["user"]), "most samples are missing");
        assert!(doubt(0.0, 50.0, &["user"]), "all samples are missing");
        assert!(doubt(2.0, 1500.0, &["user"]), "counted twice");
        assert!(!doubt(2.0, 1900.0, &["user"]) && !doubt(2.0, 2400.0, &["user"]));
        assert!(!doubt(0.020, 30.0, &["user"]) && !doubt(0.0, 3.0, &["user"]), "chance may explain it");
        assert!(!doubt(2.0, 500.0, &["user", Cause::Kernel.name()]), "the kernel was not sampled");
    }
}
