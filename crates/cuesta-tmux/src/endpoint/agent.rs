//! The agent's thread: waits for packets, requests and due instants, and gives them to the multiplexer.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use cuesta_record::{Stamp, TimerFd, clock};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use serde_json::{Value, json};

use super::counters::{DeviceDrops, EndpointCounters, KernelCounts};
use super::datagrams::Received;
use super::kernel_receive::KernelReceive;
use super::packet_io::PacketIo;
use super::requests::{Request, RequestQueue};
use super::resolved::Resolved;
use super::routing::{self, Path, Routing};
use super::sockets::Sockets;
use super::{EndpointError, EndpointSpec, scheduling};
use crate::wire::Multiplexer;

/// The largest packet.
const LARGEST: usize = 65_536;
/// Packets that are read from one source before the others have their turn.
const TURN: usize = 1024;

/// The agent of one host.
#[derive(Debug)]
pub(crate) struct Agent {
    spec: EndpointSpec,
    /// The largest datagram, octets.
    mtu: usize,
    multiplexer: Multiplexer,
    /// What receives in the kernel, or why nothing does. Dropped before the device, so that messages go to the peers' sockets
    /// and not to a device that is gone.
    kernel: Result<KernelReceive, String>,
    io: PacketIo,
    received: Received,
    /// A packet that is read.
    packet: Vec<u8>,
    requests: RequestQueue,
    events: OwnedFd,
    timer: TimerFd,
    /// The instant that the timer is armed for.
    armed: Stamp,
    counting_since: Stamp,
    /// What the kernel had counted then.
    at_reset: KernelCounts,
    routing: Option<Routing>,
}

/// What the thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Packets of this host, in the TUN device.
    Host,
    /// Datagrams of a version of IP.
    Network {
        is_v4: bool,
    },
    /// ICMP of a version of IP.
    Icmp {
        is_v4: bool,
    },
    /// The timer.
    Due,
    Requests,
}

const SOURCES: [Source; 7] = [
    Source::Network { is_v4: true },
    Source::Network { is_v4: false },
    Source::Host,
    Source::Due,
    Source::Icmp { is_v4: true },
    Source::Icmp { is_v4: false },
    Source::Requests,
];

impl Agent {
    /// Sets everything up; when this returns, the kernel sends peers' segments to the agent.
    pub(crate) fn new(spec: &EndpointSpec, requests: RequestQueue) -> Result<Self, EndpointError> {
        routing::remove_stale_rules()?;
        let Resolved { spec, paths, mtu, settings } = Resolved::from_spec(spec)?;
        let device_mtu = mtu - settings.carriage.overhead();
        let io = PacketIo::open(&spec)?;
        let now = clock::now();
        let mut agent = Self {
            spec,
            mtu,
            multiplexer: Multiplexer::new(settings, now),
            kernel: Err(String::new()),
            io,
            received: Received::new(),
            packet: vec![0; LARGEST],
            requests,
            events: epoll::create(CreateFlags::CLOEXEC)
                .map_err(|error| EndpointError::system("epoll")(error.into()))?,
            timer: TimerFd::new().map_err(EndpointError::system("making a timer"))?,
            armed: Stamp::FAR,
            counting_since: now,
            at_reset: KernelCounts::default(),
            routing: None,
        };
        agent.watch()?;
        agent.routing = Some(Routing::set_up(&agent.spec, &paths, device_mtu)?);
        agent.kernel = receive_in_kernel(&agent.spec, &paths);
        Ok(agent)
    }

    /// Works until it is told to end, or fails.
    pub(crate) fn run(mut self) -> Result<(), EndpointError> {
        drop_capabilities();
        if self.spec.delay > 0 {
            scheduling::do_not_interrupt();
        }
        self.reset();
        loop {
            let ready = self.wait()?;
            let now = clock::now();
            self.io.now = now;
            self.note_received_in_kernel();
            for source in SOURCES {
                if ready & source.bit() == 0 {
                    continue;
                }
                match source {
                    Source::Host => self.take_from_host(now, TURN)?,
                    Source::Network { is_v4 } => self.take_from_network(is_v4, now),
                    Source::Icmp { is_v4 } => self.take_icmp(is_v4, now),
                    Source::Due => self.armed = Stamp::FAR,
                    Source::Requests => {
                        self.io.flush(); // else a reset would forget what was collected, and not what the kernel refuses of it
                        if let Some(end) = self.answer() {
                            return self.end(end);
                        }
                    }
                }
            }
            if self.multiplexer.next_due() <= now {
                self.multiplexer.expire(now, &mut self.io);
            }
            self.io.flush();
            for (to, octets) in self.io.too_large.drain(..) {
                self.multiplexer.too_large(to, octets, now);
            }
        }
    }

