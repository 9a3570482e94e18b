//! Plays users at a simulated host and collects the figures.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cuesta_driver::{Batch, Connect, RunError, Scripts, Simulation, simulate_host};
use cuesta_lines::{Line, RateLimited};
use cuesta_record::{SeriesNames, Tally, clock};
use hdrhistogram::Histogram;

use crate::figures::{BatchFigures, Figures, StationFigures, StepFigures};
use crate::host::SimulatedHost;
use crate::line::SimulatedLine;
use crate::spec::{HostSpec, SimulationSpec};
use crate::usage::UsageSums;

/// What a simulation gives.
#[derive(Debug)]
pub struct Simulated {
    /// The figures.
    pub figures: Figures,
    /// The histograms of the measurement intervals, in nanoseconds, by `STEP/GROUP/SOURCE/SERIES`.
    pub histograms: BTreeMap<String, Histogram<u64>>,
}

/// Why a simulation cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The host cannot be.
    #[error("station `{station}`: {problem}")]
    Station {
        /// Which.
        station: String,
        /// What is wrong, what was expected.
        problem: String,
    },
    /// A percentile.
    #[error("p{0} is no percentile; expected more than 0, and less than 100")]
    Percentile(f64),
    /// The number of batches.
    #[error("{0} batches; expected 10 or more, or no interval can be given")]
    Batches(u32),
    /// The users cannot be played.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Plays the users of `spec` at its host, on this thread in virtual time. The same spec gives the same figures, `cpu` excepted.
///
/// # Errors
/// When the spec cannot be played.
pub fn simulate(spec: SimulationSpec, scripts: &Scripts) -> Result<Simulated, SimulationError> {
    let begin_cpu = clock::thread_cpu();
    let names = names(&spec, scripts);
    check(&spec, &names)?;
    let speeds = line_speeds(&spec, scripts);
    let SimulationSpec { run, host: model, batches, percentiles, patient } = spec;
    let patient_scripts: Option<Scripts> =
        patient.then(|| scripts.iter().map(|(name, script)| (name.clone(), script.clone().with_patience())).collect());
    let scripts = patient_scripts.as_ref().unwrap_or(scripts);
    let seed = run.seed;
    let mut collected =
        Collected { keys: 0, steps: run.steps.iter().map(|_| Step::default()).collect(), tags: Vec::new() };
    let only_host = OnceCell::<Rc<SimulatedHost>>::new();
    let begin = |timeline: &_| {
        let host = only_host.get_or_init(|| Rc::new(SimulatedHost::new(&model, &names, timeline, seed)));
        Simulation { connect: connect(Rc::clone(host), speeds), host: Box::pin(Rc::clone(host).work()) }
    };
    let take = |batch: Batch, names: &SeriesNames, tally: &mut Tally| {
        only_host.get().inspect(|host| host.advance());
        collected.take(batch, names, tally);
    };
    simulate_host(run, scripts, batches, begin, take)?;
    let services = only_host.get().map_or(0, |host| host.services());
    let histograms = collected.histograms();
    let events = collected.keys + services;
    let sums = |step| only_host.get().map(|host| host.sums(step)).unwrap_or_default();
    let steps = collected.figures(sums, &model, &percentiles);
    let cpu = clock::thread_cpu().saturating_sub(begin_cpu).as_secs_f64();
    Ok(Simulated { figures: Figures { steps, events, cpu }, histograms })
}

/// What was counted so far.
#[derive(Debug)]
struct Collected {
    /// Keys sent, settling included.
    keys: u64,
    steps: Vec<Step>,
    /// The names of the series.
    tags: Vec<String>,
}

/// What a step's batches counted.
#[derive(Debug, Default)]
struct Step {
    tally: Tally,
    batches: Vec<BatchFigures>,
}

