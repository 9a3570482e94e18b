//! The ends of tasks, as the kernel tells them: what came and went between two readings is then not lost.
//!
//! It needs `CAP_NET_ADMIN`, and `kernel.task_delayacct` for the delays. Without either nothing is lost but this.

use std::collections::HashSet;
use std::os::fd::OwnedFd;

use cuesta_record::{Stamp, clock};
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with, sockopt,
};
use serde::{Deserialize, Serialize};

use crate::Figure;
use crate::kernel::cpu_list;
use crate::kernel::taskstats::{LastAccount, Message, ask_for_ends, ask_for_family, messages};

/// Bytes that the kernel may hold back for us: thousands of ends between two readings.
const ROOM: usize = 4 << 20;

/// What those of a subject's tasks that ended had done in all, since somebody listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Since when somebody listens: sums of two listeners do not compare.
    pub(crate) since: Stamp,
    pub(crate) tasks: u64,
    pub(crate) dispatches: u64,
    /// Nanoseconds.
    pub(crate) wait: u64,
    /// Nanoseconds.
    pub(crate) block_delay: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
    /// Times that the kernel had no more room for what it had to tell.
    pub(crate) overruns: u64,
}

/// Listens for the ends of tasks.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    /// Processes that were the subject's when last asked; none = all are.
    known: Option<HashSet<u32>>,
    sum: Ended,
}

impl Listener {
    /// Begins to listen, on these CPUs, for all processes or for those that it will be told of. None if it may not.
    pub(crate) fn start(cpus: &[usize], all: bool) -> Option<Self> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            Some(netlink::GENERIC),
        )
        .ok()?;
        bind(&socket, &SocketAddrNetlink::new(0, 0)).ok()?;
        let _ = sockopt::set_socket_recv_buffer_size(&socket, ROOM);
        let known = (!all).then(HashSet::new);
        let sum = Ended { since: clock::now(), ..Ended::default() };
        let listener = Self { socket, known, sum };
        let family = listener.ask(&ask_for_family()).into_iter().find_map(|answer| match answer {
            Message::Family(family) => Some(family),
            _ => None,
        })?;
        let taken = listener.ask(&ask_for_ends(family, &cpu_list::show(cpus))).contains(&Message::Answer(0));
        taken.then_some(listener)
    }

    /// Sends a request; generic netlink has answered when the call is back.
    fn ask(&self, request: &[u8]) -> Vec<Message> {
        let mut said = Vec::new();
        if send(&self.socket, request, SendFlags::empty()).is_ok() {
            self.receive(|message| said.push(message));
        }
        said
    }

    /// Gives what has come; gives how often there was no room.
    fn receive(&self, mut take: impl FnMut(Message)) -> u64 {
        let mut room = vec![0; 1 << 14];
        let mut overruns = 0;
        loop {
            match recv(&self.socket, &mut room, RecvFlags::empty()) {
                Ok((length, _)) => messages(&room[..length]).into_iter().for_each(&mut take),
                Err(Errno::NOBUFS) => overruns += 1,
                Err(Errno::INTR) => {}
                Err(_) => return overruns,
            }
        }
    }

    /// What has ended so far of a subject that has these processes now, and the children of those parents.
    pub(crate) fn ended(&mut self, processes: impl Iterator<Item = u32>, parents: &[u32]) -> Figure<Ended> {
        let living: HashSet<u32> = processes.collect();
        if let Some(known) = &mut self.known {
            known.extend(&living);
        }
        let mut strangers = Vec::new();
        self.sum.overruns += self.receive(|message| {
            if let Message::Ended(account) = message {
                strangers.push(account);
            }
        });
        loop {
            let before = strangers.len();
            strangers.retain(|account| !self.take(account, parents));
            if strangers.len() == before {
                break;
            }
        }
        // A parent that lives is known by now, one that has ended has been told of: the rest are others'. What has ended, or
        // left the subject, is forgotten: its number may come again.
        if let Some(known) = &mut self.known {
            *known = living;
        }
        Figure::plain(self.sum)
    }

    /// Adds a task if it is the subject's: of a process that is, or a child of one.
    fn take(&mut self, account: &LastAccount, parents: &[u32]) -> bool {
        if let Some(known) = &mut self.known {
            let is_child = known.contains(&account.parent) || parents.contains(&account.parent);
            if !known.contains(&account.process) && !is_child {
                return false;
            }
            known.insert(account.process);
        }
        let sum = &mut self.sum;
        sum.tasks += 1;
        sum.dispatches += account.dispatches;
        sum.wait += account.wait;
        sum.block_delay += account.block_delay;
        sum.voluntary += account.voluntary;
        sum.involuntary += account.involuntary;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::Roots;
    use crate::kernel::stat::Stat;

    /// Who may not listen has none: that is all there is to see then.
    fn listener() -> Option<Listener> {
        let stat = Roots::default().proc("stat", Stat::parse);
        let cpus: Vec<usize> = stat.value().expect("there are CPUs").cpus.keys().copied().collect();
        let listener = Listener::start(&cpus, false);
        assert!(listener.is_some() || !rustix::process::geteuid().is_root(), "root may listen");
        listener
    }

    fn ended(listener: &mut Listener) -> Ended {
        *listener.ended(std::iter::once(std::process::id()), &[]).value().expect("it is known")
    }

    fn run_programs(count: usize) {
        for _ in 0..count {
            assert!(Command::new("/bin/true").status().expect("there is /bin/true").success());
        }
    }

    #[test]
    fn programs_that_came_and_went_are_told() {
        let Some(mut listener) = listener() else { return };
        let before = ended(&mut listener);
        run_programs(20);
        let after = ended(&mut listener);
        assert!(after.tasks - before.tasks >= 20, "{before:?} {after:?}");
        assert_eq!(after.overruns, 0);
    }

    #[test]
    fn who_has_ended_or_left_is_forgotten() {
        let Some(mut listener) = listener() else { return };
        ended(&mut listener);
        run_programs(3);
        ended(&mut listener);
        assert_eq!(listener.known, Some(HashSet::from([std::process::id()])));
        let stranger = LastAccount { process: 77, parent: 1, ..LastAccount::default() };
        listener.known.get_or_insert_default().insert(77);
        assert!(listener.take(&stranger, &[]));
        ended(&mut listener);
        assert!(!listener.take(&stranger, &[]));
    }

    #[test]
    fn what_there_was_no_room_to_tell_is_counted() {
        let Some(mut listener) = listener() else { return };
        let before = ended(&mut listener);
        sockopt::set_socket_recv_buffer_size(&listener.socket, 1).expect("the least that the kernel allows");
        run_programs(20);
        let after = ended(&mut listener);
        assert!(after.overruns > 0 && after.tasks - before.tasks < 20, "{before:?} {after:?}");
    }
}
