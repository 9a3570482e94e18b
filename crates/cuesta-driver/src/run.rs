//! A run: threads that drive users, a thread that writes, and a handle to look at it and to stop it.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_record::clock::{self, Time};
use cuesta_record::{AgentEnd, AgentFolder, Recorder, RecorderHandle, RecorderSetup, SeriesNames, Snapshot, Stamp};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::barrier::{Barrier, BarrierRelease, BarrierStatus};
use crate::cast_writer::{CastTap, CastWriter, with_tap};
use crate::connect::{Connect, connect_to_targets};
use crate::error::RunError;
use crate::group::Group;
use crate::priority;
use crate::schedule::{Announcement, Announcements, Schedule};
use crate::self_meter::MemoryMeter;
use crate::spec::{RunSpec, Scripts};
use crate::thread_state::ThreadState;
use crate::watch::{UserScreen, Watch, WatchOrder};
use crate::worker;

/// Virtual users at work. Dropping it stops them.
#[derive(Debug)]
pub struct Run {
    stop: Arc<AtomicBool>,
    snapshot: Arc<Mutex<Snapshot>>,
    outcome: Arc<Outcome>,
    supervisor: Option<JoinHandle<()>>,
    folder: PathBuf,
    announcements: Arc<Announcements>,
    /// By group and number.
    barriers: Vec<Arc<Vec<Barrier>>>,
    watch: Arc<Watch>,
}

/// The end of a run, once it is there.
#[derive(Debug, Default)]
struct Outcome {
    ended: Mutex<Option<Result<(), RunError>>>,
    changed: Condvar,
}

/// Time from the call to the start, in which all threads get ready.
const HEAD_START: Duration = Duration::from_millis(50);

impl Run {
    /// Starts: opens the folder, starts the threads, returns.
    ///
    /// # Errors
    /// When the folder cannot be written or the spec cannot be played.
    pub fn start(spec: RunSpec, scripts: &Scripts, folder: &Path) -> Result<Self, RunError> {
        let spec = Arc::new(spec);
        let start_at = spec.start_at.unwrap_or(clock::now() + HEAD_START);
        let layout = Arc::new(RunLayout::new(&spec, scripts, start_at)?);
        let announcements = Arc::new(Announcements::new(layout.schedule.clone()));
        let watch = Arc::<Watch>::default();
        let setup = RecorderSetup { shows_series: Arc::clone(&watch.shows_series), ..layout.setup(&spec) };
        let (recorder, handles) = Recorder::start(folder, setup)?;
        let barriers = layout.groups.iter().map(|group| Arc::clone(&group.barriers)).collect();
        let (cast, tap) = CastWriter::start(&spec, &layout.groups, start_at, folder)?.unzip();
        let snapshot = recorder.view();
        let stop = Arc::new(AtomicBool::new(false));
        let memory = Arc::new(MemoryMeter::begin());
        let mut threads = Vec::new();
        for (number, handle) in handles.into_iter().enumerate() {
            let (spec, layout) = (spec.clone(), layout.clone());
            let stop = StopGuard { stop: Arc::clone(&stop), needed: true };
            let (memory, announcements, watch) = (Arc::clone(&memory), Arc::clone(&announcements), Arc::clone(&watch));
            let parts = WorkerParts { number, handle, tap: tap.clone(), memory, announcements, watch };
            let drive = move || drive(spec, &layout, parts, stop);
            let spawned = thread::Builder::new().name(format!("cuesta-driver-{number}")).spawn(drive);
            // If a spawn fails, its `StopGuard` is dropped and stops the threads already started.
            threads.push(spawned?);
        }
        drop(tap); // each thread has one of its own
        let outcome = Arc::<Outcome>::default();
        let (reported, announced) = (Arc::clone(&outcome), Arc::clone(&announcements));
        let supervisor = thread::Builder::new().name("cuesta-supervisor".into()).spawn(move || {
            let result = finish(threads, recorder, cast, || memory.per_user(announced.newest().users_of_agent(&spec)));
            *reported.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            reported.changed.notify_all();
        })?;
        let folder = folder.to_owned();
        Ok(Self { stop, snapshot, outcome, supervisor: Some(supervisor), folder, announcements, barriers, watch })
    }

