//! Bytes of a ring → records. Pure. No bytes cause a panic; records that cannot be read are skipped.
//!
//! Source: `perf_event_open(2)`, "MMAP layout". Numbers are in the machine's own byte order.

use cuesta_record::Stamp;
use perf_event_open_sys::bindings as sys;

/// The optional fields that the records of an event have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Samples have a call chain.
    pub chain: bool,
    /// Samples have the id of a control group.
    pub cgroup: bool,
}

/// A record and its instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamped {
    pub at: Stamp,
    pub record: Record,
}

/// A record of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A moment of a CPU's time.
    Sample(Sample),
    /// A process mapped executable memory or a file.
    Mapped { process: u32, map: Map },
    Named {
        process: u32,
        task: u32,
        /// At most 15 characters.
        name: String,
        /// Whether it runs a new program, so that its old mappings are gone.
        exec: bool,
    },
    /// A task was forked.
    Born {
        process: u32,
        /// Its parent's process; for a thread, its own.
        parent: u32,
    },
    /// A task has ended.
    Ended {
        process: u32,
        /// The task; its id equals the process id if it was the first.
        task: u32,
    },
    /// The number of records or samples that had no room.
    Lost(u64),
    /// The kernel stopped sampling a CPU for the rest of a tick because there were too many samples.
    Throttled,
    /// A control group and its id.
    Cgroup {
        /// The inode of its folder.
        id: u64,
        /// Its path below the root of the hierarchy.
        path: String,
    },
}

/// A moment of a CPU's time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// The process that ran; 0 if none did, `u32::MAX` if it had ended already.
    pub process: u32,
    pub task: u32,
    pub cpu: u32,
    /// Nanoseconds that the sample stands for.
    pub period: u64,
    /// Whether its CPU was sampled at half rate.
    pub half_rate: bool,
    /// Whether user code ran, or the kernel.
    pub mode: Mode,
    /// The kernel's stack, the innermost address first. Empty if user code ran.
    pub kernel: Vec<u64>,
    /// The user's address, or where the user will resume; none for a kernel thread.
    pub user: Option<u64>,
    /// Return addresses of the user's functions, the innermost first, if users' stacks are walked.
    pub callers: Vec<u64>,
    /// The inode of the control group's folder, if the kernel reports it.
    pub cgroup: Option<u64>,
}

/// What ran when a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// User code.
    #[default]
    User,
    Kernel,
    /// Neither is known: a guest of this machine, or its hypervisor.
    Other,
}

/// An executable range of a process' memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// Its first address.
    pub start: u64,
    /// The address after its last one.
    pub end: u64,
    /// Its start within the file, in bytes.
    pub offset: u64,
    /// The file, or a name in brackets or slashes.
    pub path: String,
}

/// The records in `bytes`. The first byte must be the start of a record.
pub fn records(bytes: &[u8], layout: Layout) -> impl Iterator<Item = Stamped> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let (kind, misc, body) = cut(&mut rest)?;
            if let Some(record) = read(kind, misc, body, layout) {
                return Some(record);
            }
        }
    })
}

/// Removes one record: its kind, its flags and its body.
fn cut<'a>(rest: &mut &'a [u8]) -> Option<(u32, u32, &'a [u8])> {
    let mut header = Reader(rest);
    let kind = header.u32()?;
    let misc = header.u16()?;
    let length = usize::from(header.u16()?);
    let body = rest.get(HEADER..length)?;
    *rest = &rest[length..];
    Some((kind, misc.into(), body))
}

const HEADER: usize = 8;

/// Bytes at the end of each record except samples: process and task, instant, CPU.
const TRAILER: usize = 24;

fn read(kind: u32, misc: u32, body: &[u8], layout: Layout) -> Option<Stamped> {
    if kind == sys::PERF_RECORD_SAMPLE {
        return sample(misc, Reader(body), layout);
    }
    let (body, trailer) = body.split_at_checked(body.len().checked_sub(TRAILER)?)?;
    let at = Stamp::from_nanos(Reader(trailer.get(8..)?).u64()?);
    let record = event(kind, misc, Reader(body))?;
    Some(Stamped { at, record })
}

