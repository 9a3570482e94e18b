//! tcpdump on loopback, and a reader of its file: pcap with nanoseconds (`libpcap`'s savefile format), Ethernet, IPv4, TCP.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use super::Event;

/// A tcpdump process that records the packets to and from a port.
pub struct Tcpdump {
    process: Child,
    port: u16,
    file: PathBuf,
}

impl Tcpdump {
    /// Starts tcpdump and waits until it listens.
    pub fn start(port: u16, folder: &Path) -> Self {
        let file = folder.join("packets.pcap");
        let mut process = Command::new("tcpdump")
            .args(["-i", "lo", "-n", "-U", "--immediate-mode", "--time-stamp-precision=nano", "-Z", "root", "-w"])
            .arg(&file)
            .arg(format!("tcp port {port}"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("tcpdump is needed: ./scripts/setup --tests installs it");
        let mut messages = BufReader::new(process.stderr.take().unwrap()).lines();
        let listens = messages.by_ref().map_while(Result::ok).any(|row| row.contains("listening on"));
        assert!(listens, "tcpdump may not listen on loopback: run the tests as root");
        thread::spawn(move || messages.for_each(drop));
        Self { process, port, file }
    }

    /// Ends tcpdump and reads the packets' payload without telnet's negotiation.
    pub fn events(mut self) -> Vec<Event> {
        self.end();
        read(&fs::read(&self.file).unwrap(), self.port)
    }

    /// Sends SIGINT, on which tcpdump writes the packets that it still holds.
    fn end(&mut self) {
        if self.process.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
            self.process.wait().unwrap();
        }
    }
}

impl Drop for Tcpdump {
    fn drop(&mut self) {
        self.end();
    }
}

fn read(file: &[u8], port: u16) -> Vec<Event> {
    let (head, mut rest) = file.split_at(24);
    assert_eq!(u32_of(head, 0), 0xa1b2_3c4d, "a pcap file with nanoseconds");
    assert_eq!(u32_of(head, 20), 1, "Ethernet frames");
    let mut events = Vec::new();
    let mut negotiation = [Negotiation::default(), Negotiation::default()];
    while rest.len() >= 16 {
        let (record, after) = rest.split_at(16);
        let (frame, next) = after.split_at(u32_of(record, 8) as usize);
        rest = next;
        let ip = &frame[14..];
        let tcp = &ip[usize::from(ip[0] & 0xf) * 4..];
        let by_user = u16::from_be_bytes([tcp[2], tcp[3]]) == port;
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        let payload = &ip[usize::from(ip[0] & 0xf) * 4 + usize::from(tcp[12] >> 4) * 4..total];
        let bytes = negotiation[usize::from(by_user)].text_of(payload);
        if !bytes.is_empty() {
            let at = u64::from(u32_of(record, 0)) * 1_000_000_000 + u64::from(u32_of(record, 4));
            events.push(Event { at, by_user, bytes });
        }
    }
    events
}

fn u32_of(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The state of a stream within telnet's negotiation (RFC 854), which no terminal shows.
#[derive(Debug, Default, Clone, Copy)]
enum Negotiation {
    #[default]
    Text,
    Iac,
    Option,
    Sub,
    SubIac,
}

impl Negotiation {
    /// The bytes without the negotiation.
    fn text_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        for byte in bytes {
            *self = match (*self, byte) {
                (Self::Text, 255) => Self::Iac,
                (Self::Text, _) => {
                    text.push(*byte);
                    Self::Text
                }
                (Self::Iac, 251..=254) => Self::Option,
                (Self::Sub, 255) => Self::SubIac,
                (Self::Iac, 250) | (Self::SubIac, 255) | (Self::Sub, _) => Self::Sub,
                (Self::Iac | Self::Option | Self::SubIac, _) => Self::Text,
            };
        }
        text
    }
}
