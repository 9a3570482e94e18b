//! Idle by kind: why the subject did not run while a CPU had nothing to do.

use std::fs;
use std::path::Path;

use cuesta_meters::MeterReport;
use cuesta_meters::traced::Depth;

use super::program::{Group, Program, counted, exact};

/// Tries of a test that needs idle CPUs, and how many of them must show the idle. Other work may hide it: if it does so in one
/// try of ten, fewer tries show it by chance once in 1,100 tests.
const TRIES: usize = 9;
const SEEN: usize = 5;

/// Idle by cause, in percent of the CPUs: page wait, loading, I/O wait, quota.
fn kinds(report: &MeterReport) -> [f64; 4] {
    let idle = &report.idle;
    [&idle.page_wait, &idle.loading, &idle.io_wait, &idle.quota_wait].map(exact)
}

/// In CPU seconds.
fn page_wait_idle(report: &MeterReport) -> f64 {
    kinds(report)[0] / 100.0 * report.seconds * report.cpus.len() as f64
}

/// Sum of all waits for pages, in seconds.
fn page_waits(report: &MeterReport) -> f64 {
    counted(&report.traffic.page_waits) as f64 * report.traffic.page_wait.value().copied().unwrap_or(0.0)
}

/// Whether a kind of idle was measured, or the machine was too busy to have idle of any kind.
fn is_seen(report: &MeterReport, kind: usize) -> bool {
    kinds(report)[kind] > 0.0 || exact(&report.cpu.idle) + exact(&report.cpu.iowait) < BUSY
}

/// With less idle than this, in percent, the machine is too busy for the test.
const BUSY: f64 = 5.0;

/// Bounds of the page-wait idle, in seconds. Least: the idle that exceeds the time without waits. Largest: all waits on all CPUs.
fn possible(report: &MeterReport) -> [f64; 2] {
    let (cpus, waited) = (report.cpus.len() as f64, page_waits(report));
    let idle = (exact(&report.cpu.idle) + exact(&report.cpu.iowait)) / 100.0 * report.seconds * cpus;
    [idle - (report.seconds - waited).max(0.0) * cpus, waited * cpus]
}

/// Whether page-wait idle is within these bounds, with 1 % of the CPUs' time as tolerance, because the clocks are not read at one
/// instant.
fn is_possible(report: &MeterReport) -> bool {
    let ([least, most], idle) = (possible(report), page_wait_idle(report));
    let off = 0.01 * report.seconds * report.cpus.len() as f64;
    (least - off..=most + off).contains(&idle)
}

/// Runs a row [`TRIES`] times and asserts that most tries show this kind of idle. Returns each report with the printed numbers.
fn repeat(program: &mut Program, row: &str, kind: usize) -> Vec<(MeterReport, Vec<f64>)> {
    let tries: Vec<_> = (0..TRIES).map(|_| program.report(Depth::Light, row)).collect();
    let seen = tries.iter().filter(|(report, _)| is_seen(report, kind)).count();
    let numbers: Vec<_> = tries.iter().map(|(report, _)| kinds(report)).collect();
    assert!(seen >= SEEN, "seen in {seen} of {TRIES} tries: {numbers:?}");
    tries
}

/// Opens and maps a file in the program. [`DROP`] removes its pages from memory.
fn open_file(program: &mut Program, folder: &Path) {
    let path = folder.join("pages");
    fs::write(&path, vec![7; 4 << 20]).unwrap();
    program.run(&format!("f = os.open('{}', os.O_RDONLY); os.fsync(f)", path.display()));
    program.run("m = mmap.mmap(f, 0, prot=mmap.PROT_READ); m.madvise(mmap.MADV_RANDOM)");
}

const DROP: &str = "m.madvise(mmap.MADV_DONTNEED); os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)";

#[test]
fn a_sleeper_makes_zero_idle() {
    let mut program = Program::start();
    program.run("time.sleep(0.01)");
    let (report, _) = program.report(Depth::Light, "time.sleep(0.3)");
    let [_, rest @ ..] = kinds(&report);
    assert!(rest.iter().sum::<f64>() < 0.5, "{:?}", report.idle);
    // If memory is short, the program's own code may have to be read first.
    assert!(page_wait_idle(&report) <= 1.02 * page_waits(&report) * report.cpus.len() as f64, "{:?}", report.idle);
}

#[test]
fn page_waits_make_page_wait_idle_and_no_more_than_their_time() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    open_file(&mut program, folder.path());
    let row = format!(
        "{DROP}; before = resource.getrusage(0); s = sum(m[n * 4096] for n in range(1024)); after = resource.getrusage(0); \
         print(after.ru_majflt - before.ru_majflt, after.ru_nvcsw - before.ru_nvcsw)"
    );
    for (report, known) in repeat(&mut program, &row, 0) {
        let [faults, sleeps] = [known[0] as u64, known[1] as u64];
        assert_eq!(counted(&report.counts.major_faults), faults);
        assert!(faults > 500, "{faults} of 1024 pages were read");
        // Not every fault waits: the device may be faster than the way to sleep.
        let waits = counted(&report.traffic.page_waits);
        assert!((sleeps..=sleeps + 100).contains(&waits), "{waits} of {known:?}");
        // A page wait ends when the page is read. The task is off the CPU until it runs again.
        let off = report.traffic.off_cpu.value().unwrap()["page"];
        assert_eq!(off.count, counted(&report.traffic.page_waits));
        assert!(off.sum >= page_waits(&report), "{off:?} of {}", page_waits(&report));
        assert!(is_possible(&report), "{} s idle of {:?}", page_wait_idle(&report), possible(&report));
    }
}

#[test]
fn reads_from_a_device_make_io_wait_idle() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    open_file(&mut program, folder.path());
    program.run("b = mmap.mmap(-1, 4096); d = os.open(f'/proc/self/fd/{f}', os.O_RDONLY | os.O_DIRECT)");
    for (report, _) in repeat(&mut program, "for n in range(500): os.preadv(d, [b], n * 4096)", 2) {
        assert!(is_possible(&report), "{:?}", report.idle);
    }
}

#[test]
fn an_uncached_program_makes_loading_idle() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("cold");
    fs::copy("/bin/true", &path).unwrap();
    let path = path.display();
    program.run(&format!("f = os.open('{path}', os.O_RDONLY); os.fsync(f)"));
    let row = format!(
        "for n in range(20): os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED); \
         os.waitpid(os.posix_spawn('{path}', ['cold'], {{}}), 0)"
    );
    repeat(&mut program, &row, 1);
}

#[test]
fn a_quota_makes_throttled_idle() {
    let mut program = Program::start();
    let _group = group_with_a_fifth_of_a_cpu(program.pid());
    let row = "t = time.monotonic() + 0.5; any(iter(lambda: time.monotonic() > t, True))";
    for (report, _) in repeat(&mut program, row, 3) {
        assert!(is_possible(&report), "{:?}", report.idle);
    }
    drop(program);
}

/// A control group of version 1 or 2.
fn group_with_a_fifth_of_a_cpu(pid: u32) -> Group {
    let version_1 = Path::new("/sys/fs/cgroup/cpu");
    let group = if version_1.join("cpu.cfs_quota_us").exists() {
        let group = Group::new(version_1, pid);
        group.write("cpu.cfs_quota_us", "20000");
        group
    } else {
        fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu").expect("root may enable the cpu controller");
        let group = Group::new(Path::new("/sys/fs/cgroup"), pid);
        group.write("cpu.max", "20000 100000");
        group
    };
    group.write("cgroup.procs", &pid.to_string());
    group
}
