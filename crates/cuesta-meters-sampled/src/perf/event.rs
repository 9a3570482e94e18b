//! An event of `perf_event_open(2)`: its settings, its system calls, and the ring that the kernel fills with its records. In a
//! file of its own because system calls and shared memory are unsafe, and no safe crate has them all.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys as perf;
use perf_event_open_sys::bindings as sys;
use perf_event_open_sys::bindings::perf_event_attr;
use perf_event_open_sys::bindings::perf_event_mmap_page as Head;

use super::record::Layout;

/// An open event of the kernel, disabled at first.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// Opens an event on all tasks of `cpu`, or on one task, on one CPU or on any.
    pub(crate) fn open(config: EventConfig, task: Option<i32>, cpu: Option<u32>) -> io::Result<Self> {
        let task = task.unwrap_or(-1);
        let cpu = cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
        open(config.attributes(), task, cpu).map(Self)
    }

    /// Opens the event that fires on a CPU when the kernel has handled a page fault, major or minor.
    pub fn of_faults(cpu: usize, major: bool) -> io::Result<OwnedFd> {
        open(each_fault(major), -1, i32::try_from(cpu).unwrap_or(i32::MAX))
    }

    pub(crate) fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is an open event; the argument is not an address.
        check(unsafe { perf::ioctls::ENABLE(self.0.as_raw_fd(), 0) })
    }

    pub(crate) fn disable(&self) -> io::Result<()> {
        // SAFETY: as in `enable`.
        check(unsafe { perf::ioctls::DISABLE(self.0.as_raw_fd(), 0) })
    }

    /// Sets the nanoseconds between two samples. The records of the kernel still show the former period.
    pub(crate) fn set_period(&self, nanos: u64) -> io::Result<()> {
        // The kernel takes the address of the number, but the binding's parameter is an integer.
        let address = (&raw const nanos).addr() as u64;
        // SAFETY: the descriptor is an open event; the kernel reads the number, which lives longer than the call.
        check(unsafe { perf::ioctls::PERIOD(self.0.as_raw_fd(), address) })
    }

    /// Writes into the ring of another event on the same CPU.
    pub(crate) fn write_into(&self, other: &Self) -> io::Result<()> {
        // SAFETY: both descriptors are open events; the kernel checks that they go together.
        check(unsafe { perf::ioctls::SET_OUTPUT(self.0.as_raw_fd(), other.0.as_raw_fd()) })
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn open(mut attributes: perf_event_attr, task: i32, cpu: i32) -> io::Result<OwnedFd> {
    // SAFETY: `attributes` is initialised and says its own size; the kernel writes at most that size back.
    let fd = unsafe {
        perf::perf_event_open(&raw mut attributes, task, cpu, -1, perf::bindings::PERF_FLAG_FD_CLOEXEC.into())
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor that no other code owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Samples a second. A prime keeps samples out of step with the kernel's tick and a driver's timers.
pub(crate) const FREQUENCY: u64 = 997;

/// Bytes of data in a ring. With its first page, the kernel lets any user lock this much (`perf_event_mlock_kb`).
pub(crate) const RING_BYTES: usize = 512 << 10;

/// Which tasks an event samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All that runs on the CPU of the event.
    Machine,
    /// One task and those that it starts.
    Descendants,
    /// One task alone.
    Task,
}

/// The settings of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventConfig {
    pub(crate) scope: Scope,
    /// Nanoseconds of the CPU's (or the task's) time between two samples.
    pub(crate) period: u64,
    /// Whether samples have the kernel's part of the stack. If not, the kernel drops samples of its own code.
    pub(crate) kernel: bool,
    /// Whether samples have the user's part of the stack. It takes programs that keep frame pointers; in others the kernel
    /// reads random stack values, and nearly each sample costs a page fault.
    pub(crate) user_stack: bool,
    /// Whether a sample has the id of its control group (Linux 5.7).
    pub(crate) cgroup: bool,
}

impl EventConfig {
    /// All that runs on a CPU, at [`FREQUENCY`].
    pub(crate) fn machine() -> Self {
        Self { scope: Scope::Machine, period: 1_000_000_000 / FREQUENCY, kernel: true, user_stack: false, cgroup: true }
    }

    pub(crate) fn layout(self) -> Layout {
        Layout { chain: self.has_chain(), cgroup: self.cgroup }
    }

    /// The settings as the kernel takes them.
    ///
    /// The user's address comes from its register. The period is fixed: with a frequency the kernel would vary it.
    pub(crate) fn attributes(self) -> sys::perf_event_attr {
        let mut attributes = sys::perf_event_attr::default();
        attributes.type_ = sys::PERF_TYPE_SOFTWARE;
        attributes.size = u32::try_from(size_of::<sys::perf_event_attr>()).unwrap_or(0);
        attributes.config = u64::from(sys::PERF_COUNT_SW_CPU_CLOCK);
        attributes.sample_period = self.period;
        attributes.sample_type = self.sampled();
        attributes.sample_regs_user = USER_ADDRESS;
        attributes.set_disabled(1);
        attributes.set_inherit(u64::from(self.scope == Scope::Descendants));
        attributes.set_exclude_kernel(u64::from(!self.kernel));
        attributes.set_exclude_hv(1);
        attributes.set_exclude_callchain_kernel(u64::from(!self.kernel));
        attributes.set_exclude_callchain_user(u64::from(!self.user_stack));
        attributes.set_mmap(1);
        attributes.set_mmap2(1);
        attributes.set_comm(1);
        attributes.set_comm_exec(1);
        attributes.set_task(1);
        attributes.set_cgroup(u64::from(self.cgroup));
        attributes.set_sample_id_all(1);
        attributes.set_use_clockid(1);
        attributes.clockid = MONOTONIC;
        attributes.set_watermark(1);
        attributes.wakeup_watermark = u32::try_from(RING_BYTES / 2).unwrap_or(u32::MAX);
        attributes
    }

    fn has_chain(self) -> bool {
        self.kernel || self.user_stack
    }

    fn sampled(self) -> u64 {
        let always = sys::PERF_SAMPLE_IP
            | sys::PERF_SAMPLE_TID
            | sys::PERF_SAMPLE_TIME
            | sys::PERF_SAMPLE_CPU
            | sys::PERF_SAMPLE_PERIOD
            | sys::PERF_SAMPLE_REGS_USER;
        let chain = if self.has_chain() { sys::PERF_SAMPLE_CALLCHAIN } else { 0 };
        let cgroup = if self.cgroup { sys::PERF_SAMPLE_CGROUP } else { 0 };
        u64::from(always | chain | cgroup)
    }
}

/// The clock of our stamps, `CLOCK_MONOTONIC`.
const MONOTONIC: i32 = 1;

/// The register with the instruction's address (`asm/perf_regs.h`).
#[cfg(target_arch = "x86_64")]
const USER_ADDRESS: u64 = 1 << 8;
/// `PERF_REG_ARM64_PC`. Not tested.
#[cfg(target_arch = "aarch64")]
const USER_ADDRESS: u64 = 1 << 32;

/// An event for each handled page fault, major or minor; it takes no samples.
fn each_fault(major: bool) -> sys::perf_event_attr {
    let kind = if major { sys::PERF_COUNT_SW_PAGE_FAULTS_MAJ } else { sys::PERF_COUNT_SW_PAGE_FAULTS_MIN };
    let mut attributes = sys::perf_event_attr::default();
    attributes.type_ = sys::PERF_TYPE_SOFTWARE;
    attributes.size = u32::try_from(size_of::<sys::perf_event_attr>()).unwrap_or(0);
    attributes.config = u64::from(kind);
    attributes.sample_period = 1;
    attributes.set_disabled(1);
    attributes
}

/// An event with its ring.
#[derive(Debug)]
pub(crate) struct Ring {
    event: Event,
    /// A page with the write and read positions, then `RING_BYTES` of records.
    start: NonNull<Head>,
    page: usize,
}

// SAFETY: the mapping belongs to this value alone, and reading takes `&mut self`.
unsafe impl Send for Ring {}

impl Ring {
    pub(crate) fn map(event: Event) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new shared mapping at an address of the kernel's choice, of an event's descriptor.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), page + RING_BYTES, protection, libc::MAP_SHARED, event.as_fd().as_raw_fd(), 0)
        };
        match NonNull::new(start.cast::<Head>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { event, start, page }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Appends to `bytes` all that the kernel wrote since the last call, and frees that room in the ring.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>) {
        let (written, read) = self.ends();
        let head = written.load(Ordering::Acquire);
        let tail = read.load(Ordering::Relaxed);
        let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0).min(RING_BYTES);
        let from = usize::try_from(tail % RING_BYTES as u64).unwrap_or(0);
        let first = length.min(RING_BYTES - from);
        bytes.reserve(length);
        // SAFETY: the data lies one page behind `start` and is RING_BYTES long; `from + first` is not beyond its end and
        // `length - first` is less than `from`. The kernel does not write between tail and head until tail is moved.
        unsafe {
            let data = self.start.as_ptr().cast::<u8>().add(self.page);
            let end = bytes.as_mut_ptr().add(bytes.len());
            ptr::copy_nonoverlapping(data.add(from), end, first);
            ptr::copy_nonoverlapping(data, end.add(first), length - first);
            bytes.set_len(bytes.len() + length);
        }
        read.store(head, Ordering::Release);
    }

    /// The kernel's write position and our read position, in bytes since the ring was mapped.
    fn ends(&self) -> (&AtomicU64, &AtomicU64) {
        let head = self.start.as_ptr();
        // SAFETY: both fields lie in the mapping, are aligned, and are shared with the kernel as atomics.
        unsafe { (AtomicU64::from_ptr(&raw mut (*head).data_head), AtomicU64::from_ptr(&raw mut (*head).data_tail)) }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and no reference into it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.page + RING_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_is_fixed_and_user_stacks_are_not_walked() {
        let attributes = EventConfig::machine().attributes();
        assert_eq!((attributes.freq(), attributes.exclude_callchain_user()), (0, 1));
        assert_eq!(attributes.sample_period, 1_003_009);
        assert_eq!(attributes.inherit(), 0);
    }
}
