//! What the agent's own work costs, and what the kernel refused.

use std::fs;
use std::io;
use std::time::Duration;

use serde::Serialize;

/// Counted since the last reset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct EndpointCounters {
    /// How often the thread woke up.
    pub(crate) wakeups: u64,
    /// Reads, writes and waits; rare calls are not counted.
    pub(crate) system_calls: u64,
    /// CPU time of the thread, nanoseconds; the kernel's TCP receives within the thread's writes.
    pub(crate) cpu_ns: u64,
    /// Packets that this host's programs sent.
    pub(crate) read_from_host: u64,
    /// Packets for this host's programs.
    pub(crate) written_to_host: u64,
    /// Datagrams from the network.
    pub(crate) received: u64,
    /// Messages that the kernel took apart; none of them is in `received`, and their segments are not in `written_to_host`.
    pub(crate) received_in_kernel: u64,
    /// Datagrams to the network: messages, ENQs, and packets that are not multiplexed.
    pub(crate) sent: u64,
    pub(crate) dropped: KernelDrops,
}

/// Packets that the kernel did not take, or did not keep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct KernelDrops {
    /// Datagrams from the network, because too many waited.
    pub(crate) receive_queue: u64,
    /// Packets from this host, because too many waited in the TUN device.
    pub(crate) device_queue: u64,
    /// Packets to this host that the TUN device dropped, for example because too many waited for the CPU, or that the program in
    /// the kernel could not give to it.
    pub(crate) to_host: u64,
    /// Datagrams to the network that were too large for their route.
    pub(crate) too_large: u64,
    /// Datagrams to the network, because too many waited.
    pub(crate) send_queue: u64,
    /// Datagrams to the network that had no route, or that a firewall refused.
    pub(crate) unreachable: u64,
}

impl EndpointCounters {
    /// Counts a datagram that the kernel did not send.
    pub(crate) fn not_sent(&mut self, error: &io::Error) {
        self.sent -= 1;
        let dropped = &mut self.dropped;
        let count = match error.raw_os_error() {
            Some(libc::EMSGSIZE) => &mut dropped.too_large,
            Some(libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM) => &mut dropped.send_queue,
            _ => &mut dropped.unreachable,
        };
        *count += 1;
    }

    /// The counts since `earlier` of what only grows in the kernel.
    pub(crate) fn since(mut self, earlier: &KernelCounts, now: &KernelCounts) -> Self {
        self.cpu_ns = now.cpu.saturating_sub(earlier.cpu).as_nanos() as u64;
        self.dropped.receive_queue = now.receive_queue.saturating_sub(earlier.receive_queue);
        self.dropped.device_queue = now.device.sent.saturating_sub(earlier.device.sent);
        self.dropped.to_host += now.device.received.saturating_sub(earlier.device.received);
        self
    }
}

/// Counts that the kernel keeps from the start on.
#[derive(Debug, Clone, Default)]
pub(crate) struct KernelCounts {
    pub(crate) cpu: Duration,
    pub(crate) receive_queue: u64,
    pub(crate) device: DeviceDrops,
}

/// Packets that the kernel dropped at a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeviceDrops {
    /// On their way to this host's programs.
    pub(crate) received: u64,
    /// Before the device could send them.
    pub(crate) sent: u64,
}

impl DeviceDrops {
    /// The counts of `device`; 0 if the kernel does not tell.
    pub(crate) fn read(device: &str) -> Self {
        let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
        Self::find(&text, device).unwrap_or_default()
    }

    /// The fourth and the twelfth count of a device's row: eight are of what it received, then eight of what it sent, and both
    /// begin with packets, octets, errors, drops.
    fn find(text: &str, device: &str) -> Option<Self> {
        let counts = text.lines().find_map(|row| row.trim_start().strip_prefix(device)?.strip_prefix(':'))?;
        let count = |number| counts.split_whitespace().nth(number)?.parse().ok();
        Some(Self { received: count(3)?, sent: count(11)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_found_by_the_devices_name() {
        let text = "Inter-|   Receive    |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes\n\
                    tmux01: 1 2 3 4 5 6 7 8 9 10 11 99 13 14 15 16\n tmux0:  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        assert_eq!(DeviceDrops::find(text, "tmux0"), Some(DeviceDrops { received: 4, sent: 12 }));
        assert_eq!(DeviceDrops::find(text, "eth0"), None);
    }

    #[test]
    fn datagrams_that_were_not_sent_are_counted_by_kind() {
        let mut counters = EndpointCounters { sent: 3, ..EndpointCounters::default() };
        for error in [libc::EMSGSIZE, libc::ENOBUFS, libc::EHOSTUNREACH] {
            counters.not_sent(&io::Error::from_raw_os_error(error));
        }
        let dropped = KernelDrops { too_large: 1, send_queue: 1, unreachable: 1, ..KernelDrops::default() };
        assert_eq!(counters, EndpointCounters { dropped, ..EndpointCounters::default() });
    }
}