/// Any record but a sample.
fn event(kind: u32, misc: u32, mut body: Reader<'_>) -> Option<Record> {
    Some(match kind {
        sys::PERF_RECORD_MMAP2 => mapped(body)?,
        sys::PERF_RECORD_COMM => {
            let (process, task) = (body.u32()?, body.u32()?);
            Record::Named { process, task, name: body.text(), exec: misc & sys::PERF_RECORD_MISC_COMM_EXEC != 0 }
        }
        sys::PERF_RECORD_FORK => Record::Born { process: body.u32()?, parent: body.u32()? },
        sys::PERF_RECORD_EXIT => {
            let (process, _parent, task) = (body.u32()?, body.u32()?, body.u32()?);
            Record::Ended { process, task }
        }
        sys::PERF_RECORD_LOST => {
            let _event = body.u64()?;
            Record::Lost(body.u64()?)
        }
        sys::PERF_RECORD_LOST_SAMPLES => Record::Lost(body.u64()?),
        sys::PERF_RECORD_THROTTLE => Record::Throttled,
        sys::PERF_RECORD_CGROUP => Record::Cgroup { id: body.u64()?, path: body.text() },
        _ => return None,
    })
}

fn mapped(mut body: Reader<'_>) -> Option<Record> {
    let process = body.u32()?;
    let _task = body.u32()?;
    let (start, length, offset) = (body.u64()?, body.u64()?, body.u64()?);
    // Device, inode and its generation, or a build id: 24 bytes; protection and flags: 8.
    body.skip(32)?;
    let map = Map { start, end: start.checked_add(length)?, offset, path: body.text() };
    Some(Record::Mapped { process, map })
}

fn sample(misc: u32, mut body: Reader<'_>, layout: Layout) -> Option<Stamped> {
    let address = body.u64()?;
    let (process, task) = (body.u32()?, body.u32()?);
    let at = Stamp::from_nanos(body.u64()?);
    let cpu = body.u32()?;
    body.skip(4)?;
    let period = body.u64()?;
    let mode = match misc & sys::PERF_RECORD_MISC_CPUMODE_MASK {
        sys::PERF_RECORD_MISC_USER => Mode::User,
        sys::PERF_RECORD_MISC_KERNEL => Mode::Kernel,
        _ => Mode::Other,
    };
    let (kernel, mut callers) = if layout.chain { chain(&mut body)? } else { Default::default() };
    // The first address is the user's current one.
    callers.drain(..1.min(callers.len()));
    let registers = if body.u64()? == 0 { None } else { Some(body.u64()?) };
    let user = if mode == Mode::User { Some(address) } else { registers };
    let cgroup = if layout.cgroup { Some(body.u64()?) } else { None };
    let sample = Sample { process, task, cpu, period, half_rate: false, mode, kernel, user, callers, cgroup };
    Some(Stamped { at, record: Record::Sample(sample) })
}

/// The kernel's part of a call chain, then the user's. The kernel marks the start of each part with an impossible address.
fn chain(body: &mut Reader<'_>) -> Option<(Vec<u64>, Vec<u64>)> {
    let length = usize::try_from(body.u64()?).ok()?;
    let bytes = body.take(length.checked_mul(8)?)?;
    let addresses = bytes.chunks_exact(8).filter_map(|bytes| Reader(bytes).u64());
    let (mut mark, mut kernel, mut user) = (0, Vec::new(), Vec::new());
    for address in addresses {
        match (address, mark) {
            (FIRST_MARK.., _) => mark = address,
            (_, KERNEL_MARK) => kernel.push(address),
            (_, USER_MARK) => user.push(address),
            _ => {}
        }
    }
    Some((kernel, user))
}

/// `PERF_CONTEXT_MAX`: from here on an address in a chain is a mark.
const FIRST_MARK: u64 = 0_u64.wrapping_sub(4095);
/// `PERF_CONTEXT_KERNEL`: the addresses after it are the kernel's.
const KERNEL_MARK: u64 = 0_u64.wrapping_sub(128);

/// `PERF_CONTEXT_USER`: the addresses after it are the user's.
const USER_MARK: u64 = 0_u64.wrapping_sub(512);

