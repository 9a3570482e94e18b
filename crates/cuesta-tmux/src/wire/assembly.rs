//! Messages under construction: one for each header that segments have in common.

use std::time::Duration;

use cuesta_record::Stamp;

use super::carriage::Carriage;
use super::ip::CommonHeader;
use super::message::{self, MINI_HEADER, MOST_SEGMENTS};
use super::segment::{Segment, Transport};
use super::settings::LATEST;

/// Most messages under construction at once; for one more, the oldest is sent. A peer has several if its segments differ in
/// their TOS octet, which holds the ECN bits.
const MOST_MESSAGES: usize = 128;
/// Octets that the shortest segment of TCP takes.
const SHORTEST: usize = MINI_HEADER + 20;

/// A message under construction, or one that is ready to be sent.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) header: CommonHeader,
    /// Room for the headers, then the segments.
    octets: Vec<u8>,
    /// The most octets that the path carried when a segment was last added.
    mtu: usize,
    /// When each segment came.
    arrivals: Vec<Stamp>,
    /// The peer must acknowledge one of the segments.
    pub(super) needs_answer: bool,
}

/// All messages under construction. One timer serves them all: when it expires, all are sent (as RFC 1692 recommends).
#[derive(Debug)]
pub(super) struct Assembly {
    carriage: Carriage,
    /// The largest MTU of all peers: room in buffers.
    mtu: usize,
    delay: Duration,
    /// In the order in which they were begun.
    open: Vec<Message>,
    /// Buffers to use again.
    spare: Vec<Message>,
    due: Stamp,
}

impl Message {
    fn begin(&mut self, header: CommonHeader, room: usize, mtu: usize) {
        self.header = header;
        self.mtu = mtu;
        self.octets.clear();
        self.octets.resize(room, 0);
        self.arrivals.clear();
        self.needs_answer = false;
    }

    /// Writes the headers. Padding at the end that would exceed the MTU is left out.
    pub(super) fn complete(&mut self, carriage: Carriage) -> &[u8] {
        self.octets.truncate(self.mtu);
        carriage.write_headers(&self.header, &mut self.octets);
        &self.octets
    }

    pub(super) fn segments(&self) -> usize {
        self.arrivals.len()
    }

    /// How long each segment has waited.
    pub(super) fn waits(&self, now: Stamp) -> impl Iterator<Item = Duration> {
        self.arrivals.iter().map(move |arrival| now.since(*arrival))
    }

    fn has_room(&self, octets: usize, mtu: usize) -> bool {
        self.segments() < MOST_SEGMENTS && self.octets.len() + octets <= mtu
    }
}

impl Assembly {
    pub(super) const fn new(carriage: Carriage, mtu: usize, delay: Duration) -> Self {
        Self { carriage, mtu, delay, open: Vec::new(), spare: Vec::new(), due: Stamp::FAR }
    }

    /// When all messages must be sent.
    pub(super) const fn due(&self) -> Stamp {
        self.due
    }

    /// Whether a message of `mtu` octets can hold a segment of `len` octets at all.
    pub(super) const fn can_hold(&self, header: &CommonHeader, len: usize, mtu: usize) -> bool {
        self.carriage.header_len(header) + MINI_HEADER + len <= mtu
    }

    /// The message that must be sent before a segment of `len` octets can be added, on a path that carries `mtu` octets.
    pub(super) fn take_full(&mut self, header: &CommonHeader, len: usize, mtu: usize) -> Option<Message> {
        match self.position(header) {
            Some(index) if !self.open[index].has_room(MINI_HEADER + len, mtu) => Some(self.take(index)),
            None if self.open.len() == MOST_MESSAGES => Some(self.take(0)),
            _ => None,
        }
    }

    /// Adds a segment, for which there must be room. Whether the message can hold no other.
    pub(super) fn add(
        &mut self,
        header: CommonHeader,
        segment: &Segment<'_>,
        transport: Transport,
        mtu: usize,
        now: Stamp,
    ) -> bool {
        let index = self.position(&header).unwrap_or_else(|| self.begin(header, mtu, now));
        let message = &mut self.open[index];
        message.mtu = mtu;
        message::push(&mut message.octets, segment);
        message.arrivals.push(now);
        message.needs_answer |= transport.needs_answer;
        !message.has_room(SHORTEST, mtu)
    }

    fn position(&self, header: &CommonHeader) -> Option<usize> {
        self.open.iter().position(|message| message.header == *header)
    }

    fn begin(&mut self, header: CommonHeader, mtu: usize, now: Stamp) -> usize {
        let mut message = self.spare.pop().unwrap_or_else(|| Message {
            header,
            mtu,
            octets: Vec::with_capacity(self.mtu + MINI_HEADER),
            arrivals: Vec::with_capacity(MOST_SEGMENTS),
            needs_answer: false,
        });
        message.begin(header, self.carriage.header_len(&header), mtu);
        if self.open.is_empty() {
            self.due = (now + self.delay).min(LATEST);
        }
        self.open.push(message);
        self.open.len() - 1
    }

    /// The next message that `wanted` selects, oldest first.
    pub(super) fn take_next(&mut self, wanted: impl Fn(&CommonHeader) -> bool) -> Option<Message> {
        let index = self.open.iter().position(|message| wanted(&message.header))?;
        Some(self.take(index))
    }

    fn take(&mut self, index: usize) -> Message {
        let message = self.open.remove(index);
        if self.open.is_empty() {
            self.due = Stamp::FAR;
        }
        message
    }

    /// Gives back the buffers of a message that was sent.
    pub(super) fn recycle(&mut self, message: Message) {
        self.spare.push(message);
    }

    /// Segments that wait for a peer.
    pub(super) fn waiting(&self, wanted: impl Fn(&CommonHeader) -> bool) -> usize {
        self.open.iter().filter(|message| wanted(&message.header)).map(Message::segments).sum()
    }

    /// The clock went back to `now`: nothing may wait longer from here.
    pub(super) fn clock_went_back(&mut self, now: Stamp) {
        if !self.open.is_empty() {
            self.due = self.due.min(now + self.delay);
        }
    }
}
