//! The account of a CPU since tracing began, as the programs in the kernel keep it (`struct account` of `account.h`). Pure.

/// Counters, which come before the tracer's own state.
const WORDS: usize = 72;

/// The offset of each table.
const RUN: usize = 32;
const INTERRUPTS: usize = 34;
const IDLE: usize = 42;
const FAULTS: usize = 46;
const CALLS: usize = 48;
const SWITCHES: usize = 56;
const WAKEUPS: usize = 58;
const FORKS: usize = 59;
const EXECS: usize = 60;
const WAITS: usize = 61;
const WAITED: usize = 65;
const MISSED: usize = 69;
const STOLEN: usize = 70;
const IDLE_STOLEN: usize = 71;

/// The owner of a CPU's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The subject.
    Own = 0,
    /// Other tasks.
    Others = 1,
    /// No task: the CPU was idle, except for interrupts.
    Nobody = 2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// User code; with the light tracer also all system calls; without an owner, idle.
    Run = 0,
    Fault = 1,
    Call = 2,
    Loading = 3,
    Mapping = 4,
    /// Kernel threads.
    Thread = 5,
    Hard = 6,
    Soft = 7,
}

impl Class {
    pub(super) const ALL: [Self; 8] =
        [Self::Run, Self::Fault, Self::Call, Self::Loading, Self::Mapping, Self::Thread, Self::Hard, Self::Soft];
}

/// Why tasks of the subject waited while a CPU was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// In a page fault.
    Page = 0,
    /// While a program was loaded.
    Loading = 1,
    /// For a device, in other cases.
    Io = 2,
    /// Throttled by a quota of CPU time.
    Quota = 3,
}

/// All of them; the first that applies counts.
pub(super) const WAIT_KINDS: [Wait; 4] = [Wait::Page, Wait::Loading, Wait::Io, Wait::Quota];

/// One CPU's numbers, or a sum or difference of some. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account([u64; WORDS]);

impl Account {
    pub(super) const ZERO: Self = Self([0; WORDS]);

    /// Reads a value of the kernel's table; none if it is too short.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        (bytes.len() >= 8 * WORDS).then_some(Self(words))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word].saturating_add(other.0[word])))
    }

    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word].saturating_sub(earlier.0[word])))
    }

    pub(super) fn ns(&self, owner: Owner, class: Class) -> u64 {
        self.0[owner as usize * Class::ALL.len() + class as usize]
    }

    /// CPU time of an owner in its tasks' contexts.
    pub(super) fn of_owner(&self, owner: Owner) -> u64 {
        Class::ALL.into_iter().map(|class| self.ns(owner, class)).sum()
    }

    /// The time that the account covers.
    pub(super) fn covered(&self) -> u64 {
        [Owner::Own, Owner::Others, Owner::Nobody].into_iter().map(|owner| self.of_owner(owner)).sum()
    }

    /// CPU time of tasks by the scheduler's own clock, which leaves stolen time out.
    pub(super) fn scheduled(&self, owner: Owner) -> u64 {
        if owner == Owner::Nobody { 0 } else { self.0[RUN + owner as usize] }
    }

    /// Number of interrupts, hard or soft, during an owner's time.
    pub(super) fn interrupts(&self, owner: Owner, class: Class) -> u64 {
        self.0[INTERRUPTS + 2 * owner as usize + usize::from(class == Class::Soft)]
    }

    /// Idle time. What the hypervisor took of it is none.
    pub(super) fn all_idle(&self) -> u64 {
        self.ns(Owner::Nobody, Class::Run).saturating_sub(self.0[IDLE_STOLEN])
    }

    pub(super) fn idle(&self, wait: Wait) -> u64 {
        self.0[IDLE + wait as usize]
    }

    /// The subject's page faults: minor and major.
    pub(super) fn faults(&self) -> [u64; 2] {
        [self.0[FAULTS], self.0[FAULTS + 1]]
    }

    /// The subject's system calls of a class.
    pub(super) fn calls(&self, class: Class) -> u64 {
        self.0[CALLS + class as usize]
    }

    /// The subject's switches: voluntary, involuntary.
    pub(super) fn switches(&self) -> [u64; 2] {
        [self.0[SWITCHES], self.0[SWITCHES + 1]]
    }

    pub(super) fn wakeups(&self) -> u64 {
        self.0[WAKEUPS]
    }

    pub(super) fn forks(&self) -> u64 {
        self.0[FORKS]
    }

    pub(super) fn execs(&self) -> u64 {
        self.0[EXECS]
    }

    /// Ended waits: their number and their time.
    pub(super) fn waits(&self, wait: Wait) -> (u64, u64) {
        (self.0[WAITS + wait as usize], self.0[WAITED + wait as usize])
    }

    /// Switches of tasks that the kernel did not report.
    pub(super) fn missed(&self) -> u64 {
        self.0[MISSED]
    }

    /// What the hypervisor took of the CPU; 0 too if this kernel does not tell the tracer.
    pub(super) fn stolen(&self) -> u64 {
        self.0[STOLEN]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_offsets_of_the_kernel_side() {
        let bytes: Vec<u8> = (0..80_u64).flat_map(u64::to_ne_bytes).collect();
        let account = Account::read(&bytes).unwrap();
        assert_eq!(account.ns(Owner::Nobody, Class::Soft), 23);
        assert_eq!(account.scheduled(Owner::Others), 33);
        assert_eq!(account.interrupts(Owner::Nobody, Class::Soft), 39);
        assert_eq!(account.idle(Wait::Quota), 45);
        assert_eq!(account.faults(), [46, 47]);
        assert_eq!(account.calls(Class::Soft), 55);
        assert_eq!(account.switches(), [56, 57]);
        assert_eq!([account.wakeups(), account.forks(), account.execs()], [58, 59, 60]);
        assert_eq!((account.waits(Wait::Quota), account.missed(), account.stolen()), ((64, 68), 69, 70));
        assert_eq!((account.covered(), account.all_idle()), ((0..24).sum(), 0));
        assert_eq!(Account::read(&bytes[..8 * WORDS - 1]), None);
    }

    #[test]
    fn a_counter_that_went_back_counts_as_zero() {
        let one = Account::read(&[1; 8 * WORDS]).unwrap();
        assert_eq!(Account::ZERO.since(&one), Account::ZERO);
        assert_eq!(one.plus(&one).since(&one), one);
    }
}
