//! What tasks did between two snapshots: CPU time, page faults and waits, of the subject's tasks and of all others, by the same
//! clocks. Short-lived tasks are included as far as the kernel reports them.

use cuesta_meters_report::Figure;

use super::process_pairs::{ProcessPairs, TaskSide};
use crate::CounterSnapshot;
use crate::snapshot::tasks::Thread;
use crate::task_exits::{ExitTotals, ProcessUsage, SideTotals, TaskTotals};

/// CPU time, faults and waits of tasks. Times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct TaskDelta {
    /// The interval in which `cpu` was used.
    pub(crate) seconds: f64,
    pub(crate) cpu: u64,
    /// Split by ticks.
    pub(crate) user: u64,
    /// Split by ticks.
    pub(crate) system: u64,
    pub(crate) minor: u64,
    pub(crate) major: u64,
    /// Time that tasks waited for block devices.
    pub(crate) block_delay: u64,
    /// Counters of threads, if these were read.
    pub(crate) threads: Option<ThreadDelta>,
}

impl TaskDelta {
    pub(crate) fn of_threads(&self) -> Figure<ThreadDelta> {
        let many = || Figure::absent("there are too many threads to read each: name a control group");
        self.threads.map_or_else(many, Figure::plain)
    }
}

/// Counters that only threads' own files have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ThreadDelta {
    /// Time ready without a CPU.
    pub(crate) wait: u64,
    pub(crate) slices: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

pub(crate) fn of_subject(earlier: &CounterSnapshot, later: &CounterSnapshot) -> Figure<TaskDelta> {
    let ended = ExitDelta::of(earlier, later, |ended| ended.subject);
    let begun = earlier.at.as_nanos();
    earlier
        .tasks
        .with(&later.tasks, |a, b| ProcessPairs::of(TaskSide::subject(a), TaskSide::subject(b), begun).delta(ended))
}

/// All tasks that are not the subject's. Without last accounts, short-lived ones are known only if their parent is unrelated to
/// the subject.
pub(crate) fn of_others(earlier: &CounterSnapshot, later: &CounterSnapshot) -> Figure<TaskDelta> {
    let ended = ExitDelta::of(earlier, later, |ended| ended.others);
    let begun = earlier.at.as_nanos();
    earlier
        .tasks
        .with(&later.tasks, |a, b| ProcessPairs::of(TaskSide::others(a), TaskSide::others(b), begun).delta(ended))
}

/// Whether a listener received births and exits during the whole interval.
pub(crate) fn listened_throughout(earlier: &CounterSnapshot, later: &CounterSnapshot) -> bool {
    ExitDelta::of(earlier, later, |ended| ended.subject).is_some()
}

/// Tasks and processes that ended between two snapshots, with their work since they began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExitDelta {
    /// Time between the readings of the sums.
    pub(super) seconds: f64,
    pub(super) tasks: TaskTotals,
    pub(super) processes: ProcessUsage,
}

impl ExitDelta {
    /// None unless a listener ran during the whole interval and lost no message.
    fn of(
        earlier: &CounterSnapshot,
        later: &CounterSnapshot,
        side: impl Fn(&ExitTotals) -> SideTotals,
    ) -> Option<Self> {
        let (a, b) = (earlier.ended.value()?, later.ended.value()?);
        let is_whole = a.since == b.since && a.overruns == b.overruns;
        let seconds = b.at.since(a.at).as_secs_f64();
        is_whole.then(|| side(b).since(side(a))).map(|SideTotals { tasks, processes }| Self {
            seconds,
            tasks,
            processes,
        })
    }
}

impl ThreadDelta {
    pub(super) fn add(&mut self, before: Option<&Thread>, thread: &Thread) {
        let sched = before.map(|before| before.sched).unwrap_or_default();
        self.wait += thread.sched.wait.saturating_sub(sched.wait);
        self.slices += thread.sched.slices.saturating_sub(sched.slices);
        let earlier = before.and_then(|before| before.switches).unwrap_or_default();
        let (voluntary, involuntary) = thread.switches.unwrap_or_default();
        self.voluntary += voluntary.saturating_sub(earlier.0);
        self.involuntary += involuntary.saturating_sub(earlier.1);
    }
}
