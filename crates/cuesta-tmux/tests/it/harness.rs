//! Packets, made by another implementation, and a host whose multiplexer runs in virtual time.

use std::net::IpAddr;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_tmux::wire::{CommonHeader, Multiplexer, Output, Settings};
use etherparse::{IpNumber, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};

pub(crate) const US: &str = "192.0.2.1";
pub(crate) const PEER: &str = "192.0.2.2";

/// Everything that came out.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    pub(crate) network: Vec<Vec<u8>>,
    pub(crate) host: Vec<Vec<u8>>,
}

impl Output for Packets {
    fn to_network(&mut self, packet: &[u8]) {
        self.network.push(packet.to_vec());
    }

    fn to_host(&mut self, packet: &[u8]) {
        self.host.push(packet.to_vec());
    }
}

/// A host at a virtual instant.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) multiplexer: Multiplexer,
    pub(crate) now: Stamp,
}

impl Host {
    /// One at [`US`] with [`PEER`] as its peer, of which it knows nothing. Its first probe is due.
    pub(crate) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings { peers: vec![address(PEER)], local: vec![address(US)], ..Settings::default() };
        change(&mut settings);
        let now = Stamp::from_nanos(1_000_000_000_000);
        Self { multiplexer: Multiplexer::new(settings, now), now }
    }

    /// The same, and its first probe is sent, and lost.
    pub(crate) fn unknown(change: impl FnOnce(&mut Settings)) -> Self {
        let mut host = Self::new(change);
        host.expire();
        host
    }

    /// The same, and the peer is able.
    pub(crate) fn able(change: impl FnOnce(&mut Settings)) -> Self {
        let mut host = Self::unknown(change);
        let heard = CommonHeader { source: address(PEER), destination: address(US), tos: 0 };
        host.multiplexer.receive_payload(heard, &[], host.now, &mut Packets::default());
        host.multiplexer.reset_counters();
        host
    }

    pub(crate) fn send(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        self.output(|multiplexer, now, output| multiplexer.send(packet, now, output)).network
    }

    pub(crate) fn receive(&mut self, datagram: &[u8]) -> Packets {
        self.output(|multiplexer, now, output| multiplexer.receive(datagram, now, output))
    }

    pub(crate) fn expire(&mut self) -> Vec<Vec<u8>> {
        self.output(Multiplexer::expire).network
    }

    pub(crate) fn drained(&mut self) -> Vec<Vec<u8>> {
        self.output(Multiplexer::drained).network
    }

    /// Lets time pass, and does everything that is due meanwhile, when it is due.
    pub(crate) fn wait(&mut self, time: Duration) -> Vec<Vec<u8>> {
        let end = self.now + time;
        let mut sent = Vec::new();
        while self.multiplexer.next_due() <= end {
            self.now = self.multiplexer.next_due().max(self.now);
            sent.extend(self.expire());
        }
        self.now = end;
        sent
    }

    fn output(&mut self, act: impl FnOnce(&mut Multiplexer, Stamp, &mut Packets)) -> Packets {
        let mut output = Packets::default();
        act(&mut self.multiplexer, self.now, &mut output);
        output
    }
}

pub(crate) fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Octets from their hexadecimal digits; spaces are for the eye.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// A segment of TCP from `from` to `to` with the right checksum for [`US`] and [`PEER`].
pub(crate) fn tcp(from: u16, to: u16, change: impl FnOnce(&mut TcpHeader), data: &[u8]) -> Vec<u8> {
    let mut header = TcpHeader::new(from, to, 0x1000, 8192);
    (header.ack, header.psh, header.acknowledgment_number) = (true, !data.is_empty(), 0x2000);
    change(&mut header);
    header.checksum = header.calc_checksum_ipv4_raw([192, 0, 2, 1], [192, 0, 2, 2], data).unwrap();
    [&header.to_bytes()[..], data].concat()
}

/// A keystroke: one octet to port 23.
pub(crate) fn key(from: u16) -> Vec<u8> {
    tcp(from, 23, |_| (), b"x")
}

pub(crate) fn udp(from: u16, to: u16, data: &[u8]) -> Vec<u8> {
    let mut header = UdpHeader::without_ipv4_checksum(from, to, data.len()).unwrap();
    header.checksum = header.calc_checksum_ipv4_raw([192, 0, 2, 1], [192, 0, 2, 2], data).unwrap();
    [&header.to_bytes()[..], data].concat()
}

/// A packet from [`US`] to [`PEER`].
pub(crate) fn out(protocol: u8, segment: &[u8]) -> Vec<u8> {
    packet(US, PEER, 0, protocol, segment)
}

/// A packet as an ordinary host makes it: TTL 64, "do not fragment".
pub(crate) fn packet(from: &str, to: &str, tos: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    match (address(from), address(to)) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let len = payload.len() as u16;
            let mut header = Ipv4Header::new(len, 64, IpNumber(protocol), from.octets(), to.octets()).unwrap();
            header.dscp = (tos >> 2).try_into().unwrap();
            header.ecn = (tos & 3).try_into().unwrap();
            header.header_checksum = header.calc_header_checksum();
            [&header.to_bytes()[..], payload].concat()
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let header = Ipv6Header {
                traffic_class: tos,
                payload_length: payload.len() as u16,
                next_header: IpNumber(protocol),
                hop_limit: 64,
                source: from.octets(),
                destination: to.octets(),
                ..Ipv6Header::default()
            };
            [&header.to_bytes()[..], payload].concat()
        }
        _ => panic!("{from} and {to} are of different versions"),
    }
}

/// A segment as it stands in a message.
pub(crate) fn in_message(protocol: u8, segment: &[u8]) -> Vec<u8> {
    let [high, low] = (segment.len() as u16 + 4).to_be_bytes();
    let padding = &[0; 3][..(4 - segment.len() % 4) % 4];
    [&[high, low, protocol, high ^ low ^ protocol], segment, padding].concat()
}
