//! `TASKSTATS` of generic netlink: the last account of each task that ends. Messages only; the socket is elsewhere.
//!
//! The layout is that of `linux/taskstats.h`: new fields are only added at the end. Numbers are in the machine's own order.

use serde::{Deserialize, Serialize};

/// The counters of a task when it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastAccount {
    pub task: u32,
    /// Its process; the task's own id on kernels before 5.18.
    pub process: u32,
    /// Its process' parent.
    pub parent: u32,
    /// Its CPU time up to when the kernel last updated the task's clock, at a clock tick or a switch.
    pub usage: ProcessUsage,
    pub waits: TaskTotals,
}

/// CPU time and page faults of a process; times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessUsage {
    pub cpu: u64,
    /// Split by ticks, as `system`.
    pub user: u64,
    pub system: u64,
    /// Page faults without a device.
    pub minor: u64,
    /// Page faults that waited for a device.
    pub major: u64,
}

/// Counters of tasks that processes do not have; times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TaskTotals {
    /// How many tasks these are.
    pub tasks: u64,
    pub dispatches: u64,
    /// Time ready without a CPU.
    pub wait: u64,
    /// Time waited for block devices.
    pub block_delay: u64,
    /// Voluntary switches.
    pub voluntary: u64,
    /// Involuntary switches.
    pub involuntary: u64,
}

impl ProcessUsage {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// The growth since `earlier`; a counter that went back has not grown.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }

    /// The larger one of each counter.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.combine(other, u64::max)
    }

    fn combine(self, other: Self, operation: fn(u64, u64) -> u64) -> Self {
        Self {
            cpu: operation(self.cpu, other.cpu),
            user: operation(self.user, other.user),
            system: operation(self.system, other.system),
            minor: operation(self.minor, other.minor),
            major: operation(self.major, other.major),
        }
    }
}

impl TaskTotals {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// The growth since `earlier`; a counter that went back has not grown.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }

    fn combine(self, other: Self, operation: fn(u64, u64) -> u64) -> Self {
        Self {
            tasks: operation(self.tasks, other.tasks),
            dispatches: operation(self.dispatches, other.dispatches),
            wait: operation(self.wait, other.wait),
            block_delay: operation(self.block_delay, other.block_delay),
            voluntary: operation(self.voluntary, other.voluntary),
            involuntary: operation(self.involuntary, other.involuntary),
        }
    }
}

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const ERROR: u16 = 2;
/// The family that lists the other families.
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const REGISTER: u16 = 3;
const STATS: u16 = 3;
const OF_A_TASK: u16 = 4;
/// The bits of an attribute's kind without its flags.
const KIND: u16 = 0x3fff;

/// A message of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub enum Message {
    /// The number of the requested family.
    Family(u16),
    /// The answer to a request: 0, or the number of the error.
    Answer(i32),
    /// A task has ended.
    Ended(LastAccount),
    /// Anything else.
    Other,
}

/// Asks for the number of the family `TASKSTATS`.
pub fn ask_for_family() -> Vec<u8> {
    request(CONTROL, GET_FAMILY, FAMILY_NAME, b"TASKSTATS\0")
}

/// Asks for the tasks that end on these CPUs, written `0-3`.
pub fn ask_for_ends(family: u16, cpus: &str) -> Vec<u8> {
    request(family, 1, REGISTER, &[cpus.as_bytes(), b"\0"].concat())
}

