//! Each rule of the procedure, against a scripted peer.

mod any_peer;
mod conversational;
mod receiving;
mod sending;

use std::time::Duration;

use super::*;
use crate::wire::bisync::AfterBlockWait;

const ENQ: &[u8] = &[0x2d];
const EOT: &[u8] = &[0x37];
const NAK: &[u8] = &[0x3d];
const ACK0: &[u8] = &[0x10, 0x70];
const ACK1: &[u8] = &[0x10, 0x61];
const WACK: &[u8] = &[0x10, 0x6b];
const RVI: &[u8] = &[0x10, 0x7c];
const TTD: &[u8] = &[0x02, 0x2d];
const DISCONNECT: &[u8] = &[0x10, 0x37];
/// `AB`, `C` and `D` as blocks: ETB and ETX.
const AB: &[u8] = &[0x02, 0xc1, 0xc2, 0x26];
const C: &[u8] = &[0x02, 0xc3, 0x03];
const D: &[u8] = &[0x02, 0xc4, 0x03];

/// `AB` as a message of one block.
const WHOLE_AB: &[u8] = &[0x02, 0xc1, 0xc2, 0x03];

/// The units by the names that traces have for them.
const UNITS: [(&str, &[u8]); 15] = [
    ("nothing", &[]),
    ("ENQ", ENQ),
    ("EOT", EOT),
    ("EOT+ENQ", &[0x37, 0x2d]),
    ("NAK", NAK),
    ("ACK0", ACK0),
    ("ACK1", ACK1),
    ("WACK", WACK),
    ("RVI", RVI),
    ("TTD", TTD),
    ("DISCONNECT", DISCONNECT),
    ("AB", AB),
    ("WHOLE_AB", WHOLE_AB),
    ("C", C),
    ("D", D),
];

/// A station, the clock, and the peer's script.
struct Script {
    station: Station,
    now: Stamp,
}

impl Script {
    fn with(role: Role, change: impl FnOnce(&mut Profile)) -> Self {
        let mut profile = Profile { block_size: 2, ..Profile::default() };
        change(&mut profile);
        let station = Station::new(profile, role, Code::Ebcdic, Framing::Hercules).unwrap();
        Self { station, now: Stamp::from_nanos(1 << 40) }
    }

    fn new(role: Role) -> Self {
        Self::with(role, |_| ())
    }

    /// The same station on a line, where units may be lost.
    fn on_a_line(mut self) -> Self {
        self.station.format.framing = Framing::Line;
        self.station.receiver = Receiver::new(self.station.format, 100);
        self
    }

    /// A primary whose bid for these messages was accepted.
    fn sending(messages: &[&[u8]]) -> Self {
        messages
            .iter()
            .fold(Self::new(Role::Primary), |script, message| script.offers(message, true))
            .plays(">ENQ <ACK0")
    }

    /// The same on a line.
    fn sending_on_a_line(messages: &[&[u8]]) -> Self {
        let script = Self::new(Role::Primary).on_a_line();
        messages.iter().fold(script, |script, message| script.offers(message, true)).plays(">ENQ <ACK0")
    }

    /// Plays a trace: `>ENQ` is all that the station sends, `<ACK0` what it gets, `3000ms` the time until its deadline, which then
    /// comes; from `full` to `room` its owner has no room.
    #[track_caller]
    fn plays(self, trace: &str) -> Self {
        trace.split(' ').fold(self, |script, step| {
            let unit = |name: &str| UNITS.iter().find(|(known, _)| *known == name).expect("a unit's name").1;
            match step.split_at(1) {
                (">", name) => script.sends(unit(name), trace),
                ("<", name) => script.gets(unit(name)),
                _ if step == "room" || step == "full" => script.room(step == "room"),
                _ => script.waits(step.strip_suffix("ms").and_then(|ms| ms.parse().ok()).expect("a time"), trace),
            }
        })
    }

    /// A unit as it is on this line.
    fn framed(&self, unit: &[u8]) -> Vec<u8> {
        if !self.station.format.is_line() || unit.is_empty() {
            return unit.to_vec();
        }
        let mut check = crate::wire::bisync::check::Check::default();
        for byte in unit.iter().skip(1) {
            check.add(*byte);
        }
        let is_block = unit[0] == 0x02 && unit != TTD;
        let check = if is_block { check.crc.to_le_bytes().to_vec() } else { vec![] };
        [&[0xaa, 0x32, 0x32], unit, &check, &[0xff]].concat()
    }

    /// A secondary that has accepted a bid.
    fn receiving() -> Self {
        Self::new(Role::Secondary).plays("<ENQ >ACK0")
    }

    #[track_caller]
    fn sends(mut self, expected: &[u8], trace: &str) -> Self {
        let expected = self.framed(expected);
        assert_eq!(self.station.output(), expected, "{trace}");
        self.station.sent(self.now, expected.len());
        self
    }

    fn gets(mut self, bytes: &[u8]) -> Self {
        let bytes = self.framed(bytes);
        self.station.receive(self.now, &bytes);
        self
    }

    /// The station gets a block one bit of whose text is wrong.
    fn gets_damaged(mut self, block: &[u8]) -> Self {
        let mut bad = self.framed(block);
        bad[4] ^= 1;
        self.station.receive(self.now, &bad);
        self
    }

    #[track_caller]
    fn waits(mut self, milliseconds: u64, trace: &str) -> Self {
        let due = self.station.deadline().expect("a timer runs");
        assert_eq!(due.since(self.now), Duration::from_millis(milliseconds), "{trace}");
        self.now = due;
        self.station.expire(due);
        self
    }

    fn room(mut self, room: bool) -> Self {
        self.station.set_room(self.now, room);
        self
    }

    fn offers(mut self, text: &[u8], last: bool) -> Self {
        self.station.offer(self.now, text, last).unwrap();
        self
    }

    #[track_caller]
    fn tells(mut self, expected: &[Event]) -> Self {
        let events: Vec<_> = std::iter::from_fn(|| self.station.take_event()).collect();
        assert_eq!(events, expected);
        self
    }

    #[track_caller]
    fn counts(self, count: impl FnOnce(&mut Counters)) -> Self {
        let mut expected = Counters::default();
        count(&mut expected);
        assert_eq!(self.station.counters(), expected);
        self
    }
}

fn text(text: &[u8], last: bool) -> Event {
    Event::Text { text: text.to_vec(), records: vec![], last }
}
