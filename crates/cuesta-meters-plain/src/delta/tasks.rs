//! What tasks did between two snapshots: CPU time, page faults and waits, of the subject's tasks and of all others, by the same
//! clocks. Short-lived tasks are included as far as the kernel reports them.

use cuesta_meters_report::Figure;

use super::process_pairs::{ProcessPairs, TaskSide};
use crate::CounterSnapshot;
use crate::kernel::taskstats::{ProcessUsage, TaskTotals};
use crate::snapshot::tasks::Tasks;
use crate::task_exits::{ExitTotals, SideTotals};

/// CPU time, faults and waits of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct TaskDelta {
    /// The interval in which the CPU time was used.
    pub(crate) seconds: f64,
    pub(crate) usage: ProcessUsage,
    /// Time that tasks waited for block devices; nanoseconds.
    pub(crate) block_delay: u64,
    /// Counters of threads, if these were read.
    pub(crate) threads: Option<TaskTotals>,
}

impl TaskDelta {
    pub(crate) fn thread_totals(&self) -> Figure<TaskTotals> {
        let many = || Figure::absent("there are too many threads to read each: name a control group");
        self.threads.map_or_else(many, Figure::plain)
    }
}

pub(crate) fn of_subject(earlier: &CounterSnapshot, later: &CounterSnapshot) -> Figure<TaskDelta> {
    of_side(earlier, later, |tasks| TaskSide::subject(tasks), |ended| ended.subject)
}

/// All tasks that are not the subject's. Without last accounts, short-lived ones are known only if their parent is unrelated to
/// the subject.
pub(crate) fn of_others(earlier: &CounterSnapshot, later: &CounterSnapshot) -> Figure<TaskDelta> {
    of_side(earlier, later, |tasks| TaskSide::others(tasks), |ended| ended.others)
}

fn of_side(
    earlier: &CounterSnapshot,
    later: &CounterSnapshot,
    side: impl Fn(&Tasks) -> TaskSide<'_>,
    totals: fn(&ExitTotals) -> SideTotals,
) -> Figure<TaskDelta> {
    let ended = ExitDelta::compare(earlier, later, totals);
    let begun = earlier.at.as_nanos();
    earlier.tasks.with(&later.tasks, |a, b| ProcessPairs::new(side(a), side(b), begun).delta(ended))
}

/// Whether a listener received births and exits during the whole interval.
pub(crate) fn listened_throughout(earlier: &CounterSnapshot, later: &CounterSnapshot) -> bool {
    ExitDelta::compare(earlier, later, |ended| ended.subject).is_some()
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
    fn compare(
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
