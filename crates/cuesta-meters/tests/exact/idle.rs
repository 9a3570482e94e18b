//! Idle by kind: why the subject did not run while a CPU had nothing to do.

use std::fs;
use std::path::{Path, PathBuf};

use cuesta_meters::MeterReport;
use cuesta_meters::traced::Depth;

use crate::program::{Program, counted, exact};

/// How often something is tried that needs a CPU to be idle, on a machine that others may use, and in how many tries it must be
/// seen. If others hide it in one try of ten, fewer are seen by chance once in 1,100 tests.
const TRIES: usize = 9;
const SEEN: usize = 5;

/// Percent of the CPUs that were idle for want of: a page, a program, a device, a quota.
fn kinds(report: &MeterReport) -> [f64; 4] {
    let idle = &report.idle;
    [&idle.page_wait, &idle.loading, &idle.io_wait, &idle.quota_wait].map(exact)
}

/// Seconds of CPUs.
fn page_wait_idle(report: &MeterReport) -> f64 {
    kinds(report)[0] / 100.0 * report.seconds * report.cpus.len() as f64
}

/// Seconds that all waits for pages took together.
fn page_waits(report: &MeterReport) -> f64 {
    counted(&report.traffic.page_waits) as f64 * report.traffic.page_wait.value().copied().unwrap_or(0.0)
}

/// Whether a kind of idle was seen; on a machine where others leave no idle there is none of any kind.
fn is_seen(report: &MeterReport, kind: usize) -> bool {
    kinds(report)[kind] > 0.0 || exact(&report.cpu.idle) + exact(&report.cpu.iowait) < BUSY
}

/// Percent of idle below which a machine is too busy to say why it was idle.
const BUSY: f64 = 5.0;

/// Seconds of page-wait idle that there must have been at least and at most: all waits on all CPUs, and of all idle what does
/// not fit into the time in which nothing waited.
fn possible(report: &MeterReport) -> [f64; 2] {
    let (cpus, waited) = (report.cpus.len() as f64, page_waits(report));
    let idle = (exact(&report.cpu.idle) + exact(&report.cpu.iowait)) / 100.0 * report.seconds * cpus;
    [idle - (report.seconds - waited).max(0.0) * cpus, waited * cpus]
}

/// Whether page-wait idle lies there; a hundredth of the CPUs' time is for clocks that are not read at one instant.
fn is_possible(report: &MeterReport) -> bool {
    let ([least, most], idle) = (possible(report), page_wait_idle(report));
    let off = 0.01 * report.seconds * report.cpus.len() as f64;
    (least - off..=most + off).contains(&idle)
}

/// Carries a row out again and again: idle of a kind must be seen in most tries. Gives each report and what was printed.
fn tried(program: &mut Program, row: &str, kind: usize) -> Vec<(MeterReport, Vec<f64>)> {
    let tries: Vec<_> = (0..TRIES).map(|_| program.report(Depth::Light, row)).collect();
    let seen = tries.iter().filter(|(report, _)| is_seen(report, kind)).count();
    let found: Vec<_> = tries.iter().map(|(report, _)| kinds(report)).collect();
    assert!(seen >= SEEN, "seen in {seen} of {TRIES} tries: {found:?}");
    tries
}

/// A file whose pages are not in memory after each `drop` of the program.
fn file(program: &mut Program, folder: &Path) {
    let path = folder.join("pages");
    fs::write(&path, vec![7; 4 << 20]).unwrap();
    program.does(&format!("f = os.open('{}', os.O_RDONLY); os.fsync(f)", path.display()));
    program.does("m = mmap.mmap(f, 0, prot=mmap.PROT_READ); m.madvise(mmap.MADV_RANDOM)");
}

const DROP: &str = "m.madvise(mmap.MADV_DONTNEED); os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)";

