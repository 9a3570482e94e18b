//! The constants, measured at the start: the time of a system call and a page fault that a timer cannot see, and the cost of a
//! sample.
//!
//! Loops run on this thread for about a second of one CPU, in turn without samples and with ten thousand a second: plain
//! arithmetic, null calls, first touches of anonymous pages and second touches.
//!
//! A file keeps the constants for runs that follow soon. They hold for one boot of one machine, one version of Cuesta and one
//! hour: they differ by a factor of two from hour to hour. If the file cannot be read, belongs to another user, or is of another
//! boot or version, the constants are measured anew.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuesta_record::{Stamp, clock};
use serde::{Deserialize, Serialize};

use super::causes::Cause;
use super::kallsyms::Kallsyms;
use super::pages::Pages;
use super::reader::{Reader, SubjectFilter};
use super::tally::SampleTally;
use crate::perf::record::records;
use crate::perf::{Event, EventConfig, Ring, Scope};

/// The constants of this machine now. They differ by a factor of two from hour to hour on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// A system call that does nothing: seconds.
    pub call: f64,
    /// The part of it that is the return, sampled at the user's next instruction; zero if such samples cannot be recognized
    /// here.
    pub call_hidden: f64,
    /// Its cost to the user's next instructions, since the pipeline starts empty. Samples see it, but in the user's part.
    pub call_after: f64,
    /// A page fault on this machine now: CPU time of a first touch of an anonymous page, in the calibration's own loop: seconds.
    pub fault: f64,
    /// The part of it that is the return, sampled in the user's part.
    pub fault_hidden: f64,
    /// One standard deviation of `call_after` and of `fault_hidden`, from the number of samples and from program to program.
    pub errors: [f64; 2],
    /// The cost of a sample to the sampled CPU: seconds.
    pub sample: f64,
    /// The same while the CPU handles a page fault.
    pub sample_in_fault: f64,
}

impl Constants {
    /// Whether all are plausible: none is negative, and calls and faults take time.
    pub(super) fn are_possible(&self) -> bool {
        let Self { call, call_hidden, call_after, fault, fault_hidden, errors, sample, sample_in_fault } = *self;
        let all = [call, call_hidden, call_after, fault, fault_hidden, errors[0], errors[1], sample, sample_in_fault];
        all.iter().all(|constant| constant.is_finite() && *constant >= 0.0) && call > 0.0 && fault > 0.0
    }

    /// CPU time that the samples of a tally used: seconds.
    pub(super) fn interrupts(&self, tally: &SampleTally) -> f64 {
        let in_faults = tally.samples_of(Cause::PageFaults);
        (tally.all() - in_faults) as f64 * self.sample + in_faults as f64 * self.sample_in_fault
    }

    /// The constants while sampling uses this part of the CPU time. A sample slows whatever it interrupts, also the parts that
    /// it cannot see.
    pub(super) fn while_slowed(&self, part: f64) -> Self {
        let stretch = 1.0 / (1.0 - part.clamp(0.0, 0.5));
        Self {
            call: self.call * stretch,
            call_hidden: self.call_hidden * stretch,
            call_after: self.call_after * stretch,
            fault: self.fault * stretch,
            fault_hidden: self.fault_hidden * stretch,
            errors: self.errors.map(|error| error * stretch),
            ..self.clone()
        }
    }
}

/// # Errors
/// If this thread may not be sampled, or the kernel hides its symbols.
pub fn calibrate() -> io::Result<Constants> {
    let symbols = Kallsyms::read(Path::new("/"))?;
    let mut bench = Bench::new(Arc::new(symbols))?;
    let mut pages = Pages::map(PAGES)?;
    let spin = bench.compare(ROUNDS, &mut |()| Ok(()), &mut |()| spin(), &mut ())?;
    let call = bench.compare(CALL_ROUNDS, &mut |()| Ok(()), &mut |()| call(), &mut ())?;
    let fault = bench.compare(FAULT_ROUNDS, &mut Pages::give_back, &mut Pages::touch, &mut pages)?;
    let touch = bench.compare(1, &mut |_| Ok(()), &mut Pages::touch, &mut pages)?;

    let call_seconds = call.bare / f64::from(CALLS);
    let fault_seconds = fault.bare / PAGES as f64;
    let present = touch.bare / PAGES as f64;
    let call_after = share(call.tally.samples_of(Cause::User), &call.tally) * call_seconds;
    let fault_hidden = (share(fault.tally.samples_of(Cause::User), &fault.tally) * fault_seconds - present).max(0.0);
    Ok(Constants {
        call: call_seconds,
        call_hidden: share(call.tally.all_syscall_returns(), &call.tally) * call_seconds,
        call_after,
        fault: fault_seconds,
        fault_hidden,
        sample: spin.sample,
        sample_in_fault: fault.sample.max(spin.sample),
        errors: [
            (error(&call.tally) * call_seconds).hypot(PROGRAM_SPREAD[0] * call_after),
            (error(&fault.tally) * fault_seconds).hypot(PROGRAM_SPREAD[1] * fault_hidden),
        ],
    })
}

