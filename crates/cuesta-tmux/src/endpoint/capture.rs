//! A capture (pcapng) of what crosses the sockets, written by a thread of its own: the agent never waits for the disk.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_record::{Stamp, clock, private_file};
use etherparse::{IpNumber, PacketBuilder};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};

use super::EndpointError;
use crate::wire::CommonHeader;

/// Packets that may wait to be written; more are dropped and counted.
const WAITING: usize = 4096;
/// Stamps are nanoseconds: 10⁻⁹ s.
const RESOLUTION: u8 = 9;
/// Values of the option `epb_flags`.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// A capture. Dropping it writes what waits and closes the file.
#[derive(Debug)]
pub(crate) struct Capture {
    queue: Option<SyncSender<Captured>>,
    thread: Option<JoinHandle<()>>,
    /// Nanoseconds from the monotonic clock's zero to 1970.
    epoch: u64,
    dropped: u64,
    /// The IP number of messages; with messages in UDP their port.
    protocol: IpNumber,
    udp_port: Option<u16>,
}

#[derive(Debug)]
struct Captured {
    /// Nanoseconds since 1970.
    at: u64,
    direction: u32,
    packet: Vec<u8>,
}

impl Capture {
    /// Begins the file. `udp_port`: the port of messages in UDP.
    pub(crate) fn begin(path: &Path, udp_port: Option<u16>) -> Result<Self, EndpointError> {
        let failed = |source| EndpointError::Capture { path: path.to_owned(), source };
        let writer = private_file(path).and_then(|file| begin_file(BufWriter::new(file))).map_err(failed)?;
        let (queue, captured) = sync_channel(WAITING);
        let name = "tmux-capture".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || write(writer, &captured)).map_err(failed)?;
        let epoch = clock::wall().saturating_sub(clock::now().as_nanos());
        let (queue, thread) = (Some(queue), Some(thread));
        Ok(Self { queue, thread, epoch, dropped: 0, protocol: IpNumber(18), udp_port })
    }

    /// Captures a packet that is sent.
    pub(crate) fn sent(&mut self, at: Stamp, packet: &[u8]) {
        self.put(at, OUTBOUND, packet.to_vec());
    }

    /// Captures a datagram that was received with its IP header.
    pub(crate) fn received(&mut self, at: Stamp, datagram: &[u8]) {
        self.put(at, INBOUND, datagram.to_vec());
    }

    /// Captures a datagram that was received without its headers: these are made again, with a hop limit that is not known.
    pub(crate) fn received_payload(&mut self, at: Stamp, header: CommonHeader, payload: &[u8]) {
        if let Some(datagram) = datagram(header, payload, self.protocol, self.udp_port) {
            self.put(at, INBOUND, datagram);
        }
    }

    /// Packets that were not written, because the disk was too slow or full.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn put(&mut self, at: Stamp, direction: u32, packet: Vec<u8>) {
        let captured = Captured { at: self.epoch + at.as_nanos(), direction, packet };
        let is_taken = self.queue.as_ref().is_some_and(|queue| queue.try_send(captured).is_ok());
        self.dropped += u64::from(!is_taken);
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A datagram with the headers that a socket has removed.
fn datagram(header: CommonHeader, payload: &[u8], protocol: IpNumber, udp_port: Option<u16>) -> Option<Vec<u8>> {
    use std::net::IpAddr::{V4, V6};
    let builder = match (header.source, header.destination) {
        (V4(source), V4(destination)) => PacketBuilder::ipv4(source.octets(), destination.octets(), 64),
        (V6(source), V6(destination)) => PacketBuilder::ipv6(source.octets(), destination.octets(), 64),
        _ => return None,
    };
    let mut datagram = Vec::new();
    let written = match udp_port {
        Some(port) => builder.udp(port, port).write(&mut datagram, payload).is_ok(),
        None => builder.write(&mut datagram, protocol, payload).is_ok(),
    };
    written.then_some(datagram)
}

/// A writer that has written the file's head.
fn begin_file<W: Write>(to: W) -> io::Result<PcapNgWriter<W>> {
    let mut writer = PcapNgWriter::new(to).map_err(io_error)?;
    let mut interface = InterfaceDescriptionBlock::new(DataLink::RAW, 0);
    interface.options.push(InterfaceDescriptionOption::IfTsResol(RESOLUTION));
    writer.write_pcapng_block(interface).map_err(io_error)?;
    Ok(writer)
}

/// Writes what comes until the queue is closed or the file cannot be written. The file is whole whenever nothing waits.
fn write(mut writer: PcapNgWriter<BufWriter<File>>, queue: &Receiver<Captured>) {
    while let Ok(first) = queue.recv() {
        let mut all = std::iter::once(first).chain(queue.try_iter());
        if !all.all(|captured| writer.write_pcapng_block(block(&captured)).is_ok()) || writer.get_mut().flush().is_err()
        {
            return;
        }
    }
}

fn block(captured: &Captured) -> EnhancedPacketBlock<'_> {
    EnhancedPacketBlock {
        interface_id: 0,
        timestamp: Duration::from_nanos(captured.at),
        original_len: captured.packet.len() as u32,
        data: Cow::Borrowed(&captured.packet),
        options: vec![EnhancedPacketOption::Flags(captured.direction)],
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