impl Collected {
    fn take(&mut self, batch: Batch, names: &SeriesNames, tally: &mut Tally) {
        self.keys += tally.counts.keys;
        self.tags = names.tags().to_vec();
        if !batch.measured {
            return;
        }
        let step = &mut self.steps[batch.step];
        step.batches.push(BatchFigures::new(batch.seconds, tally, names.tags()));
        step.tally.merge(tally);
        // Users at the end of the last batch, not their sum.
        (step.tally.counts.users, step.tally.counts.active) = (tally.counts.users, tally.counts.active);
    }

    fn histograms(&self) -> BTreeMap<String, Histogram<u64>> {
        let of_step = |(number, step): (usize, &Step)| {
            let named = |(series, histogram): (usize, &Histogram<u64>)| {
                (format!("{number}/{}", self.tags[series]), histogram.clone())
            };
            step.tally.histograms().map(named).collect::<Vec<_>>()
        };
        self.steps.iter().enumerate().flat_map(of_step).collect()
    }

    /// The figures by step; `sums`: what the stations did in a step.
    fn figures(
        self,
        sums: impl Fn(usize) -> Vec<UsageSums>,
        model: &HostSpec,
        percentiles: &[f64],
    ) -> Vec<StepFigures> {
        let of_step = |(number, step): (usize, Step)| {
            let seconds = step.batches.iter().map(|batch| batch.seconds).sum();
            let stations = model.stations.iter().zip(sums(number));
            let stations = stations.map(|(station, sums)| StationFigures::new(station, sums, seconds)).collect();
            StepFigures::new(&step.tally, step.batches, stations, &self.tags, percentiles)
        };
        self.steps.into_iter().enumerate().map(of_step).collect()
    }
}

fn check(spec: &SimulationSpec, names: &[Vec<String>]) -> Result<(), SimulationError> {
    if spec.batches < 10 {
        return Err(SimulationError::Batches(spec.batches));
    }
    if let Some(&wrong) = spec.percentiles.iter().find(|percentile| !(0.0 < **percentile && **percentile < 100.0)) {
        return Err(SimulationError::Percentile(wrong));
    }
    for station in &spec.host.stations {
        let wrong = |problem: String| Err(SimulationError::Station { station: station.name.clone(), problem });
        if station.servers == Some(0) {
            return wrong("0 servers; expected 1 or more, or null for a delay".to_owned());
        }
        if let Some(speed) = station.speeds.iter().find(|speed| !(speed.speed > 0.0 && speed.speed.is_finite())) {
            return wrong(format!("a speed of {}; expected more than 0", speed.speed));
        }
        if let Some(name) = station.transactions.keys().find(|name| !names.iter().flatten().any(|known| known == *name))
        {
            let known: Vec<_> = names.iter().flatten().map(|name| format!("`{name}`")).collect();
            return wrong(format!("no transaction is called `{name}`; the tapes have {}", known.join(", ")));
        }
    }
    Ok(())
}

/// The names of the transactions of each group, as the driver numbers them: the last is the script's.
fn names(spec: &SimulationSpec, scripts: &Scripts) -> Vec<Vec<String>> {
    let of_group = |name: &String| {
        scripts
            .get(name)
            .map_or_else(Vec::new, |script| script.transactions.iter().chain([&script.name]).cloned().collect())
    };
    spec.run.groups.iter().map(|group| of_group(&group.script)).collect()
}

/// The speed of each group's lines, in bits a second; 0 is no limit.
fn line_speeds(spec: &SimulationSpec, scripts: &Scripts) -> Vec<u32> {
    let groups = spec.run.groups.iter();
    groups
        .map(|group| {
            let script = scripts.get(&group.script).and_then(|script| script.settings.line_speed);
            group.line_speed.or(script).unwrap_or(0)
        })
        .collect()
}

fn connect(host: Rc<SimulatedHost>, speeds: Vec<u32>) -> Connect {
    Rc::new(move |group, _| {
        let line = SimulatedLine::new(Rc::clone(&host), group);
        let line: Box<dyn Line> = match speeds[group] {
            0 => Box::new(line),
            speed => Box::new(RateLimited::new(line, speed)),
        };
        Box::pin(async move { Ok(line) })
    })
}