/// Relative spread of `call_after` and `fault_hidden` between programs, from programs that time themselves (`tests/truth`): on a
/// virtual machine of two CPUs the faults of 60 such runs hid 1.4 times as much as those of this loop, in the mean.
const PROGRAM_SPREAD: [f64; 2] = [0.5, 0.4];
/// Calls of a pass.
const CALLS: u32 = 16_384;
/// Pages of a pass.
const PAGES: usize = 1024;
/// Passes, each without and with samples.
const ROUNDS: usize = 24;
/// Passes of calls.
const CALL_ROUNDS: usize = 60;
/// Passes of faults. Only a tenth of a fault is hidden, so more are needed.
const FAULT_ROUNDS: usize = 240;

fn share(part: u64, tally: &SampleTally) -> f64 {
    if tally.all() == 0 { 0.0 } else { part as f64 / tally.all() as f64 }
}

/// One standard deviation of the user's share.
fn error(tally: &SampleTally) -> f64 {
    let user = share(tally.samples_of(Cause::User), tally);
    (user * (1.0 - user) / tally.all().max(1) as f64).sqrt()
}

fn call() {
    for _ in 0..CALLS {
        black_box(rustix::process::getppid());
    }
}

fn spin() {
    let mut sum = 0_u64;
    for n in 0..1_500_000_u64 {
        sum = black_box(sum ^ n);
    }
    black_box(sum);
}

/// A loop, with and without samples.
struct Outcome {
    /// CPU time of a pass without samples: seconds.
    bare: f64,
    /// CPU time that a sample added: seconds.
    sample: f64,
    tally: SampleTally,
}

/// An event on this thread.
struct Bench {
    ring: Ring,
    config: EventConfig,
    reader: Reader,
    bytes: Vec<u8>,
}

impl Bench {
    fn new(symbols: Arc<Kallsyms>) -> io::Result<Self> {
        let config = EventConfig { scope: Scope::Task, period: 100_003, cgroup: false, ..EventConfig::machine() };
        let ring = Ring::map(Event::open(config, Some(0), None)?)?;
        Ok(Self {
            ring,
            config,
            reader: Reader::new(symbols, vec![SubjectFilter::Everything], false),
            bytes: Vec::new(),
        })
    }

    /// Runs `pass` with and without samples in turn; `before` prepares each pass and is not measured.
    fn compare<T>(
        &mut self,
        rounds: usize,
        before: &mut dyn FnMut(&mut T) -> io::Result<()>,
        pass: &mut dyn FnMut(&mut T),
        state: &mut T,
    ) -> io::Result<Outcome> {
        let mut tally = SampleTally::default();
        let (mut bare, mut added) = (Vec::new(), Vec::new());
        // One more pass that does not count, since caches are cold.
        for round in 0..=rounds {
            before(state)?;
            let without = timed(|| pass(state));
            before(state)?;
            self.ring.event().enable()?;
            let with = timed(|| pass(state));
            self.ring.event().disable()?;
            let sampled = self.samples();
            if round > 0 {
                bare.push(without.as_secs_f64());
                added.push((with.as_secs_f64() - without.as_secs_f64()) / sampled.all().max(1) as f64);
                tally += &sampled;
            }
        }
        Ok(Outcome { bare: median(&mut bare), sample: median(&mut added).max(0.0), tally })
    }