    /// Changes the schedule of a run whose steps are announced. All threads apply the change at one instant if it is two seconds
    /// ahead of them.
    ///
    /// # Errors
    /// When the change does not follow on the schedule, or the folder cannot be written.
    pub fn announce(&self, announcement: Announcement) -> Result<(), RunError> {
        let is_cut = announcement.cut.is_some();
        let schedule = self.announcements.announce(announcement)?;
        if is_cut {
            self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).follow(&schedule.timeline);
        }
        Ok(AgentFolder::write_timeline(&self.folder, &schedule.timeline)?)
    }

    /// The state now.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the end, at most `timeout`; says whether the run has ended.
    ///
    /// # Errors
    /// When the run failed.
    pub fn wait(&self, timeout: Duration) -> Result<bool, RunError> {
        let ended = self.outcome.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let (ended, _) = self
            .outcome
            .changed
            .wait_timeout_while(ended, timeout, |ended| ended.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        ended.clone().transpose().map(|ended| ended.is_some())
    }

    /// Whether users wait at barriers for users of other agents. Then the engine must be told who has arrived.
    pub fn shares_barriers(&self) -> bool {
        self.barriers.iter().flat_map(|of_group| of_group.iter()).any(Barrier::is_shared)
    }

    /// The barriers whose state has changed since the last call.
    pub fn changed_barriers(&self) -> Vec<BarrierStatus> {
        let of_group = |(group, barriers): (usize, &Arc<Vec<Barrier>>)| {
            let numbered = barriers.iter().enumerate();
            numbered.filter_map(|(number, barrier)| barrier.status_if_changed(group, number)).collect::<Vec<_>>()
        };
        self.barriers.iter().enumerate().flat_map(of_group).collect()
    }

    /// Lets the users at a barrier go on: all users of all agents have arrived.
    pub fn release(&self, release: &BarrierRelease) {
        let barrier = self.barriers.get(release.group).and_then(|of_group| of_group.get(release.barrier));
        if let Some(barrier) = barrier {
            barrier.release(release.round, release.go_on);
        }
    }

    /// Shows what an order says from now on, and nothing else. Users of other agents are left out.
    pub fn watch(&self, order: WatchOrder) {
        self.watch.shows_series.store(order.series, Ordering::Relaxed);
        self.watch.choose(order.users);
    }

    /// Has users who have not started wait, or start.
    pub fn hold_starts(&self, hold: bool) {
        self.watch.holds_starts.store(hold, Ordering::Relaxed);
    }

    /// What the screens show of the users that are looked at. One that has no line has no screen.
    pub fn screens(&self) -> Vec<UserScreen> {
        self.watch.screens()
    }

    /// Asks it to end now; what was measured is kept.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
        if let Some(supervisor) = self.supervisor.take() {
            let _ = supervisor.join();
        }
    }
}

/// What all threads agree on.
pub(crate) struct RunLayout {
    pub(crate) schedule: Schedule,
    pub(crate) series_names: SeriesNames,
    pub(crate) groups: Vec<Group>,
}

impl RunLayout {
    pub(crate) fn new(spec: &RunSpec, scripts: &Scripts, start_at: Stamp) -> Result<Self, RunError> {
        check(spec)?;
        let mut series_names = SeriesNames::default();
        let mut groups = Vec::new();
        for (number, group) in spec.groups.iter().enumerate() {
            let no_script = || RunError::Plan(format!("no script is called `{}`", group.script));
            let script = scripts.get(&group.script).ok_or_else(no_script)?;
            groups.push(Group::new(spec, number, script, start_at, &mut series_names)?);
        }
        let is_open = spec.most_users.is_some() && !spec.may_be_cut;
        let schedule = if is_open { Schedule::open(spec, start_at) } else { Schedule::new(spec, start_at) };
        Ok(Self { schedule, series_names, groups })
    }

    fn setup(&self, spec: &RunSpec) -> RecorderSetup {
        RecorderSetup {
            timeline: self.schedule.timeline.clone(),
            started_wall: spec.started_wall.unwrap_or_else(clock::wall),
            series_names: self.series_names.clone(),
            threads: spec.threads as usize,
            log_transactions: spec.log_transactions,
            log_keys: spec.log_keys,
            follows: spec.groups.iter().any(|group| group.path > 0),
            agent: spec.agent,
            shows_series: Arc::default(),
        }
    }
}

fn check(spec: &RunSpec) -> Result<(), RunError> {
    let wrong = |what: &str| Err(RunError::Plan(what.into()));
    if spec.threads == 0 || spec.agents == 0 || spec.agent >= spec.agents {
        return wrong("a run needs at least one thread and one agent, numbered from 0");
    }
    if (0..spec.groups.len())
        .map(|group| spec.agents_of(group))
        .any(|agents| agents.is_empty() || agents.end > spec.agents)
    {
        return wrong("every group is played by at least one agent of the run");
    }
    if spec.steps.is_empty() || spec.steps.iter().any(|step| step.groups.len() != spec.groups.len()) {
        return wrong("every step says what every group does, and there is at least one");
    }
    if spec.most_users.as_ref().is_some_and(|most| most.len() != spec.groups.len() || spec.steps.len() != 1) {
        return wrong(
            "a run to which steps are added begins with one step, and says how many users each group may have",
        );
    }
    Ok(())
}

