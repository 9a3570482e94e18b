//! Idle by kind: why the subject did not run while a CPU had nothing to do.

use std::fs;
use std::path::{Path, PathBuf};

use cuesta_meters::Sheet;
use cuesta_meters::exact::Depth;

use crate::program::{Program, counted, exact};

/// How often something is tried that needs a CPU to be idle, on a machine that others may use.
const TRIES: usize = 20;

/// Percent of the CPUs that were idle for want of: a page, a program, a device, a quota.
fn kinds(sheet: &Sheet) -> [f64; 4] {
    let idle = &sheet.idle;
    [&idle.page_wait, &idle.loading, &idle.io_wait, &idle.quota_wait].map(exact)
}

/// Seconds of CPUs.
fn page_wait_idle(sheet: &Sheet) -> f64 {
    kinds(sheet)[0] / 100.0 * sheet.seconds * sheet.cpus.len() as f64
}

/// Seconds that all waits for pages took together.
fn page_waits(sheet: &Sheet) -> f64 {
    counted(&sheet.traffic.page_waits) as f64 * sheet.traffic.page_wait.value().copied().unwrap_or(0.0)
}

/// Whether a kind of idle was seen; on a machine where others leave no idle there is none of any kind.
fn is_seen(sheet: &Sheet, kind: usize) -> bool {
    kinds(sheet)[kind] > 0.0 || exact(&sheet.cpu.idle) + exact(&sheet.cpu.iowait) < BUSY
}

/// Percent of idle below which a machine is too busy to say why it was idle.
const BUSY: f64 = 5.0;

/// Carries a row out until idle of a kind was seen; gives the last sheet and what was printed.
fn until(program: &mut Program, row: &str, kind: usize) -> (Sheet, Vec<f64>) {
    let mut last = program.sheet(Depth::Light, row);
    for _ in 1..TRIES {
        if kinds(&last.0)[kind] > 0.0 {
            break;
        }
        last = program.sheet(Depth::Light, row);
    }
    last
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
fn a_sleeper_waits_for_nothing_that_counts() {
    let mut program = Program::start();
    program.does("time.sleep(0.01)");
    let (sheet, _) = program.sheet(Depth::Light, "time.sleep(0.3)");
    let [_, rest @ ..] = kinds(&sheet);
    assert!(rest.iter().sum::<f64>() < 0.5, "{:?}", sheet.idle);
    // Its own code may have to be read first, on a machine where others drive it out.
    assert!(page_wait_idle(&sheet) <= 1.02 * page_waits(&sheet) * sheet.cpus.len() as f64, "{:?}", sheet.idle);
}

#[test]
fn who_waits_for_pages_makes_page_wait_idle_and_no_more_than_its_waits() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    file(&mut program, folder.path());
    let row = format!(
        "{DROP}; before = resource.getrusage(0).ru_majflt; s = sum(m[n * 4096] for n in range(1024)); \
         print(resource.getrusage(0).ru_majflt - before)"
    );
    let (sheet, known) = until(&mut program, &row, 0);
    assert_eq!(counted(&sheet.counts.major_faults), known[0] as u64);
    assert!(known[0] > 500.0, "{known:?} of 1024 pages were read");
    // Not each of them waits: the device may be quicker than the way to sleep.
    let waits = counted(&sheet.traffic.page_waits) as f64;
    assert!((0.5 * known[0]..=known[0] + 100.0).contains(&waits), "{waits} of {known:?}");
    let (idle, waited) = (page_wait_idle(&sheet), page_waits(&sheet));
    assert!(is_seen(&sheet, 0) && idle <= 1.02 * waited * sheet.cpus.len() as f64, "{idle} s idle, {waited} s waited");
}

#[test]
fn who_reads_from_a_device_makes_io_wait_idle() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    file(&mut program, folder.path());
    program.does("b = mmap.mmap(-1, 4096); d = os.open(f'/proc/self/fd/{f}', os.O_RDONLY | os.O_DIRECT)");
    let (sheet, _) = until(&mut program, "for n in range(500): os.preadv(d, [b], n * 4096)", 2);
    let [page, _, io, _] = kinds(&sheet);
    assert!(is_seen(&sheet, 2) && page <= io, "{:?}", sheet.idle);
}

#[test]
fn a_program_that_must_be_read_first_makes_loading_idle() {
    let (mut program, folder) = (Program::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("cold");
    fs::copy("/bin/true", &path).unwrap();
    let path = path.display();
    program.does(&format!("f = os.open('{path}', os.O_RDONLY); os.fsync(f)"));
    let row = format!(
        "for n in range(20): os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED); \
         os.waitpid(os.posix_spawn('{path}', ['cold'], {{}}), 0)"
    );
    let (sheet, _) = until(&mut program, &row, 1);
    assert!(is_seen(&sheet, 1), "{:?}", sheet.idle);
}

#[test]
fn who_is_barred_by_its_quota_makes_throttled_idle() {
    let mut program = Program::start();
    let group = Quota::of_a_fifth(program.pid());
    let row = "t = time.monotonic() + 0.5; any(iter(lambda: time.monotonic() > t, True))";
    let (sheet, _) = until(&mut program, row, 3);
    let [page, _, _, barred] = kinds(&sheet);
    assert!(is_seen(&sheet, 3) && page <= barred, "{:?}", sheet.idle);
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
