//! A run in virtual time at a host that is a model: no run folder, no runtime, and the counts go to the caller.

use std::rc::Rc;
use std::sync::Arc;

use cuesta_record::clock::{self, Task};
use cuesta_record::{Interval, Phase, SeriesNames, Stamp, Tally, Timeline};

use crate::connect::Connect;
use crate::error::RunError;
use crate::progress::ProgressGuard;
use crate::run::RunLayout;
use crate::self_meter::{MemoryMeter, SelfMeter};
use crate::spec::{RunSpec, Scripts};
use crate::thread_state::ThreadState;
use crate::user::User;
use crate::worker;

/// The parts of a simulated host that the users meet.
pub struct Simulation {
    /// Opens lines to the host. Each is told what its user expects (`Line::announce`).
    pub connect: Connect,
    /// What the host does by itself. It may sleep and be woken, but not spawn tasks.
    pub host: Task,
}

/// A part of a step: its settling, or one of the batches of its measurement interval.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// Number of the step.
    pub step: usize,
    /// Its length in seconds.
    pub seconds: f64,
    /// Whether it belongs to the measurement interval.
    pub measured: bool,
}

/// Plays users on this thread in virtual time. Each measurement interval is divided into `batches` of equal length, and `take`
/// has what was counted in each; `begin` makes the host, given the instants of the run. Exact and reproducible.
///
/// # Errors
/// When the spec cannot be played, or a tape takes no time, so that virtual time would stand still.
///
/// # Panics
/// When a user does, which is a fault of the driver.
pub fn simulate_host(
    spec: RunSpec,
    scripts: &Scripts,
    batches: u32,
    begin: impl FnOnce(&Timeline) -> Simulation,
    mut take: impl FnMut(Batch, &SeriesNames, &mut Tally),
) -> Result<(), RunError> {
    if spec.most_users.is_some() {
        return Err(RunError::Plan("no steps can be added to a simulation: give them all at first".into()));
    }
    let spec = Arc::new(spec);
    let layout = |start_at| RunLayout::new(&spec, scripts, start_at);
    layout(Stamp::ZERO)?;
    let run = || {
        let RunLayout { schedule, series_names, groups } = layout(clock::now()).expect("it was made before");
        let timeline = schedule.timeline.clone();
        let Simulation { connect, host } = begin(&timeline);
        let groups = groups.into_iter().map(crate::group::Group::for_simulated_host).collect();
        let memory = Arc::new(MemoryMeter::begin());
        let users = spec.first_user(spec.groups.len()) as usize;
        let shared = ThreadState::new(Arc::clone(&spec), schedule, groups, connect, memory).simulated(users);
        let shared = Rc::new(shared);
        let tasks = tasks(&shared, host);
        let main = async move {
            let mut meter = SelfMeter::new();
            for interval in intervals(&timeline, batches) {
                clock::sleep_until(timeline.at(interval.end)).await;
                if let Some(group) = shared.progress.as_ref().and_then(ProgressGuard::stalled) {
                    return Err(takes_no_time(&shared.spec.groups[group].script));
                }
                let batch = Batch {
                    step: interval.step,
                    seconds: (interval.end - interval.begin) as f64 / 1e9,
                    measured: interval.phase == Phase::Measure,
                };
                shared.deliver(&mut meter, interval, |_, tally| {
                    take(batch, &series_names, tally);
                    tally.clear();
                    true
                });
            }
            Ok(())
        };
        (main, tasks)
    };
    clock::run_tasks(run)?
}

fn takes_no_time(script: &str) -> RunError {
    RunError::Plan(format!(
        "tape {script}: a pass takes no time at all, and would be repeated forever; expected a wait, a think time, or time \
         between its keys"
    ))
}

/// The users, the arrivals of open loads, and the host.
fn tasks(shared: &Rc<ThreadState>, host: Task) -> Vec<Task> {
    for group in 0..shared.groups.len() {
        for rank in 0..shared.schedule().most_users(group) {
            shared.add_user(shared.spec.first_user(group) + rank, group, rank);
        }
    }
    let processes = (0..shared.spec.steps.len()).flat_map(|step| worker::arrival_processes(shared, step));
    let arrivals = processes.map(|process| -> Task { Box::pin(worker::run_arrivals(Rc::clone(shared), process)) });
    let users = (0..shared.user_count()).map(|slot| -> Task {
        let mut user = User::new(Rc::clone(shared), slot);
        Box::pin(async move { user.play_sessions().await })
    });
    std::iter::once(host).chain(arrivals).chain(users).collect()
}

/// One interval for the settling of each step, and equal ones for its measurement.
fn intervals(timeline: &Timeline, batches: u32) -> Vec<Interval> {
    let mut intervals = Vec::new();
    for (step, times) in timeline.steps.iter().enumerate() {
        let part = |phase, begin, end| Interval { begin, end, step, phase, ends_step: false };
        intervals.push(part(Phase::Settle, times.begin, times.settled));
        let bound = |batch: u32| {
            times.settled + ((times.end - times.settled) as f64 * f64::from(batch) / f64::from(batches)) as u64
        };
        intervals.extend((0..batches).map(|batch| part(Phase::Measure, bound(batch), bound(batch + 1))));
    }
    intervals
}