/// Stops all threads when it is dropped, unless `needed` was cleared because the thread completed.
struct StopGuard {
    stop: Arc<AtomicBool>,
    needed: bool,
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.stop.fetch_or(self.needed, Ordering::Relaxed);
    }
}

/// What each driving thread owns.
struct WorkerParts {
    number: usize,
    handle: RecorderHandle,
    tap: Option<CastTap>,
    memory: Arc<MemoryMeter>,
    announcements: Arc<Announcements>,
    watch: Arc<Watch>,
}

/// Runs one driving thread; says whether it completed. If it fails, all threads stop.
fn drive(spec: Arc<RunSpec>, layout: &RunLayout, parts: WorkerParts, mut stop: StopGuard) -> Result<bool, RunError> {
    let WorkerParts { number, handle, tap, memory, announcements, watch } = parts;
    if let Some(cpu) = spec.cpus.as_ref().and_then(|cpus| cpus.get(number % cpus.len().max(1))) {
        let mut set = CpuSet::new();
        set.set(*cpu);
        sched_setaffinity(None, &set).map_err(|error| RunError::Io(format!("CPU {cpu}: {error}")))?;
    }
    if spec.priority {
        priority::go_first();
    }
    let connect = with_tap(connect_to_targets(&spec, &layout.groups)?, tap);
    let (schedule, groups) = (layout.schedule.clone(), layout.groups.clone());
    let thread = u32::try_from(number).unwrap_or(0);
    let stopped = Arc::clone(&stop.stop);
    let completed = clock::run(Time::Real, async move {
        clock::wait_as_driver();
        let shared = ThreadState::new(spec, schedule, groups, connect, memory).watched_by(watch);
        worker::run_thread(Rc::new(shared), thread, handle, stopped, announcements).await
    })?;
    // When a run has ended, so have the programs that it started.
    cuesta_lines::wait_for_ended_programs();
    stop.needed = !completed;
    Ok(completed)
}

/// Waits for all threads, then for the writers.
fn finish(
    threads: Vec<JoinHandle<Result<bool, RunError>>>,
    recorder: Recorder,
    cast: Option<CastWriter>,
    rss_per_user: impl FnOnce() -> Option<u64>,
) -> Result<(), RunError> {
    let mut completed = true;
    let mut failure = None;
    for thread in threads {
        match thread.join() {
            Ok(Ok(thread_completed)) => completed &= thread_completed,
            Ok(Err(error)) => failure = Some(error),
            Err(panic) => failure = Some(RunError::Failed(panic_message(&*panic))),
        }
    }
    let ended = match (&failure, completed) {
        (Some(_), _) => "failed",
        (None, true) => "completed",
        (None, false) => "interrupted",
    };
    let reason = failure.as_ref().map(ToString::to_string);
    // When a run has ended, web terminals have nothing left of it.
    let left_behind = cuesta_lines::wait_for_removals();
    recorder.finish(&AgentEnd { ended, reason, rss_per_user: rss_per_user(), left_behind })?;
    cast.map_or(Ok(()), CastWriter::finish)?;
    failure.map_or(Ok(()), Err)
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}

/// Plays a run on this thread in virtual time, over lines that the caller opens, with announcements that are made some time after the
/// start. Exact and reproducible.
///
/// # Errors
/// As [`Run::start`]; and when the run failed.
pub fn simulate(
    spec: RunSpec,
    scripts: &Scripts,
    folder: &Path,
    connect: Connect,
    announced: Vec<(Duration, Announcement)>,
) -> Result<(), RunError> {
    let spec = Arc::new(spec);
    let scripts = scripts.clone();
    let folder = folder.to_owned();
    let thread = 0;
    clock::run(Time::Virtual, async move {
        let layout = RunLayout::new(&spec, &scripts, clock::now())?;
        let (recorder, mut handles) = Recorder::start(&folder, layout.setup(&spec))?;
        let memory = Arc::new(MemoryMeter::begin());
        let announcements = Arc::new(Announcements::new(layout.schedule.clone()));
        let (announced_to, path, start_at) =
            (Arc::clone(&announcements), folder.clone(), layout.schedule.timeline.start_at);
        tokio::task::spawn_local(async move {
            for (delay, announcement) in announced {
                clock::sleep_until(start_at + delay).await;
                let schedule = announced_to.announce(announcement).expect("it follows on the schedule");
                AgentFolder::write_timeline(&path, &schedule.timeline).expect("the folder can be written");
            }
        });
        let shared = ThreadState::new(spec, layout.schedule, layout.groups, connect, memory);
        let handle = handles.remove(0);
        worker::run_thread(Rc::new(shared), thread, handle, Arc::default(), announcements).await;
        drop(handles);
        recorder.finish(&AgentEnd { ended: "completed", reason: None, rss_per_user: None, left_behind: Vec::new() })?;
        Ok(())
    })?
}
