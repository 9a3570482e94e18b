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

    /// A primary whose bid for these messages was accepted.
    fn sending(messages: &[&[u8]]) -> Self {
        let mut script = Self::new(Role::Primary);
        for message in messages {
            script.station.offer(script.now, message, true).unwrap();
        }
        script.sends(ENQ).gets(ACK0)
    }

    /// The same on a line, where units may be lost.
    fn sending_on_a_line(messages: &[&[u8]]) -> Self {
        let mut script = Self::new(Role::Primary);
        script.station.format.framing = Framing::Line;
        script.station.receiver = Receiver::new(script.station.format, 100);
        for message in messages {
            script.station.offer(script.now, message, true).unwrap();
        }
        script.sends(ENQ).gets(ACK0)
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
        Self::new(Role::Secondary).gets(ENQ).sends(ACK0)
    }

    #[track_caller]
    fn sends(mut self, expected: &[u8]) -> Self {
        let expected = self.framed(expected);
        assert_eq!(self.station.output(), expected);
        self.station.sent(self.now, expected.len());
        self
    }

    fn gets(mut self, bytes: &[u8]) -> Self {
        let bytes = self.framed(bytes);
        self.station.receive(self.now, &bytes);
        self
    }

    #[track_caller]
    fn after(mut self, milliseconds: u64) -> Self {
        let due = self.station.deadline().expect("a timer runs");
        assert_eq!(due.since(self.now), Duration::from_millis(milliseconds));
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
