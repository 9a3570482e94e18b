//! The constants of the last calibration, kept for runs that follow soon: measuring them takes a second.
//!
//! They hold for one boot of one machine, one version of Cuesta and one hour: they differ by a factor of two from hour to hour.
//! If the file cannot be read, belongs to another user, or is of another boot or version, the constants are measured anew.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuesta_record::{Stamp, clock};
use serde::{Deserialize, Serialize};

use super::calibrate::{Constants, calibrate};

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
pub(super) fn constants() -> io::Result<Calibration> {
    let place = Machine::here().zip(folder());
    if let Some(found) = place.as_ref().and_then(|(machine, folder)| read(&folder.join(FILE), machine, clock::now())) {
        return Ok(found);
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
        let after = |time: Duration| Stamp::from_nanos(1000 + u64::try_from(time.as_nanos()).unwrap());
        let soon = read(&file, &machine("a"), after(Duration::from_secs(60))).unwrap();
        assert_eq!((soon.constants, soon.age), (constants(), Some(Duration::from_secs(60))));
        assert!(read(&file, &machine("a"), after(LONGEST)).is_none());
        assert!(read(&file, &machine("a"), Stamp::ZERO).is_none());
        assert!(read(&file, &machine("b"), after(Duration::ZERO)).is_none());
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
