//! The settings of an event, as `perf_event_open(2)` takes them.

use perf_event_open_sys::bindings as sys;

use super::record::Layout;

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
#[cfg(feature = "exact")]
pub(crate) fn each_fault(major: bool) -> sys::perf_event_attr {
    let kind = if major { sys::PERF_COUNT_SW_PAGE_FAULTS_MAJ } else { sys::PERF_COUNT_SW_PAGE_FAULTS_MIN };
    let mut attributes = sys::perf_event_attr::default();
    attributes.type_ = sys::PERF_TYPE_SOFTWARE;
    attributes.size = u32::try_from(size_of::<sys::perf_event_attr>()).unwrap_or(0);
    attributes.config = u64::from(kind);
    attributes.sample_period = 1;
    attributes.set_disabled(1);
    attributes
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