#[test]
fn a_sleeper_makes_zero_idle() {
    let mut program = Program::start();
    program.does("time.sleep(0.01)");
    let (report, _) = program.report(Depth::Light, "time.sleep(0.3)");
    let [_, rest @ ..] = kinds(&report);
    assert!(rest.iter().sum::<f64>() < 0.5, "{:?}", report.idle);
    // Its own code may have to be read first, on a machine where others drive it out.
    assert!(page_wait_idle(&report) <= 1.02 * page_waits(&report) * report.cpus.len() as f64, "{:?}", report.idle);
}

#[test]
fn page_waits_make_page_wait_idle_and_no_more_than_their_time() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    file(&mut program, folder.path());
    let row = format!(
        "{DROP}; before = resource.getrusage(0).ru_majflt; s = sum(m[n * 4096] for n in range(1024)); \
         print(resource.getrusage(0).ru_majflt - before)"
    );
    for (report, known) in tried(&mut program, &row, 0) {
        assert_eq!(counted(&report.counts.major_faults), known[0] as u64);
        assert!(known[0] > 500.0, "{known:?} of 1024 pages were read");
        // Not each of them waits: the device may be quicker than the way to sleep.
        let waits = counted(&report.traffic.page_waits) as f64;
        assert!((0.5 * known[0]..=known[0] + 100.0).contains(&waits), "{waits} of {known:?}");
        // Such a wait ends when the page is there; the task is off its CPU until it has one again.
        let off = report.traffic.off_cpu.value().unwrap()["page"];
        assert_eq!(off.count, counted(&report.traffic.page_waits));
        assert!(off.sum >= page_waits(&report), "{off:?} of {}", page_waits(&report));
        assert!(is_possible(&report), "{} s idle of {:?}", page_wait_idle(&report), possible(&report));
    }
}

#[test]
fn reads_from_a_device_make_io_wait_idle() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    file(&mut program, folder.path());
    program.does("b = mmap.mmap(-1, 4096); d = os.open(f'/proc/self/fd/{f}', os.O_RDONLY | os.O_DIRECT)");
    for (report, _) in tried(&mut program, "for n in range(500): os.preadv(d, [b], n * 4096)", 2) {
        assert!(is_possible(&report), "{:?}", report.idle);
    }
}

#[test]
fn an_uncached_program_makes_loading_idle() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("cold");
    fs::copy("/bin/true", &path).unwrap();
    let path = path.display();
    program.does(&format!("f = os.open('{path}', os.O_RDONLY); os.fsync(f)"));
    let row = format!(
        "for n in range(20): os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED); \
         os.waitpid(os.posix_spawn('{path}', ['cold'], {{}}), 0)"
    );
    tried(&mut program, &row, 1);
}

#[test]
fn a_quota_makes_throttled_idle() {
    let mut program = Program::start();
    let group = Quota::of_a_fifth(program.pid());
    let row = "t = time.monotonic() + 0.5; any(iter(lambda: time.monotonic() > t, True))";
    for (report, _) in tried(&mut program, row, 3) {
        assert!(is_possible(&report), "{:?}", report.idle);
    }
    drop(program);
    drop(group);
}

/// A control group with a fifth of a CPU, version 1 or 2.
struct Quota(PathBuf);

impl Quota {
    fn of_a_fifth(pid: u32) -> Self {
        let name = format!("cuesta-exact-{pid}");
        let version_1 = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let is_1 = version_1.parent().is_some_and(|mount| mount.join("cpu.cfs_quota_us").exists());
        let folder = if is_1 { version_1 } else { Path::new("/sys/fs/cgroup").join(&name) };
        let put = |file: &str, text: &str| fs::write(folder.join(file), text).expect("root may limit its own programs");
        if is_1 {
            fs::create_dir(&folder).unwrap();
            put("cpu.cfs_quota_us", "20000");
        } else {
            fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu").expect("the machine's groups are ours");
            fs::create_dir(&folder).unwrap();
            put("cpu.max", "20000 100000");
        }
        put("cgroup.procs", &pid.to_string());
        Self(folder)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
