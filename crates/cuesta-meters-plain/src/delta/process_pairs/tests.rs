use cuesta_record::Stamp;

use super::*;
use crate::kernel::pid_stat::PidStat;

const TICK: u64 = 10_000_000;

fn one(begun: u64, user: u64, child_user: u64) -> Process {
    let stat = PidStat { start: begun, user, child_user, minor: user, child_minor: child_user, ..PidStat::default() };
    Process { stat, threads: BTreeMap::new(), at: None }
}

fn child(parent: u32, process: Process) -> Process {
    Process { stat: PidStat { parent, ..process.stat }, ..process }
}

fn tasks<const N: usize>(at: u64, processes: [(u32, Process); N]) -> Tasks {
    Tasks {
        at: Stamp::from_nanos(at),
        processes: BTreeMap::from(processes),
        reapers: BTreeMap::new(),
        others: BTreeMap::new(),
        threads: true,
    }
}

fn cpu(a: &Tasks, b: &Tasks) -> u64 {
    delta(a, b, a.at.as_nanos()).usage.cpu / TICK
}

fn delta(a: &Tasks, b: &Tasks, begun: u64) -> TaskDelta {
    ProcessPairs::new(TaskSide::subject(a), TaskSide::subject(b), begun).delta(None)
}

#[test]
fn an_orphan_of_the_subject_that_init_waited_for_counts_on_one_side() {
    // Processes that the kernel's helper began descend from kthreadd, 2, but their orphans go to init too.
    for ancestor in [1, 2] {
        let at = |time: u64, waited: u64| Tasks {
            others: BTreeMap::from([(1, one(1, 0, waited)), (2, one(1, 0, 0)), (5, child(ancestor, one(2, 0, 0)))]),
            ..tasks(time * TICK, [(7, child(5, one(5, 10, 0)))])
        };
        let (a, b) = (at(1000, 0), at(1100, 22)); // a grandchild of process 7 began, lost its parent and ended with 22 ticks
        let processes = ProcessUsage { cpu: 22 * TICK, ..ProcessUsage::default() };
        let seen = |processes| Some(ExitDelta { seconds: 1.0, tasks: TaskTotals::default(), processes });
        let begun = a.at.as_nanos();
        let subject = ProcessPairs::new(TaskSide::subject(&a), TaskSide::subject(&b), begun).delta(seen(processes));
        let others = ProcessPairs::new(TaskSide::others(&a), TaskSide::others(&b), begun);
        assert_eq!((subject.usage.cpu / TICK, others.delta(seen(ProcessUsage::default())).usage.cpu), (22, 0));
        assert_eq!(others.delta(None).usage.cpu / TICK, 22, "without a listener nobody knows whose it was");
    }
}

#[test]
fn orphans_that_a_subject_with_all_processes_waited_for_count() {
    let a = tasks(1000 * TICK, [(1, one(1, 0, 0)), (7, child(1, one(5, 10, 0)))]);
    let b = tasks(1100 * TICK, [(1, one(1, 0, 22)), (7, child(1, one(5, 10, 0)))]);
    let ended = ExitDelta { seconds: 1.0, tasks: TaskTotals::default(), processes: ProcessUsage::default() };
    let pairs = ProcessPairs::new(TaskSide::subject(&a), TaskSide::subject(&b), a.at.as_nanos());
    assert_eq!(pairs.delta(Some(ended)).usage.cpu / TICK, 22);
}

#[test]
fn a_process_that_was_read_late_has_an_interval_of_its_own() {
    let at = |ticks: u64, process: Process| Process { at: Some(Stamp::from_nanos(ticks * TICK)), ..process };
    let a = tasks(1000 * TICK, [(1, at(1000, one(5, 10, 0))), (2, at(1000, one(6, 0, 0)))]);
    // Each uses half a CPU. The second one is read 20 ticks after the first one, and has used 10 more.
    let b = tasks(1100 * TICK, [(1, at(1100, one(5, 60, 0))), (2, at(1120, one(6, 60, 0)))]);
    let delta = delta(&a, &b, 0);
    assert_eq!(delta.usage.cpu / TICK, 110);
    assert!((delta.usage.cpu as f64 / 1e9 / delta.seconds - 1.0).abs() < 1e-9, "{delta:?}");
}

#[test]
fn a_process_id_that_is_used_again_is_another_one() {
    let a = tasks(1000 * TICK, [(1, one(5, 0, 0)), (2, child(1, one(6, 40, 0)))]);
    let b = tasks(1100 * TICK, [(1, one(5, 0, 40)), (2, child(1, one(1050, 3, 0)))]);
    assert_eq!(cpu(&a, &b), 3);
}

#[test]
fn a_process_that_joins_late_counts_from_then_on() {
    let a = tasks(1000 * TICK, [(1, one(5, 0, 0))]);
    let b = tasks(1100 * TICK, [(1, one(5, 2, 0)), (9, one(700, 500, 500))]);
    assert_eq!(cpu(&a, &b), 2);
}

#[test]
fn orphans_that_another_process_waited_for_never_make_a_count_negative() {
    let a = tasks(1000 * TICK, [(1, one(5, 0, 0)), (2, child(1, one(6, 400, 0)))]);
    let b = tasks(1100 * TICK, [(1, one(5, 4, 3))]);
    assert_eq!(cpu(&a, &b), 4);
}