/// Removes numbers from the front of bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(drop)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_ne_bytes)
    }

    /// The rest as text, to the first zero.
    fn text(&self) -> String {
        let bytes = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Layout = Layout { chain: true, cgroup: true };

    fn numbers(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    fn framed(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(HEADER + body.len()).expect("short");
        numbers(&[&kind.to_ne_bytes(), &misc.to_ne_bytes(), &length.to_ne_bytes(), body])
    }

    fn trailer(at: u64) -> Vec<u8> {
        numbers(&[&[0; 8], &at.to_ne_bytes(), &[0; 8]])
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn a_sample_has_the_kernels_part_of_the_chain_and_the_users() {
        let ids = numbers(&[&7_u32.to_ne_bytes(), &8_u32.to_ne_bytes()]);
        let guest = KERNEL_MARK.wrapping_sub(1920);
        let chain = [8, KERNEL_MARK, 0xffff_ffff_8100_0000, guest, 0x99, USER_MARK, 0x5555, 0x1234, 0x5678];
        let body = numbers(&[
            &words(&[0xffff_ffff_8100_0000]),
            &ids,
            &words(&[55, 1, 1_003_009]),
            &words(&chain),
            &words(&[2, 0x5555, 99]),
        ]);
        let bytes = framed(sys::PERF_RECORD_SAMPLE, 1, &body);
        let expected = Sample {
            process: 7,
            task: 8,
            cpu: 1,
            period: 1_003_009,
            half_rate: false,
            mode: Mode::Kernel,
            kernel: vec![0xffff_ffff_8100_0000],
            user: Some(0x5555),
            callers: vec![0x1234, 0x5678],
            cgroup: Some(99),
        };
        let came: Vec<_> = records(&bytes, ALL).collect();
        assert_eq!(came, [Stamped { at: Stamp::from_nanos(55), record: Record::Sample(expected) }]);
    }

    #[test]
    fn a_mapping_a_name_a_birth_and_an_end() {
        let ids = numbers(&[&7_u32.to_ne_bytes(), &8_u32.to_ne_bytes()]);
        let map = numbers(&[&ids, &words(&[0x1000, 0x2000, 0x40]), &[0; 32], b"/lib/x.so\0\0\0", &trailer(1)]);
        let name = numbers(&[&ids, b"emacs\0\0\0", &trailer(2)]);
        let born = numbers(&[&ids, &ids, &words(&[3]), &trailer(3)]);
        let lost = numbers(&[&words(&[0, 41]), &trailer(4)]);
        let bytes = numbers(&[
            &framed(sys::PERF_RECORD_MMAP2, 0, &map),
            &framed(sys::PERF_RECORD_COMM, 1 << 13, &name),
            &framed(sys::PERF_RECORD_FORK, 0, &born),
            &framed(sys::PERF_RECORD_EXIT, 0, &born),
            &framed(sys::PERF_RECORD_LOST, 0, &lost),
        ]);
        let came: Vec<_> = records(&bytes, ALL).map(|stamped| (stamped.at.as_nanos(), stamped.record)).collect();
        let map = Map { start: 0x1000, end: 0x3000, offset: 0x40, path: "/lib/x.so".to_owned() };
        assert_eq!(
            came,
            [
                (1, Record::Mapped { process: 7, map }),
                (2, Record::Named { process: 7, task: 8, name: "emacs".to_owned(), exec: true }),
                (3, Record::Born { process: 7, parent: 8 }),
                (3, Record::Ended { process: 7, task: 7 }),
                (4, Record::Lost(41)),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), chain: bool) {
            let layout = Layout { chain, cgroup: chain };
            prop_assert!(records(&bytes, layout).count() <= bytes.len() / HEADER);
        }

        #[test]
        fn a_cut_record_gives_none(length in 0_usize..80) {
            let body = numbers(&[&words(&[1, 2, 3, 4, 5]), &words(&[0]), &words(&[0, 9])]);
            let bytes = framed(sys::PERF_RECORD_SAMPLE, 2, &body);
            let whole = usize::from(length >= bytes.len());
            prop_assert_eq!(records(&bytes[..length.min(bytes.len())], ALL).count(), whole);
        }
    }
}
