//! Hard cases for meters: CPUs that go on- and offline, counters that wrap, subjects that end, ten thousand processes. The
//! tests write the kernel's files themselves, so every tick is known.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::fs;
use std::path::Path;

use cuesta_meters::{CounterSnapshot, Delta, Incomparable, MeterReport, Roots, Subject};
use tempfile::TempDir;

/// A folder with simulated files of the kernel.
struct Machine {
    folder: TempDir,
    roots: Roots,
}

impl Machine {
    fn new() -> Self {
        let memory = Path::new("/dev/shm"); // in memory, as /proc is: ten thousand processes are then written quickly
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        let machine = Self { folder, roots };
        machine.put("proc/sys/kernel/random/boot_id", "one\n");
        machine.cpus(&[(0, 0), (1, 0)]);
        machine
    }

    fn put(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Sets the CPUs with their busy ticks; each also has a thousand idle ticks.
    fn cpus(&self, cpus: &[(usize, u64)]) {
        let rows: Vec<_> = cpus.iter().map(|(cpu, busy)| format!("cpu{cpu} {busy} 0 0 1000 0 0 0 0 0 0\n")).collect();
        let rows = rows.concat();
        self.put("proc/stat", &format!("{rows}intr 5\nctxt 7\nprocesses 3\nprocs_running 1\nprocs_blocked 0\n"));
    }

    fn process(&self, pid: u32, parent: u32, ticks: u64, child_ticks: u64) {
        let stat = format!(
            "{pid} (a b) c) S {parent} 1 1 0 -1 0 {ticks} {child_ticks} 0 0 {ticks} 0 {child_ticks} 0 20 0 1 0 9 0 0"
        );
        self.put(&format!("proc/{pid}/stat"), &stat);
    }

    fn end(&self, pid: u32) {
        fs::remove_dir_all(self.roots.proc.join(pid.to_string())).unwrap();
    }

    fn read(&self, subject: &str) -> CounterSnapshot {
        CounterSnapshot::take(&self.roots, &subject.parse().unwrap())
    }

    fn report(&self, subject: &str, change: impl FnOnce()) -> MeterReport {
        let earlier = self.read(subject);
        change();
        Delta::compare(&earlier, &self.read(subject)).unwrap().report()
    }
}

#[test]
fn a_cpu_that_went_on_or_offline_is_left_out_and_named() {
    let machine = Machine::new();
    machine.cpus(&[(0, 10), (1, 10), (3, 10)]);
    let report = machine.report("machine", || machine.cpus(&[(0, 30), (2, 900), (3, 10)]));
    assert_eq!(report.cpus, [0, 3]);
    assert_eq!(report.cpu.usr.value(), Some(&100.0));
    assert_eq!(report.notes, ["CPU 1-2 came or went: it is left out"]);
    assert_eq!(report.per_cpu[&3].usr.why(), Some("no clock tick passed in the interval"));
}

#[test]
fn only_the_subjects_cpus_count_but_soft_interrupts_of_all() {
    let machine = Machine::new();
    let cpus = |one: u64, two: u64| {
        let rest = "intr 5\nctxt 7\nprocesses 3\nprocs_running 1\nprocs_blocked 0\n";
        machine
            .put("proc/stat", &format!("cpu0 {one} 0 0 0 0 0 {one} 0 0 0\ncpu1 0 0 0 {two} 0 0 {two} 0 0 0\n{rest}"));
    };
    cpus(0, 0);
    let report = machine.report("cpus:0", || cpus(30, 10));
    assert_eq!((&report.cpus[..], report.beside.keys().collect::<Vec<_>>()), (&[0][..], vec![&1]));
    assert_eq!((report.cpu.irq.value(), report.beside[&1].idle.value()), (Some(&50.0), Some(&50.0)));
    let (seconds, percent) = (report.network.seconds.value().unwrap(), report.network.percent.value().unwrap());
    assert!((seconds - 0.4).abs() < 1e-9, "expected 30 + 10 ticks: {seconds}");
    assert!(
        (percent / 100.0 * report.seconds * 2.0 - seconds).abs() < 1e-9,
        "expected percent of both CPUs: {percent}"
    );
    assert!(report.network.in_subject.why().unwrap().contains("sampled"));
}

#[test]
fn without_a_cpu_online_throughout_there_is_no_figure() {
    let machine = Machine::new();
    machine.cpus(&[(1, 10)]);
    let report = machine.report("machine", || machine.cpus(&[(0, 30)]));
    assert!(report.cpu.idle.value().is_none() && !report.closure.closes);
}

#[test]
fn a_counter_that_wraps_continues_and_one_that_is_set_back_is_absent() {
    let machine = Machine::new();
    let device = |reads: u64, busy: u64| format!("8 0 sda {reads} 0 800 {busy} 0 0 0 0 0 {busy} {busy} 0 0 0 0 0 0\n");
    machine.put("proc/diskstats", &device(100, u64::from(u32::MAX) - 99));
    machine.put("proc/vmstat", "pgfault 1000000\npgmajfault 10\n");
    let report = machine.report("machine", || {
        machine.put("proc/diskstats", &device(110, 100));
        machine.put("proc/vmstat", "pgfault 20\npgmajfault 4\n");
    });
    let sda = &report.devices["sda"];
    assert_eq!(sda.reads.count, 10);
    assert!((sda.service.value().unwrap() - 0.02).abs() < 1e-9, "200 ms for 10 reads: {:?}", sda.service);
    assert_eq!(report.counts.minor_faults.why(), Some("the counter was set back meanwhile"));
}

#[test]
fn an_interface_is_busy_in_its_busier_direction_if_it_has_a_speed() {
    let machine = Machine::new();
    let carried = |received: u64, sent: u64| {
        let row = |name| format!("{name}: {received} 10 0 1 0 0 0 0 {sent} 20 0 2 0 0 0 0\n");
        machine.put("proc/net/dev", &["\n\n".to_owned(), row("eth0"), row("veth0"), row("lo")].concat());
    };
    machine.put("sys/class/net/eth0/speed", "1000\n");
    machine.put("sys/class/net/veth0/speed", "-1\n");
    carried(1_000, 2_000);
    let report = machine.report("machine", || carried(3_000, 7_000));
    assert_eq!(report.interfaces.keys().collect::<Vec<_>>(), ["eth0", "veth0"]);
    let eth0 = &report.interfaces["eth0"];
    let sent = 100.0 * 5_000.0 / report.seconds / 125e6;
    assert!((eth0.busy.value().unwrap() / sent - 1.0).abs() < 1e-9, "{:?}, sent {sent}", eth0.busy);
    assert_eq!((eth0.received.count, eth0.dropped.count), (0, 0));
    assert!(report.interfaces["veth0"].busy.why().unwrap().contains("no speed"));
}

#[test]
fn a_subject_that_ends_leaves_a_reason_and_the_machines_figures() {
    let machine = Machine::new();
    machine.process(7, 1, 100, 0);
    let report = machine.report("pid:7", || {
        machine.end(7);
        machine.cpus(&[(0, 50), (1, 0)]);
    });
    assert_eq!(report.own.seconds.why(), Some("process 7 has ended"));
    assert_eq!(report.cpu.usr.value(), Some(&100.0));
    assert_eq!(machine.read("pid:7").absence().as_deref(), Some("no such process"));
}

#[test]
fn the_time_table_of_a_process_lists_others_separately() {
    let machine = Machine::new();
    machine.process(7, 1, 0, 0);
    let earlier = machine.read("pid:7");
    machine.cpus(&[(0, 100), (1, 100)]);
    machine.process(7, 1, 1, 0);
    let shown = |report: &MeterReport, name: &str| {
        let row = report.total_time.iter().find(|row| row.name == name);
        row.map(|row| row.percent.clone())
    };
    let since = || Delta::compare(&earlier, &machine.read("pid:7")).unwrap().report();
    let living = since();
    assert_eq!(shown(&living, "user, by ticks").as_ref(), Some(&living.own.usr));
    assert_eq!(shown(&living, "others and interrupts").as_ref(), Some(&living.own.others));
    assert_eq!(shown(&living, "user"), None);
    machine.end(7);
    let ended = since();
    for name in ["page faults", "user, by ticks", "system, by ticks", "others and interrupts"] {
        assert_eq!(shown(&ended, name).unwrap().why(), Some("process 7 has ended"), "{name}");
    }
}

#[test]
fn interrupt_pressure_shows_that_the_kernel_times_interrupts_separately() {
    let machine = Machine::new();
    machine.process(7, 1, 0, 0);
    let beside = |ticks| {
        let report = machine.report("pid:7", || machine.cpus(&[(0, ticks), (1, ticks)]));
        let names = report.total_time.iter().map(|row| row.name.clone());
        (names.filter(|name| name.contains("others") || name.contains("interrupts")).collect::<Vec<_>>(), report)
    };
    let (names, mingled) = beside(100);
    assert_eq!(names, ["others and interrupts"]);
    assert!(mingled.own.irq.why().unwrap().contains("the sampled tier does"));
    assert!(!mingled.pressure.contains_key("irq_full"), "a figure that the kernel does not have is left out");
    machine.put("proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
    let (names, apart) = beside(200);
    assert_eq!(names, ["others on these CPUs", "interrupts beside it"]);
    assert_eq!(apart.pressure["irq_full"].value(), Some(&0.0));
}

#[test]
fn a_process_counts_with_its_short_lived_children() {
    let machine = Machine::new();
    machine.process(1, 0, 0, 0);
    machine.process(7, 1, 100, 0);
    machine.process(8, 7, 30, 0);
    machine.process(9, 8, 5, 0);
    let report = machine.report("pid:7", || {
        machine.end(9);
        machine.process(8, 7, 32, 9); // process 9 ran for four more ticks, and its parent waited for it
        machine.process(7, 1, 101, 0);
    });
    assert_eq!(report.counts.minor_faults.value().unwrap().count, 2 + 4 + 1);
    assert_eq!(report.own.processes.value(), Some(&2.0));
}

#[test]
fn only_the_programs_of_a_driver_are_metered() {
    let machine = Machine::new();
    machine.process(7, 1, 5000, 0);
    machine.process(8, 7, 30, 0);
    let report = machine.report("children:7", || {
        machine.process(7, 1, 9000, 33); // process 8 ran for three more ticks, and its parent waited for it
        machine.end(8);
        machine.process(10, 1, 77, 0);
    });
    assert_eq!(report.counts.minor_faults.value().unwrap().count, 3);
}

#[test]
fn snapshots_of_two_boots_or_two_subjects_do_not_compare() {
    let machine = Machine::new();
    let earlier = machine.read("machine");
    let other = machine.read("cpus:0");
    assert_eq!(
        Delta::compare(&earlier, &other).unwrap_err(),
        Incomparable::Subjects(Subject::Machine, Subject::Cpus(vec![0]))
    );
    assert_eq!(Delta::compare(&other, &other).unwrap_err(), Incomparable::Order);
    machine.put("proc/sys/kernel/random/boot_id", "two\n");
    assert_eq!(Delta::compare(&earlier, &machine.read("machine")).unwrap_err(), Incomparable::Boots);
}

#[test]
fn ten_thousand_processes_are_read_and_too_many_threads_are_reported() {
    let machine = Machine::new();
    machine.process(1, 0, 0, 0);
    let ticks =
        |ticks| (2..10_002).for_each(|pid| machine.process(pid, if pid % 2 == 0 { 1 } else { pid - 1 }, ticks, 0));
    ticks(10);
    let report = machine.report("pid:1", || ticks(11));
    assert_eq!(report.own.processes.value(), Some(&10_001.0));
    assert_eq!(report.counts.minor_faults.value().unwrap().count, 10_000);
    assert!(report.traffic.run_delay.why().unwrap().contains("too many threads"));
    assert!(report.notes.iter().any(|note| note.starts_with("its 10001 processes")), "{:?}", report.notes);
    println!("reading 10,001 processes took {:?} s of CPU", report.cost.value());
}

#[test]
fn control_groups_of_both_versions() {
    let machine = Machine::new();
    machine.put("sys/fs/cgroup/unified/cgroup.controllers", "");
    let group = |usage: u64, barred: u64| {
        machine.put(
            "sys/fs/cgroup/unified/jobs/cpu.stat",
            &format!("usage_usec {usage}\nuser_usec {usage}\nsystem_usec 0\n"),
        );
        let v1 = format!("nr_periods 10\nnr_throttled 2\nthrottled_time {barred}\n");
        machine.put("sys/fs/cgroup/cpu/jobs/cpu.stat", &v1);
    };
    machine.put("sys/fs/cgroup/cpu/tasks", "");
    machine.put("sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us", "50000\n");
    machine.put("sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us", "100000\n");
    machine.put("sys/fs/cgroup/unified/jobs/cgroup.procs", "7\n");
    machine.put("sys/fs/cgroup/unified/jobs/below/cgroup.procs", "8\n");
    machine.process(7, 1, 10, 0);
    machine.process(8, 7, 10, 0);
    group(0, 0);
    for path in ["/jobs", "jobs", machine.roots.sys.join("fs/cgroup/unified/jobs").to_str().unwrap()] {
        let subject = format!("cgroup:{path}");
        group(0, 0);
        let report = machine.report(&subject, || group(250_000, 40_000_000));
        assert_eq!(report.own.seconds.value(), Some(&0.25), "{path}");
        assert_eq!(report.own.processes.value(), Some(&2.0), "{path}");
        assert_eq!(report.idle.quota.value(), Some(&0.5), "{path}");
        let barred = report.idle.throttled.value().unwrap() / 100.0 * report.seconds * 2.0;
        assert!((barred - 0.04).abs() < 1e-6, "{barred}");
    }
}

#[test]
fn unreadable_files_leave_reasons_and_never_zeros() {
    let machine = Machine::new();
    let report = machine.report("machine", || machine.cpus(&[(0, 10), (1, 30)]));
    assert_eq!(report.cpu.load.value(), Some(&100.0));
    assert!(report.counts.major_faults.why().unwrap().contains("vmstat"));
    assert!(report.pressure.values().all(|figure| figure.value().is_none()));
    let (file, why) = report.traffic.load_average.why().unwrap().split_once(": ").unwrap();
    assert!(Path::new(file).starts_with(&machine.roots.proc) && why == "this kernel has no such file", "{file}: {why}");
}