    fn samples(&mut self) -> SampleTally {
        self.bytes.clear();
        self.ring.drain(&mut self.bytes);
        for record in records(&self.bytes, self.config.layout()) {
            self.reader.read(record);
        }
        self.reader.forget(Stamp::ZERO);
        self.reader.take().pop().unwrap_or_default()
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let before = clock::thread_cpu();
    work();
    clock::thread_cpu().saturating_sub(before)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The age from which constants are measured anew.
const LONGEST: Duration = Duration::from_secs(3600);
const FILE: &str = "cuesta/calibration.json";

/// Constants, and their age if they come from the file.
#[derive(Debug)]
pub(super) struct Calibration {
    pub(super) constants: Constants,
    pub(super) age: Option<Duration>,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct CacheEntry {
    machine: Machine,
    /// Nanoseconds on the monotonic clock, which begins with the boot.
    measured: u64,
    constants: Constants,
}

/// The machine, boot and version that the constants hold for.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Machine {
    boot: String,
    kernel: String,
    cpu: String,
    cuesta: String,
}

/// The constants of the file if they still hold, else new ones. If the file cannot be written, the next run measures too.
pub(super) fn reusable_constants() -> io::Result<Calibration> {
    let place = Machine::here().zip(folder());
    let kept = place.as_ref().and_then(|(machine, folder)| read(&folder.join(FILE), machine, clock::now()));
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let constants = calibrate()?;
    if let Some((machine, folder)) = place {
        let entry = CacheEntry { machine, measured: clock::now().as_nanos(), constants: constants.clone() };
        let _ = write(&folder.join(FILE), &entry);
    }
    Ok(Calibration { constants, age: None })
}

impl Machine {
    fn here() -> Option<Self> {
        let read = |file: &str| fs::read_to_string(file).ok();
        let cpus = read("/proc/cpuinfo")?;
        let model = cpus.lines().find(|row| row.starts_with("model name") || row.starts_with("CPU part"));
        Some(Self {
            boot: read("/proc/sys/kernel/random/boot_id")?.trim().to_owned(),
            kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            cpu: model.unwrap_or_default().to_owned(),
            cuesta: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

fn read(file: &Path, machine: &Machine, now: Stamp) -> Option<Calibration> {
    if fs::metadata(file).ok()?.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    let entry: CacheEntry = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    let age = Duration::from_nanos(now.as_nanos().checked_sub(entry.measured)?);
    (entry.machine == *machine && age < LONGEST && entry.constants.are_possible())
        .then_some(Calibration { constants: entry.constants, age: Some(age) })
}

/// Writes the file whole or not at all.
fn write(file: &Path, entry: &CacheEntry) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let mut opened = File::options().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    opened.write_all(serde_json::to_string(entry)?.as_bytes())?;
    fs::rename(part, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(boot: &str) -> Machine {
        Machine { boot: boot.to_owned(), kernel: "6.1".to_owned(), cpu: "x".to_owned(), cuesta: "1".to_owned() }
    }

    fn constants() -> Constants {
        Constants {
            call: 1e-7,
            call_hidden: 1e-8,
            call_after: 1e-8,
            fault: 5e-7,
            fault_hidden: 5e-8,
            errors: [1e-9, 1e-9],
            sample: 1e-6,
            sample_in_fault: 2e-6,
        }
    }

    #[test]
    fn saved_constants_hold_for_one_boot_and_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        write(&file, &CacheEntry { machine: machine("a"), measured: 1000, constants: constants() }).unwrap();
        let later = |time: Duration| Stamp::from_nanos(1000) + time;
        let soon = read(&file, &machine("a"), later(Duration::from_secs(60))).unwrap();
        assert_eq!((soon.constants, soon.age), (constants(), Some(Duration::from_secs(60))));
        assert!(read(&file, &machine("a"), later(LONGEST)).is_none());
        assert!(read(&file, &machine("a"), Stamp::ZERO).is_none());
        assert!(read(&file, &machine("b"), later(Duration::ZERO)).is_none());
    }

    #[test]
    fn an_implausible_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("calibration.json");
        assert!(read(&file, &machine("a"), Stamp::from_nanos(2000)).is_none());
        fs::write(&file, "{").unwrap();
        assert!(read(&file, &machine("a"), Stamp::from_nanos(2000)).is_none());
        let constants = Constants { fault: -1.0, ..constants() };
        write(&file, &CacheEntry { machine: machine("a"), measured: 1000, constants }).unwrap();
        assert!(read(&file, &machine("a"), Stamp::from_nanos(2000)).is_none());
    }
}
