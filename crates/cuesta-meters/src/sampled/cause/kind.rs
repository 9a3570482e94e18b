//! The causes that CPU time is split by.

/// Why a CPU was busy, or that it was idle. Each sample has one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// User code outside the dynamic linker (MPL-17 "non-fault time").
    User,
    /// The user's address lies in the dynamic linker (MPL-17 "linkage fault time").
    Linking,
    /// Handling page faults (MPL-17 "missing-page fault time").
    PageFaults,
    /// Handling other exceptions.
    OtherFaults,
    /// System calls that are in neither of the next two (MPL-17 "wall crossing").
    SystemCalls,
    /// Making, loading and ending processes: fork, exec, exit (MPL-17 "time spent loading processes").
    Loading,
    /// Opening and mapping files: open, close, mmap, munmap, mprotect (MPL-17 "missing-segment fault time").
    Mapping,
    /// Choosing the next task and switching to it (Multics "getwork").
    Dispatching,
    /// Deferred work of interrupts: network receive, timers.
    Softirq,
    /// Interrupts of devices, timers and other CPUs, the part that a timer can see.
    Interrupts,
    /// Kernel threads (MPL-17 "file system daemon").
    KernelThreads,
    /// The kernel as a whole, if only user parts may be sampled.
    Kernel,
    /// No work. It never measures idle: the exact clocks do.
    Idle,
    /// No mark was found on the stack.
    Unclassified,
}

impl Cause {
    pub const COUNT: usize = 14;

    /// All of them, in the order of reports.
    pub const ALL: [Self; Self::COUNT] = [
        Self::User,
        Self::Linking,
        Self::PageFaults,
        Self::OtherFaults,
        Self::SystemCalls,
        Self::Loading,
        Self::Mapping,
        Self::Dispatching,
        Self::Softirq,
        Self::Interrupts,
        Self::KernelThreads,
        Self::Kernel,
        Self::Idle,
        Self::Unclassified,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Linking => "linking",
            Self::PageFaults => "page_faults",
            Self::OtherFaults => "other_faults",
            Self::SystemCalls => "system_calls",
            Self::Loading => "loading",
            Self::Mapping => "mapping",
            Self::Dispatching => "dispatching",
            Self::Softirq => "softirq",
            Self::Interrupts => "interrupts",
            Self::KernelThreads => "kernel_threads",
            Self::Kernel => "kernel",
            Self::Idle => "idle",
            Self::Unclassified => "unclassified",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_at_its_own_place() {
        for (index, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index, "{}", cause.name());
        }
    }
}
