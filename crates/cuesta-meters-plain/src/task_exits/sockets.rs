//! The netlink sockets on which the kernel reports births and ends. Both need `CAP_NET_ADMIN`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with, sockopt,
};

use crate::kernel::cpu_list;
use crate::kernel::proc_events::{self, Event, PROCESSES};
use crate::kernel::taskstats::{LastAccount, Message, ask_for_ends, ask_for_family, parse_datagram};

/// Bytes of the receive buffer: some ten thousand ends.
const ROOM: usize = 16 << 20;

fn socket(protocol: Protocol, groups: u32) -> Option<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(protocol)).ok()?;
    // Above `net.core.rmem_max`, which takes the same permission as listening.
    let _ = sockopt::set_socket_recv_buffer_size_force(&socket, ROOM);
    bind(&socket, &SocketAddrNetlink::new(0, groups)).ok()?;
    Some(socket)
}

/// Passes each datagram to `take`; returns how often the buffer was full.
fn receive(socket: &OwnedFd, mut take: impl FnMut(&[u8])) -> u64 {
    let mut room = vec![0; 1 << 14];
    let mut overruns = 0;
    loop {
        match recv(socket, &mut room, RecvFlags::empty()) {
            Ok((length, _)) => take(&room[..length]),
            Err(Errno::NOBUFS) => overruns += 1,
            Err(Errno::INTR) => {}
            Err(_) => return overruns,
        }
    }
}

/// The socket for ends of tasks.
#[derive(Debug)]
pub(super) struct ExitSocket(OwnedFd);

impl ExitSocket {
    /// Listens on these CPUs. None without permission.
    pub(super) fn listen(cpus: &[usize]) -> Option<Self> {
        let ends = Self(socket(netlink::GENERIC, 0)?);
        let family = ends.ask(&ask_for_family()).into_iter().find_map(|answer| match answer {
            Message::Family(family) => Some(family),
            _ => None,
        })?;
        let taken = ends.ask(&ask_for_ends(family, &cpu_list::show(cpus))).contains(&Message::Answer(0));
        taken.then_some(ends)
    }

    /// Sends a request; generic netlink answers before the call returns.
    fn ask(&self, request: &[u8]) -> Vec<Message> {
        let mut answers = Vec::new();
        if send(&self.0, request, SendFlags::empty()).is_ok() {
            receive(&self.0, |bytes| answers.extend(parse_datagram(bytes)));
        }
        answers
    }

    /// Passes on each last account; returns how often the buffer was full.
    pub(super) fn receive(&self, mut take: impl FnMut(LastAccount)) -> u64 {
        receive(&self.0, |bytes| {
            for message in parse_datagram(bytes) {
                if let Message::Ended(account) = message {
                    take(account);
                }
            }
        })
    }
}

impl AsFd for ExitSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The socket for births of processes.
#[derive(Debug)]
pub(super) struct ForkSocket(OwnedFd);

impl ForkSocket {
    /// Listens. None without permission, on a kernel without process events, or in a container, where no events arrive.
    pub(super) fn listen() -> Option<Self> {
        let births = Self(socket(netlink::CONNECTOR, PROCESSES)?);
        send(&births.0, &proc_events::ask_to_listen(), SendFlags::empty()).ok()?;
        let mut taken = false;
        receive(&births.0, |bytes| taken |= proc_events::event(bytes) == Some(Event::Answer(0)));
        taken.then_some(births)
    }

    /// Passes on each new process with its parent; returns how often the buffer was full.
    pub(super) fn receive(&self, mut take: impl FnMut(u32, u32)) -> u64 {
        receive(&self.0, |bytes| {
            if let Some(Event::Born { process, parent }) = proc_events::event(bytes) {
                take(process, parent);
            }
        })
    }
}

impl AsFd for ForkSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for ForkSocket {
    /// Kernels before 6.6 go on making events after the listener closed its socket.
    fn drop(&mut self) {
        let _ = send(&self.0, &proc_events::ask_to_ignore(), SendFlags::empty());
    }
}