    /// Waits, at most until the multiplexer has something due; returns the bits of the sources that are ready.
    fn wait(&mut self) -> Result<u8, EndpointError> {
        let failed = |error: io::Error| EndpointError::system("waiting for packets")(error);
        let due = self.multiplexer.next_due();
        if due < self.armed {
            self.timer.set(due).map_err(failed)?;
            self.armed = due;
            self.io.counters.system_calls += 1;
        }
        let mut events = [const { Event { flags: EventFlags::empty(), data: EventData::new_u64(0) } }; SOURCES.len()];
        self.io.counters.system_calls += 1;
        let count = match epoll::wait(&self.events, &mut events, None) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR) => 0,
            Err(error) => return Err(failed(error.into())),
        };
        self.io.counters.wakeups += 1;
        Ok(events[..count].iter().fold(0, |bits, event| bits | event.data.u64() as u8))
    }

    fn note_received_in_kernel(&mut self) {
        let Ok(kernel) = &mut self.kernel else { return };
        for (number, peer) in self.spec.peers.iter().enumerate() {
            if let Some(news) = kernel.news(number) {
                self.io.counters.received_in_kernel += news.messages;
                self.io.counters.dropped.to_host += news.lost;
                self.multiplexer.received_in_kernel(*peer, news.at, news.messages, news.segments, news.octets);
            }
        }
    }

    /// Takes what this host sends, until nothing more waits or `most` packets are taken.
    fn take_from_host(&mut self, now: Stamp, most: usize) -> Result<(), EndpointError> {
        for _ in 0..most {
            let Some(length) = self.io.read(&mut self.packet)? else {
                self.multiplexer.drained(now, &mut self.io);
                return Ok(());
            };
            self.multiplexer.send(&self.packet[..length], now, &mut self.io);
        }
        Ok(())
    }

    /// Takes what the peers send. An error is of something that was sent, as ICMP reports it; the socket works on.
    fn take_from_network(&mut self, is_v4: bool, now: Stamp) {
        let sockets = if is_v4 { &self.io.v4 } else { &self.io.v6 };
        let Some(sockets) = sockets else { return };
        self.io.counters.system_calls += 1;
        let gives_headers = sockets.gives_headers();
        let Ok(count) = self.received.receive(sockets.incoming()) else { return };
        self.io.counters.received += count as u64;
        for number in 0..count {
            let octets = self.received.octets(number);
            if gives_headers {
                self.io.capture_received(octets);
                self.multiplexer.receive(octets, now, &mut self.io);
            } else if let Some(header) = self.received.header(number) {
                self.io.capture_received_payload(header, octets);
                if self.spec.udp_port.is_some() {
                    self.multiplexer.receive_udp(header, self.received.port(number), octets, now, &mut self.io);
                } else {
                    self.multiplexer.receive_payload(header, octets, now, &mut self.io);
                }
            }
        }
    }

    fn take_icmp(&mut self, is_v4: bool, now: Stamp) {
        let sockets = if is_v4 { &self.io.v4 } else { &self.io.v6 };
        let Some(sockets) = sockets else { return };
        for _ in 0..TURN {
            let Ok(length) = sockets.receive_icmp(&mut self.packet) else { return };
            self.multiplexer.receive_icmp(&self.packet[..length], now);
        }
    }

    /// Answers requests; the request to end is returned unanswered.
    fn answer(&mut self) -> Option<Request> {
        self.requests.clear();
        while let Some(request) = self.requests.next() {
            match request {
                Request::Status(answer) => drop(answer.send(self.status())),
                Request::Reset(answer) => {
                    let _ = answer.send(self.status());
                    self.reset();
                }
                Request::Stop(_) => return Some(request),
            }
        }
        None
    }

    /// Lets traffic go its plain way, sends what waits, and takes the device away.
    fn end(mut self, request: Request) -> Result<(), EndpointError> {
        self.routing = None;
        let now = clock::now();
        self.take_from_host(now, routing::QUEUE)?; // no more can wait, and none is added
        self.multiplexer.end(now, &mut self.io);
        self.io.flush();
        let status = self.status();
        drop(self);
        if let Request::Stop(answer) = request {
            let _ = answer.send(status);
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.multiplexer.reset_counters();
        self.io.counters = EndpointCounters::default();
        self.counting_since = clock::now();
        self.at_reset = self.kernel_counts();
    }

    fn kernel_counts(&self) -> KernelCounts {
        let sockets = [&self.io.v4, &self.io.v6];
        KernelCounts {
            cpu: clock::thread_cpu(),
            receive_queue: sockets.into_iter().flatten().map(Sockets::drops).sum(),
            device: DeviceDrops::read(&self.spec.device),
        }
    }

    fn status(&mut self) -> Value {
        self.note_received_in_kernel();
        let now = clock::now();
        json!({
            "settings": self.spec,
            "mtu": self.mtu,
            "counting_since": self.counting_since,
            "now": now,
            "peers": self.multiplexer.peers(now),
            "wire": self.multiplexer.counters(),
            "kernel_receive": { "works": self.kernel.is_ok(), "why_not": self.kernel.as_ref().err() },
            "endpoint": self.io.counters.clone().since(&self.at_reset, &self.kernel_counts()),
            "capture": self.io.capture.as_ref().map(|capture| json!({ "dropped": capture.dropped() })),
        })
    }

    /// Puts all sources on the event queue.
    fn watch(&self) -> Result<(), EndpointError> {
        for source in SOURCES {
            if let Some(descriptor) = self.descriptor(source) {
                // The timer's expirations are not read: one event for each is enough.
                let mode = if source == Source::Due { EventFlags::ET } else { EventFlags::empty() };
                epoll::add(&self.events, descriptor, EventData::new_u64(source.bit().into()), EventFlags::IN | mode)
                    .map_err(|error| EndpointError::system("epoll")(error.into()))?;
            }
        }
        Ok(())
    }

    fn descriptor(&self, source: Source) -> Option<BorrowedFd<'_>> {
        let sockets = |is_v4| if is_v4 { self.io.v4.as_ref() } else { self.io.v6.as_ref() };
        match source {
            Source::Host => Some(self.io.tun.as_fd()),
            Source::Network { is_v4 } => sockets(is_v4).map(Sockets::incoming),
            Source::Icmp { is_v4 } => sockets(is_v4).map(Sockets::icmp),
            Source::Due => Some(self.timer.as_fd()),
            Source::Requests => Some(self.requests.as_fd()),
        }
    }
}

/// Starts to receive in the kernel, if that is wanted and sees no less than the agent would.
fn receive_in_kernel(spec: &EndpointSpec, paths: &[Path]) -> Result<KernelReceive, String> {
    let reason = if !spec.kernel_receive {
        "it is switched off"
    } else if spec.udp_port.is_some() {
        "messages travel in UDP"
    } else if spec.capture.is_some() {
        "the capture is of what the agent receives"
    } else {
        return KernelReceive::start(paths, &spec.device);
    };
    Err(reason.to_owned())
}

impl Source {
    fn bit(self) -> u8 {
        1 << match self {
            Self::Host => 0,
            Self::Network { is_v4 } => 1 + u8::from(is_v4),
            Self::Icmp { is_v4 } => 3 + u8::from(is_v4),
            Self::Due => 5,
            Self::Requests => 6,
        }
    }
}

/// Keeps only what changing routes and devices needs. Nothing depends on it: what cannot be dropped is kept.
fn drop_capabilities() {
    let needed = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW;
    if let Ok(held) = capabilities(None) {
        let left = CapabilitySets {
            effective: held.effective & needed,
            permitted: held.permitted & needed,
            inheritable: held.inheritable & needed,
        };
        let _ = set_capabilities(None, left);
    }
}
