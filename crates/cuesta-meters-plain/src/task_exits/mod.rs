//! Births and ends of tasks, from netlink, so that processes that live between two snapshots, or leave their parents, count.
//!
//! It needs `CAP_NET_ADMIN`, and `kernel.task_delayacct` for delays. Without them all other meters still work.
//!
//! - `sockets`: the two netlink sockets. `accounts`: the owner of a task, and the sums.

mod accounts;
mod sockets;

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use cuesta_meters_report::Subject;
use cuesta_record::clock;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use self::accounts::ExitAccounts;
pub(crate) use self::accounts::{ExitTotals, SideTotals};
use self::sockets::{ExitSocket, ForkSocket};
use crate::kernel::cpu_list;
use crate::snapshot::tasks::{self, Tasks};
use crate::{CounterSnapshot, Roots, roots};

/// Pause after the first message of a burst, so that one wake-up reads many: each wake-up takes CPU from the host.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Listens for births and ends until it is dropped.
#[derive(Debug)]
pub struct ExitListener {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// State that the listening thread shares with the thread that takes snapshots.
#[derive(Debug)]
struct Shared {
    births: Option<ForkSocket>,
    ends: ExitSocket,
    /// The receiver holds this lock, so that messages are applied in order.
    accounts: Mutex<ExitAccounts>,
    /// Tells the thread to end.
    bell: OwnedFd,
    proc: PathBuf,
}

impl ExitListener {
    /// Starts to listen for births and ends of a subject's tasks, if that is allowed. Only this machine's kernel reports them.
    pub fn for_subject(subject: &Subject, roots: &Roots, first: &CounterSnapshot) -> Option<Self> {
        let all = match subject {
            Subject::Cpus(_) => return None,
            Subject::Machine => true,
            Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_) => false,
        };
        if *roots != Roots::default() {
            return None;
        }
        // CPUs that come online later too.
        let possible = roots::read(&roots.sys.join("devices/system/cpu/possible"), |list| Ok(cpu_list::parse(list)));
        let cpus = possible.value().cloned().flatten().unwrap_or_else(|| first.cpus().collect());
        Self::start(&cpus, all, &roots.proc, || tasks::read(roots, subject).value().cloned())
    }

    /// Listens on these CPUs, for all processes or for those in its snapshots and their descendants. The `first` snapshot is
    /// taken once the kernel sends messages. None without permission.
    fn start(cpus: &[usize], all: bool, proc: &Path, first: impl FnOnce() -> Option<Tasks>) -> Option<Self> {
        let (births, ends) = (ForkSocket::listen(), ExitSocket::listen(cpus)?);
        let mut accounts = ExitAccounts::new(all, clock::now(), births.is_some());
        accounts.read(&first()?);
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?;
        let shared = Arc::new(Shared { births, ends, accounts: Mutex::new(accounts), bell, proc: proc.to_owned() });
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new().name("cuesta-listener".to_owned()).spawn(move || its.listen()).ok();
        Some(Self { shared, thread })
    }

    /// The subject's processes now, by their births.
    pub(crate) fn members(&self) -> HashSet<u32> {
        self.shared.hear().known().clone()
    }

    /// Sums of all ended tasks; `tasks` were read just now.
    pub(crate) fn ended(&self, tasks: &Tasks) -> ExitTotals {
        let mut accounts = self.shared.hear();
        accounts.read(tasks);
        ExitTotals { at: clock::now(), ..accounts.sum }
    }
}

impl Drop for ExitListener {
    fn drop(&mut self) {
        // An eventfd refuses only when its 64-bit counter is full.
        let _ = rustix::io::write(&self.shared.bell, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // Its panic is already printed, and the listener ends anyway.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Reads messages before the kernel's buffer is full.
    fn listen(&self) {
        loop {
            let births = self.births.as_ref().map(|births| PollFd::new(births, PollFlags::IN));
            let mut comes: Vec<_> = births.into_iter().chain([PollFd::new(&self.ends, PollFlags::IN)]).collect();
            comes.push(PollFd::new(&self.bell, PollFlags::IN));
            let _ = poll(&mut comes, None);
            let mut rung = [PollFd::new(&self.bell, PollFlags::IN)];
            if poll(&mut rung, Some(&PAUSE)).is_ok_and(|rung| rung > 0) {
                return;
            }
            drop(self.hear());
        }
    }

    /// Applies the messages that have arrived. Ends are received before births, so that every ended task's birth is known.
    fn hear(&self) -> MutexGuard<'_, ExitAccounts> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = Vec::new();
        let mut overruns = self.ends.receive(|account| ended.push(account));
        if let Some(births) = &self.births {
            overruns += births.receive(|process, parent| accounts.born(process, parent));
        }
        accounts.sum.overruns += overruns;
        accounts.ended(&ended);
        accounts.sweep(|pid| self.proc.join(pid.to_string()).exists());
        accounts
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::net::sockopt;

    use super::*;
    use crate::kernel::stat::Stat;

    fn read() -> Tasks {
        let own = Subject::Process(std::process::id());
        tasks::read(&Roots::default(), &own).value().expect("it is known").clone()
    }

    /// None without permission to listen.
    fn listener() -> Option<ExitListener> {
        let stat = Roots::default().proc("stat", Stat::parse);
        let cpus: Vec<usize> = stat.value().expect("there are CPUs").cpus.keys().copied().collect();
        let listener = ExitListener::start(&cpus, false, Path::new("/proc"), || Some(read()));
        assert!(listener.is_some() || !rustix::process::geteuid().is_root(), "root may listen");
        listener
    }

    fn run_programs(count: usize) {
        for _ in 0..count {
            assert!(Command::new("/bin/true").status().expect("there is /bin/true").success());
        }
    }

    #[test]
    fn short_lived_programs_are_reported() {
        let Some(listener) = listener() else { return };
        let before = listener.ended(&read());
        run_programs(20);
        let after = listener.ended(&read());
        assert!(after.subject.tasks.tasks - before.subject.tasks.tasks >= 20, "{before:?} {after:?}");
        assert!(after.subject.processes.cpu > before.subject.processes.cpu, "{before:?} {after:?}");
        assert_eq!(after.overruns, 0);
    }

    #[test]
    fn lost_messages_are_counted() {
        let Some(listener) = listener() else { return };
        let before = listener.ended(&read());
        sockopt::set_socket_recv_buffer_size(&listener.shared.ends, 1).expect("the least that the kernel allows");
        let lock = listener.shared.accounts.lock().expect("no panic under this lock");
        run_programs(20);
        drop(lock);
        let after = listener.ended(&read());
        assert!(after.overruns > 0, "{before:?} {after:?}");
    }
}