fn request(family: u16, command: u8, kind: u16, value: &[u8]) -> Vec<u8> {
    let attribute = [&(4 + value.len() as u16).to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
    let padded = attribute.len().next_multiple_of(4);
    let mut message = Vec::new();
    message.extend((20 + padded as u32).to_ne_bytes());
    message.extend(family.to_ne_bytes());
    message.extend((REQUEST | ACKNOWLEDGE).to_ne_bytes());
    message.extend([0; 8]);
    message.extend([command, 1, 0, 0]);
    message.extend(attribute);
    message.resize(20 + padded, 0);
    message
}

pub fn parse_datagram(mut bytes: &[u8]) -> Vec<Message> {
    let mut read = Vec::new();
    while let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        let length = length as usize;
        if length < 16 || length > bytes.len() {
            break;
        }
        read.push(message(kind, &bytes[16..length]));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    read
}

fn message(kind: u16, body: &[u8]) -> Message {
    if kind == ERROR {
        return u32_at(body, 0).map_or(Message::Other, |error| Message::Answer(-(error.cast_signed())));
    }
    let Some(attributes) = body.get(4..) else { return Message::Other };
    if kind == CONTROL {
        let id = attribute(attributes, FAMILY_ID).and_then(|value| u16_at(value, 0));
        return id.map_or(Message::Other, Message::Family);
    }
    let stats = attribute(attributes, OF_A_TASK).and_then(|nested| attribute(nested, STATS));
    stats.and_then(account).map_or(Message::Other, Message::Ended)
}

/// The value of the first attribute of a kind.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    while let (Some(length), Some(kind)) = (u16_at(bytes, 0), u16_at(bytes, 2)) {
        let length = usize::from(length);
        if length < 4 || length > bytes.len() {
            return None;
        }
        if kind & KIND == wanted {
            return Some(&bytes[4..length]);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn account(stats: &[u8]) -> Option<LastAccount> {
    let task = u32_at(stats, 128)?;
    Some(LastAccount {
        task,
        process: u32_at(stats, 368).filter(|process| *process > 0).unwrap_or(task),
        parent: u32_at(stats, 132)?,
        usage: ProcessUsage {
            cpu: u64_at(stats, 72)?,
            user: u64_at(stats, 152)?.saturating_mul(1000),
            system: u64_at(stats, 160)?.saturating_mul(1000),
            minor: u64_at(stats, 168)?,
            major: u64_at(stats, 176)?,
        },
        waits: TaskTotals {
            tasks: 1,
            dispatches: u64_at(stats, 16)?,
            wait: u64_at(stats, 24)?,
            block_delay: u64_at(stats, 40)?,
            voluntary: u64_at(stats, 272)?,
            involuntary: u64_at(stats, 280)?,
        },
    })
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(place..place + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(place..place + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(place..place + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = [&(4 + value.len() as u16).to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn whole(kind: u16, body: &[u8]) -> Vec<u8> {
        let head = [&(16 + body.len() as u32).to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10]].concat();
        [head, body.to_vec()].concat()
    }

    #[test]
    fn requests_have_the_kernels_layout() {
        let asked = ask_for_ends(29, "0-1");
        assert_eq!(asked.len(), 28);
        assert_eq!((u32_at(&asked, 0), u16_at(&asked, 4), u16_at(&asked, 6)), (Some(28), Some(29), Some(5)));
        assert_eq!(&asked[16..20], [1, 1, 0, 0]);
        assert_eq!(attribute(&asked[20..], REGISTER), Some(&b"0-1\0"[..]));
    }

    #[test]
    fn ends_errors_and_families_are_told_apart() {
        let mut stats = vec![0; 376];
        for (place, value) in
            [(16, 5_u64), (24, 70), (40, 9), (72, 11), (152, 6), (160, 4), (168, 8), (176, 2), (272, 3), (280, 1)]
        {
            stats[place..place + 8].copy_from_slice(&value.to_ne_bytes());
        }
        for (place, value) in [(128, 77_u32), (132, 4), (368, 70)] {
            stats[place..place + 4].copy_from_slice(&value.to_ne_bytes());
        }
        let nested = [wrapped(1, &77_u32.to_ne_bytes()), wrapped(STATS, &stats)].concat();
        let ended = whole(29, &[vec![2, 1, 0, 0], wrapped(OF_A_TASK | 0x8000, &nested)].concat());
        let family = whole(CONTROL, &[vec![1, 2, 0, 0], wrapped(FAMILY_ID, &29_u16.to_ne_bytes())].concat());
        let refused = whole(ERROR, &(-1_i32).to_ne_bytes());
        let usage = ProcessUsage { cpu: 11, user: 6000, system: 4000, minor: 8, major: 2 };
        let waits = TaskTotals { tasks: 1, dispatches: 5, wait: 70, block_delay: 9, voluntary: 3, involuntary: 1 };
        let expected = LastAccount { task: 77, process: 70, parent: 4, usage, waits };
        let all = [ended, family, refused].concat();
        assert_eq!(parse_datagram(&all), [Message::Ended(expected), Message::Family(29), Message::Answer(1)]);
        for cut in 0..all.len() {
            assert!(parse_datagram(&all[..cut]).len() <= 3, "cut at {cut}");
        }
    }
}
