//! A bisync station over another line: rows in and out. The procedure itself is [`crate::wire::bisync`].
//!
//! A row that ends with CR is a message (an LF or NUL behind the CR belongs to it). A message that was received is a row with CR LF
//! behind it; its text is there as soon as its block check was right. In EBCDIC text is translated by code page 037, byte for byte.
//!
//! A line with a speed carries eight bits a character, without start and stop bits; each station delays what it sends itself.

mod row;
mod target;
mod totals;

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

pub use target::BisyncTarget;
pub use totals::BisyncTotals;

use row::{Typed, TypedRow};

use crate::framed::HalfSequence;
use crate::wire::bisync::{Code, Event, Framing, OfferError, Role, Station, Transparency};
use crate::{Line, Received};

/// Text that was received and not read: beyond it the other station is told to wait.
const UNREAD_LIMIT: usize = 4096;
/// Most bytes of one read.
const PIECE: usize = 2048;
const BITS: u64 = 8;

/// A line with a station at this end.
pub struct Bisync {
    line: Box<dyn Line>,
    station: Station,
    code: Code,
    framing: Framing,
    speed: Option<Pacing>,
    /// Wakes the task when the station has something to do.
    due: Sleep,
    row: TypedRow,
    /// Characters of the messages whose outcome is not known; the last one may be incomplete.
    offered: VecDeque<u64>,
    /// A part of the row was offered.
    is_continued: bool,
    /// Text that was received, as the owner reads it.
    unread: VecDeque<u8>,
    /// When the line was last read.
    received_at: Stamp,
    totals: BisyncTotals,
    delivery: Delivery,
    /// One of the messages sent last was given up.
    is_lost: bool,
    /// How the line has ended, if it has.
    end: Option<End>,
}

#[derive(Debug)]
enum End {
    /// By the other station, or between transmissions.
    Closed,
    /// Of the line below; the error is not reported yet.
    Failed(io::Error),
}

/// What became of the messages sent last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The other end has not acknowledged all of them.
    Pending,
    /// It has, since this instant.
    Done(Stamp),
    /// One of them was given up, and none is left.
    Lost,
}

/// Output of a line with a speed leaves when its last bit would have left.
#[derive(Debug)]
struct Pacing {
    /// How long one character takes.
    character: Duration,
    /// The instant at which the first characters of the output will have left, and how many these are.
    sending: Option<(Stamp, usize)>,
    wake: Sleep,
}

impl Bisync {
    /// A station at this end of a line, in the target's role or this one. `line_speed` in bits a second, 0 = as fast as the line
    /// goes; the target's own has priority.
    pub fn new(line: impl Line + 'static, target: &BisyncTarget, role: Role, line_speed: u32) -> Self {
        let role = target.role.unwrap_or(role);
        let station = Station::new(target.profile.clone(), role, target.code, target.framing);
        let speed = if target.baud == 0 { line_speed } else { target.baud };
        Self {
            line: Box::new(line),
            station: station.expect("a target's profile is consistent"),
            code: target.code,
            framing: target.framing,
            speed: (speed > 0).then(|| Pacing {
                character: Duration::from_nanos(BITS * 1_000_000_000 / u64::from(speed)),
                sending: None,
                wake: clock::sleep_until(Stamp::ZERO),
            }),
            due: clock::sleep_until(Stamp::ZERO),
            row: TypedRow::new(target.code, target.profile.transparency == Transparency::Never),
            offered: VecDeque::new(),
            is_continued: false,
            unread: VecDeque::new(),
            received_at: Stamp::ZERO,
            totals: BisyncTotals::default(),
            delivery: Delivery::Done(Stamp::ZERO),
            is_lost: false,
            end: None,
        }
    }

    /// Does what the protocol asks for while the line's owner does not read it: the station answers that it has no room. It wakes the
    /// task when it is to be called again.
    pub fn poll_serve(&mut self, cx: &mut Context<'_>) {
        self.advance(cx);
    }

