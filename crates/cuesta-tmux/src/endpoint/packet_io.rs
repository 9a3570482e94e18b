//! Where packets come from and go to: the TUN device and the sockets.

use std::io;
use std::net::IpAddr;

use cuesta_record::Stamp;

use super::capture::Capture;
use super::counters::EndpointCounters;
use super::datagrams::Sending;
use super::sockets::Sockets;
use super::too_big::too_big;
use super::tun::Tun;
use super::{EndpointError, EndpointSpec};
use crate::wire::{CommonHeader, Output, usual_mtu_below};

/// The TUN device, the sockets of each version of IP that a peer has, and the capture of what crosses the sockets.
#[derive(Debug)]
pub(crate) struct PacketIo {
    pub(crate) tun: Tun,
    pub(crate) v4: Option<Sockets>,
    pub(crate) v6: Option<Sockets>,
    pub(crate) capture: Option<Capture>,
    pub(crate) counters: EndpointCounters,
    /// When the thread woke up: the time of all that it does before it waits again.
    pub(crate) now: Stamp,
    sending_v4: Sending,
    sending_v6: Sending,
    /// Packets that were too large for their network device: where they went, and their octets.
    pub(crate) too_large: Vec<(IpAddr, usize)>,
}

impl PacketIo {
    /// Makes the device, opens the sockets that the peers need, and begins the capture.
    pub(crate) fn open(spec: &EndpointSpec) -> Result<Self, EndpointError> {
        let sockets = |is_v4| {
            let is_needed = spec.peers.iter().any(|peer| peer.is_ipv4() == is_v4);
            is_needed.then(|| Sockets::open(spec, is_v4)).transpose()
        };
        Ok(Self {
            tun: Tun::new(&spec.device)?,
            v4: sockets(true)?,
            v6: sockets(false)?,
            capture: spec.capture.as_ref().map(|path| Capture::begin(path, spec.udp_port)).transpose()?,
            counters: EndpointCounters::default(),
            now: Stamp::ZERO,
            sending_v4: Sending::default(),
            sending_v6: Sending::default(),
            too_large: Vec::new(),
        })
    }

    /// Reads one packet that this host sends; `None` if none waits.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<Option<usize>, EndpointError> {
        self.counters.system_calls += 1;
        match self.tun.read(into) {
            Ok(length) => {
                self.counters.read_from_host += 1;
                Ok(Some(length))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(EndpointError::system("reading from the TUN device")(error)),
        }
    }

    /// Sends the packets that were collected. What is too large is noted, and TCP is told.
    pub(crate) fn flush(&mut self) {
        let both = [(&self.v4, &mut self.sending_v4), (&self.v6, &mut self.sending_v6)];
        for (sockets, sending) in both {
            if let Some(sockets) = sockets.as_ref().filter(|_| !sending.is_empty()) {
                let (counters, tun, too_large) = (&mut self.counters, &self.tun, &mut self.too_large);
                let calls = sending.send(sockets.outgoing(), |error, packet, to| {
                    counters.not_sent(&error);
                    if error.raw_os_error() == Some(libc::EMSGSIZE) {
                        too_large.push((to, packet.len()));
                        let answer = too_big(packet, usual_mtu_below(packet.len()));
                        let _ = answer.map(|answer| tun.write(&answer)); // TCP will try again, and so will this
                    }
                });
                counters.system_calls += calls;
            }
        }
    }

    /// Captures a datagram that was received with its IP header.
    pub(crate) fn capture_received(&mut self, datagram: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.received(self.now, datagram);
        }
    }

    /// Captures a datagram that was received without its headers.
    pub(crate) fn capture_received_payload(&mut self, header: CommonHeader, payload: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.received_payload(self.now, header, payload);
        }
    }

    fn collect(&mut self, packet: &[u8], to: IpAddr) {
        let (sockets, sending) =
            if to.is_ipv4() { (&self.v4, &mut self.sending_v4) } else { (&self.v6, &mut self.sending_v6) };
        if sockets.is_none() {
            self.counters.dropped.unreachable += 1;
            return;
        }
        if let Some(capture) = &mut self.capture {
            capture.sent(self.now, packet);
        }
        self.counters.sent += 1;
        sending.push(packet, to);
        if sending.is_full() {
            self.flush();
        }
    }
}

impl Output for PacketIo {
    fn to_network(&mut self, packet: &[u8]) {
        match destination(packet) {
            Some(to) => self.collect(packet, to),
            None => self.counters.dropped.unreachable += 1,
        }
    }

    fn to_host(&mut self, packet: &[u8]) {
        self.counters.system_calls += 1;
        if self.tun.write(packet).is_ok() {
            self.counters.written_to_host += 1;
        } // else the device counts it
    }
}

/// Where an IP packet goes.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(packet.get(16..20)?).ok()?)),
        6 => Some(IpAddr::from(<[u8; 16]>::try_from(packet.get(24..40)?).ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_read_from_either_header_and_from_nothing_else() {
        let mut packet = [0_u8; 40];
        packet[0] = 0x45;
        packet[16..20].copy_from_slice(&[192, 0, 2, 2]);
        assert_eq!(destination(&packet), Some("192.0.2.2".parse().unwrap()));
        packet[0] = 0x60;
        packet[24..].copy_from_slice(&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(destination(&packet), Some("2001:db8::2".parse().unwrap()));
        assert_eq!((destination(&packet[..39]), destination(&[0x50; 40]), destination(&[])), (None, None, None));
    }
}
