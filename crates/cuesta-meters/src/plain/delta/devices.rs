//! Block devices.

use std::collections::BTreeMap;

use super::Delta;
use crate::plain::kernel::diskstats::{Disk, SECTOR};
use crate::plain::kernel::grown;
use crate::{Count, Device, Figure};

const NOTHING: &str = "it did nothing in the interval";

impl Delta<'_> {
    pub(super) fn devices(&self) -> BTreeMap<String, Device> {
        let Some(later) = self.later.disks.value() else { return BTreeMap::new() };
        let before = |name| self.earlier.disks.value().and_then(|disks| disks.get(name)).copied();
        // A device that was never used before the earlier snapshot is not in it.
        let pairs = later.iter().map(|(name, disk)| (name, before(name).unwrap_or_default(), *disk));
        pairs.map(|(name, a, b)| (name.clone(), self.device(name, a, b))).collect()
    }

    fn device(&self, name: &str, a: Disk, b: Disk) -> Device {
        let by = |of: fn(Disk) -> u64| grown(of(a), of(b)).unwrap_or(0);
        let (reads, writes) = (by(|disk| disk.reads), by(|disk| disk.writes));
        let all = reads.saturating_add(writes) as f64;
        let seconds = |of: fn(Disk) -> u64| by(of) as f64 / 1e3;
        let atb = |count: f64| Figure::quotient(self.seconds, count, NOTHING);
        let busy = seconds(|disk| disk.busy_ms);
        Device {
            reads: Count::over(reads, self.seconds),
            writes: Count::over(writes, self.seconds),
            read_bytes_per_s: by(|disk| disk.sectors_read) as f64 * SECTOR as f64 / self.seconds,
            written_bytes_per_s: by(|disk| disk.sectors_written) as f64 * SECTOR as f64 / self.seconds,
            atb_reads: atb(reads as f64),
            atb_writes: atb(writes as f64),
            atb: atb(all),
            queue: Figure::plain(seconds(|disk| disk.queue_ms) / self.seconds),
            response: Figure::quotient(seconds(|disk| disk.read_ms) + seconds(|disk| disk.write_ms), all, NOTHING),
            service: Figure::quotient(busy, all, NOTHING),
            busy: Figure::plain(100.0 * busy / self.seconds),
            errors: self.errors(name),
        }
    }

    fn errors(&self, name: &str) -> Figure {
        let (earlier, later) = (self.earlier.disk_errors.get(name), self.later.disk_errors.get(name));
        match (earlier, later) {
            (Some(a), Some(b)) => Figure::plain(grown(*a, *b).unwrap_or(0) as f64),
            _ => self.missing("this kind of device does not count failed requests"),
        }
    }
}
