//! `/proc/diskstats`: counters of each block device since boot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Malformed, numbers};

/// Bytes of a sector in this file, whatever the device's own size.
pub const SECTOR: u64 = 512;

/// A device's counters. Milliseconds have 32 bits and wrap after 50 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// Reads completed.
    pub reads: u64,
    pub sectors_read: u64,
    /// Milliseconds that reads took, summed over reads.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    pub sectors_written: u64,
    /// Milliseconds that writes took, summed over writes.
    pub write_ms: u64,
    /// Milliseconds in which at least one request was outstanding.
    pub busy_ms: u64,
    /// Milliseconds of the above, each times the requests outstanding.
    pub queue_ms: u64,
}

/// Reads the file: devices and partitions by name.
pub fn parse(text: &str) -> Result<BTreeMap<String, DeviceCounters>, Malformed> {
    text.lines().map(|row| device(row).ok_or_else(|| Malformed::new("/proc/diskstats", row))).collect()
}

fn device(row: &str) -> Option<(String, DeviceCounters)> {
    let mut words = row.split_ascii_whitespace();
    let name = words.nth(2)?.to_owned();
    let rest = words.collect::<Vec<_>>().join(" ");
    let fields: Vec<u64> = numbers(&rest).collect();
    let [reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms, _, busy_ms, queue_ms, ..] = fields[..]
    else {
        return None;
    };
    let device = DeviceCounters { reads, sectors_read, read_ms, writes, sectors_written, write_ms, busy_ms, queue_ms };
    Some((name, device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let devices = parse(include_str!("../../tests/captured/diskstats")).unwrap();
        assert_eq!(devices.len(), 10);
        let vda = DeviceCounters {
            reads: 3_297_255,
            sectors_read: 201_952_106,
            read_ms: 4_311_627,
            writes: 214_284,
            sectors_written: 170_064_528,
            write_ms: 879_656,
            busy_ms: 246_124,
            queue_ms: 5_228_794,
        };
        assert_eq!(devices["vda"], vda);
        assert!(parse("8 0 sda 1 2 3\n").is_err());
    }
}