    /// What became of the messages sent last.
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }

    pub fn totals(&self) -> BisyncTotals {
        self.totals
    }

    /// Lets the station do all that it can do now; if the line below ends, sets `end`.
    fn advance(&mut self, cx: &mut Context<'_>) {
        while self.end.is_none() {
            let mut moved = self.send_output(cx);
            moved |= self.do_what_is_due(cx);
            moved |= self.take_input(cx);
            self.take_events();
            if !moved {
                break;
            }
        }
    }

    /// Returns whether any was sent.
    fn send_output(&mut self, cx: &mut Context<'_>) -> bool {
        let mut len = self.station.output().len();
        if len == 0 {
            return false;
        }
        let mut now = clock::now();
        if let Some(pacing) = &mut self.speed {
            let (left, whole) = *pacing.sending.get_or_insert_with(|| (now + pacing.character * len as u32, len));
            pacing.wake.reset(left);
            if Pin::new(&mut pacing.wake).poll(cx).is_pending() {
                return false;
            }
            (now, len) = (left, whole);
        }
        let sent = match self.line.poll_send(cx, &self.station.output()[..len]) {
            Poll::Pending => return false,
            Poll::Ready(Ok(sent)) => sent,
            Poll::Ready(Err(error)) => {
                self.end_line(Some(error));
                return false;
            }
        };
        if let Some(pacing) = &mut self.speed {
            pacing.sending = (sent < len).then_some((now, len - sent));
        }
        self.station.sent(now, sent);
        true
    }

    fn do_what_is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = self.station.deadline() else { return false };
        self.due.reset(deadline);
        if Pin::new(&mut self.due).poll(cx).is_pending() {
            return false;
        }
        self.station.expire(clock::now());
        true
    }

    fn take_input(&mut self, cx: &mut Context<'_>) -> bool {
        let mut piece = [0; PIECE];
        match self.line.poll_receive(cx, &mut piece) {
            Poll::Pending => return false,
            Poll::Ready(Ok(received)) if received.len > 0 => {
                self.received_at = received.at;
                self.station.receive(received.at, &piece[..received.len]);
                if let (Framing::Hercules, Some(socket)) = (self.framing, self.line.socket()) {
                    socket.acknowledge_at_once();
                }
                return true;
            }
            Poll::Ready(Ok(_)) => {
                let within = !self.station.is_idle();
                self.end_line(within.then(|| io::Error::other(HalfSequence)));
            }
            Poll::Ready(Err(error)) => self.end_line(Some(error)),
        }
        false
    }

    /// The line below has ended. Messages that were not acknowledged are lost.
    fn end_line(&mut self, error: Option<io::Error>) {
        self.station.disconnect();
        self.take_events();
        self.end = Some(error.map_or(End::Closed, End::Failed));
    }

    fn take_events(&mut self) {
        while let Some(event) = self.station.take_event() {
            match event {
                Event::Text { text, last, .. } => {
                    self.totals.text_received += text.len() as u64;
                    self.unread.extend(text.iter().map(|byte| row::decoded(self.code, *byte)));
                    if last {
                        self.totals.received += 1;
                        self.unread.extend(b"\r\n");
                    }
                }
                Event::Cut => self.unread.extend(b"\r\n"),
                Event::Delivered => {
                    self.totals.sent += 1;
                    self.totals.text_sent += self.offered.pop_front().unwrap_or(0);
                }
                Event::NotDelivered(_) => {
                    self.totals.not_delivered += 1;
                    self.count_lost();
                }
                Event::InDoubt(_) => {
                    self.totals.in_doubt += 1;
                    self.count_lost();
                }
                Event::Disconnected => self.end = Some(End::Closed),
            }
        }
        if self.offered.is_empty() && self.delivery == Delivery::Pending {
            self.delivery =
                if std::mem::take(&mut self.is_lost) { Delivery::Lost } else { Delivery::Done(self.received_at) };
        }
        self.station.set_room(clock::now(), self.unread.len() < UNREAD_LIMIT);
        self.totals.counters = self.station.counters();
    }

    fn count_lost(&mut self) {
        self.offered.pop_front();
        self.is_lost = true;
    }

    /// Offers what was typed so far. Returns false if there is no room for it now.
    fn offer(&mut self, typed: Typed) -> bool {
        if typed == Typed::Refused {
            self.totals.not_delivered += 1;
            self.is_lost = true;
        } else {
            let last = typed == Typed::Row;
            match self.station.offer(clock::now(), self.row.text(), last) {
                Ok(()) => self.count_offered(last),
                Err(OfferError::Full) => return false,
                // Rows that may be refused are offered whole.
                Err(OfferError::ControlCharacter { .. } | OfferError::Disconnected) => {
                    self.totals.not_delivered += 1;
                    self.is_lost = true;
                }
            }
        }
        self.delivery = Delivery::Pending;
        true
    }

    fn count_offered(&mut self, last: bool) {
        if !self.is_continued {
            self.offered.push_back(0);
        }
        if let Some(characters) = self.offered.back_mut() {
            *characters += self.row.text().len() as u64;
        }
        self.is_continued = !last;
    }

    /// Takes typed characters as far as there is room for them. Returns how many.
    fn take_typed(&mut self, bytes: &[u8]) -> usize {
        for (index, byte) in bytes.iter().enumerate() {
            if let Some(typed) = self.row.due_before(*byte) {
                if !self.offer(typed) {
                    return index;
                }
                self.row.offered();
            }
            self.row.take(*byte);
        }
        bytes.len()
    }
}

impl Line for Bisync {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.advance(cx);
        let len = into.len().min(self.unread.len());
        if len > 0 {
            for (to, from) in into.iter_mut().zip(self.unread.drain(..len)) {
                *to = from;
            }
            if self.end.is_none() {
                // There may be room now, and an acknowledgement to send.
                self.take_events();
                self.advance(cx);
            }
            return Poll::Ready(Ok(Received { len, at: self.received_at, ..Received::default() }));
        }
        match self.end.as_mut().map(|end| std::mem::replace(end, End::Closed)) {
            None => Poll::Pending,
            Some(End::Closed) => Poll::Ready(Ok(Received::default())),
            Some(End::Failed(error)) => Poll::Ready(Err(error)),
        }
    }

    /// A message has left when its outcome is known (see [`Bisync::delivery`]); what this takes is only typed.
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.advance(cx);
        if self.end.is_some() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let taken = self.take_typed(bytes);
        self.advance(cx);
        if taken == 0 && !bytes.is_empty() { Poll::Pending } else { Poll::Ready(Ok(taken)) }
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&*self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut *self.line)
    }

    fn station(&mut self) -> Option<&mut Bisync> {
        Some(self)
    }
}