#[test]
fn a_process_that_leaves_alive_takes_no_time_from_ended_ones() {
    let a = tasks(1000 * TICK, [(11, one(5, 0, 0)), (2, child(11, one(6, 1, 0))), (3, child(2, one(7, 400, 0)))]);
    // Process 2 ends, so 3 becomes a child of init and lives on; process 4 begins and ends with 206 ticks.
    let b = tasks(1100 * TICK, [(11, one(5, 0, 1 + 206))]);
    let left = |begun| Tasks { others: BTreeMap::from([(3, one(begun, 0, 0))]), ..b.clone() };
    assert_eq!(cpu(&a, &left(7)), 206);
    assert_eq!(delta(&a, &left(7), 0).usage.minor, 206);
    // A child of the process that left is not in this account either.
    let mut a = a;
    a.processes.insert(5, child(3, one(7, 300, 0)));
    assert_eq!(cpu(&a, &left(7)), 206);
    // Another process has its id now, so it ended too.
    assert_eq!(cpu(&a, &left(1050)), 0);
}

#[test]
fn a_process_without_a_parent_in_the_subject_takes_no_time_from_its_children() {
    let daemon = |begun| child(1, one(begun, 400, 0));
    let a = tasks(1000 * TICK, [(7, one(5, 0, 0)), (8, daemon(6)), (9, child(9, one(6, 300, 0)))]);
    let b = tasks(1100 * TICK, [(7, one(5, 0, 30))]);
    assert_eq!(cpu(&a, &b), 30);
}

#[test]
fn last_accounts_cover_processes_that_no_parent_waits_for() {
    let a = tasks(1000 * TICK, [(1, one(5, 10, 0)), (2, child(1, one(6, 40, 0)))]);
    // Process 2 runs for 5 ticks more and ends; processes 3 and 4 begin and end with 7 and 9. No parent waits for any of
    // them.
    let b = tasks(1100 * TICK, [(1, one(5, 11, 0))]);
    let reported = |ticks: u64| ExitDelta {
        seconds: 1.0,
        processes: ProcessUsage { cpu: ticks * TICK, ..ProcessUsage::default() },
        ..ExitDelta::default()
    };
    let delta = |ended| {
        ProcessPairs::new(TaskSide::subject(&a), TaskSide::subject(&b), a.at.as_nanos()).delta(ended).usage.cpu / TICK
    };
    assert_eq!((delta(None), delta(Some(reported(45 + 7 + 9)))), (1, 1 + 5 + 7 + 9));
}

#[test]
fn an_orphan_that_init_waits_for_counts_once() {
    let others = |at, processes: &[(u32, Process)]| Tasks {
        others: processes.iter().cloned().collect(),
        ..tasks(at, [(7, one(5, 0, 0))])
    };
    // Process 3 ends and init inherits its child, which ends too.
    let born =
        [(1, one(1, 5, 0)), (2, child(1, one(6, 1, 0))), (3, child(2, one(7, 2, 0))), (4, child(3, one(8, 400, 0)))];
    let a = others(1000 * TICK, &born);
    let b = others(1100 * TICK, &[(1, one(1, 6, 403)), (2, child(1, one(6, 1, 2)))]);
    let delta = ProcessPairs::new(TaskSide::others(&a), TaskSide::others(&b), a.at.as_nanos()).delta(None);
    assert_eq!(delta.usage.cpu / TICK, 1 + 3);
}

#[test]
fn work_of_others_is_not_the_subjects() {
    let both = |at, subject: Process, others: [(u32, Process); 2]| Tasks {
        others: BTreeMap::from(others),
        ..tasks(at, [(10, child(1, subject))])
    };
    let a = both(1000 * TICK, one(5, 10, 0), [(1, one(1, 100, 30)), (2, child(1, one(1, 7, 0)))]);
    // Process 1 waits for a child that left the subject, process 2 for one of its own.
    let b = both(1100 * TICK, one(5, 40, 0), [(1, one(1, 103, 80)), (2, child(1, one(1, 9, 4)))]);
    let delta = ProcessPairs::new(TaskSide::others(&a), TaskSide::others(&b), a.at.as_nanos()).delta(None);
    assert_eq!(delta.usage.cpu / TICK, 3 + 2 + 4);
}

#[test]
fn threads_are_exact_until_one_has_ended() {
    let with = |user, runs: &[u64]| {
        let threads = runs.iter().enumerate().map(|(tid, run)| {
            let sched = crate::kernel::schedstat::SchedStat { run: *run, wait: run / 10, slices: 1 };
            (tid as u32, Thread { sched, switches: Some((2, 1)) })
        });
        Process { threads: threads.collect(), ..one(5, user, 0) }
    };
    assert_eq!(with(5, &[31_234_567, 22_000_000]).cpu(), 53_234_567);
    // A thread that ran for 26.6 ms has ended.
    assert_eq!(with(2, &[612_345]).cpu(), 2 * TICK);
    assert_eq!(with(500, &[31_234_567]).cpu(), 500 * TICK);
    let (a, b) = (tasks(0, [(1, with(1, &[1000, 0]))]), tasks(TICK, [(1, with(1, &[5000, 2000]))]));
    let threads = delta(&a, &b, 0).threads.unwrap();
    assert_eq!(threads, TaskTotals { wait: 600, ..TaskTotals::default() });
}
