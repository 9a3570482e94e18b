//! A line with a limited speed. A character has ten bits (start bit, eight data bits, stop bit), each way.
//!
//! Received characters are read in pieces and stamped by arithmetic, because one wake-up for each would be expensive. The next
//! piece is read only when the line would be free again, so the host sees the queue of a slow line. A sent character leaves when
//! its last bit would have left.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use crate::{Expected, Line, Received};

/// Line time that one read may bring, and that one burst of output may fill.
const PIECE: Duration = Duration::from_millis(50);
/// How long before the line is free the next piece may be read, so that a late wake-up costs no line time.
const LEAD: Duration = Duration::from_millis(10);
/// Least receive buffer: TCP stalls with less.
const LEAST_BUFFER: u32 = 4096;

/// A line with a speed.
///
/// Dropping it loses characters that are still being transmitted: wait until [`Pace::free_at`] first if that matters.
#[derive(Debug)]
pub struct RateLimited<L> {
    line: L,
    /// How long one character takes.
    character: Duration,
    /// Characters that one piece holds.
    piece: usize,
    /// When the last character read will have arrived.
    received: Stamp,
    pace: Pace,
    /// Accepted and not yet passed on. They follow each other without a gap, the last one whole at `pace.sent`.
    sending: VecDeque<u8>,
    receive_timer: Sleep,
    /// The last read had to wait for the line, so its characters may have arrived long before.
    waited_for_line: bool,
    send_timer: Sleep,
    /// A response that is expected once the characters being sent have been transmitted.
    expected: Option<Expected>,
}

/// What the owner of a line with a speed knows and sets of it.
#[derive(Debug, Default)]
pub struct Pace {
    /// When the last character accepted will have been sent.
    sent: Stamp,
    /// When the next characters were due to begin, if the sender has set it.
    next: Option<Stamp>,
    is_lifted: bool,
}

impl Pace {
    /// The instant from which the line can carry the next character to the other end.
    pub fn free_at(&self) -> Stamp {
        self.sent
    }

    /// Sets the instant at which the next characters were due. The line counts from it and not from the call, which may be late, so that
    /// successive characters keep the line's speed.
    pub fn begin_next_at(&mut self, at: Stamp) {
        self.next = Some(at);
    }

    /// Ends the limit of what is received: the line is lost, and what has come is read at once.
    pub fn lift(&mut self) {
        self.is_lifted = true;
    }
}

impl<L: Line> RateLimited<L> {
    /// Limits `line` to `line_speed` bits a second (at least one).
    pub fn new(line: L, line_speed: u32) -> Self {
        let character = Duration::from_nanos(10_000_000_000 / u64::from(line_speed.max(1)));
        Self {
            line,
            character,
            piece: (PIECE.as_nanos() / character.as_nanos().max(1)).clamp(1, 65_536) as usize,
            received: Stamp::ZERO,
            pace: Pace::default(),
            sending: VecDeque::new(),
            receive_timer: clock::sleep_until(Stamp::ZERO),
            waited_for_line: false,
            send_timer: clock::sleep_until(Stamp::ZERO),
            expected: None,
        }
    }

    /// Passes on transmitted characters, and schedules a wake-up for the next.
    fn send_transmitted(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.poll_sending(cx) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }

    /// `Ready` when nothing is left to be transmitted.
    fn poll_sending(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.sending.is_empty() {
            let first = self.first_transmitted_at();
            self.send_timer.reset(first);
            ready!(Pin::new(&mut self.send_timer).poll(cx));
            let late = clock::now().since(first).as_nanos() / self.character.as_nanos().max(1);
            let whole = usize::try_from(late).unwrap_or(usize::MAX).saturating_add(1);
            let head = self.sending.as_slices().0;
            let len = ready!(self.line.poll_send(cx, &head[..whole.min(head.len())]))?;
            self.sending.drain(..len);
        }
        if let Some(expected) = self.expected.take() {
            self.line.announce(expected);
        }
        Poll::Ready(Ok(()))
    }

    fn first_transmitted_at(&self) -> Stamp {
        let others = self.sending.len().saturating_sub(1);
        self.pace.sent - self.character * u32::try_from(others).unwrap_or(u32::MAX)
    }
}

impl<L: Line> Line for RateLimited<L> {
    /// Also moves on what is being sent, so a sender must keep receiving.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        if self.pace.is_lifted {
            return self.line.poll_receive(cx, into);
        }
        self.send_transmitted(cx)?;
        self.receive_timer.reset(self.received - LEAD);
        if Pin::new(&mut self.receive_timer).poll(cx).is_pending() {
            self.waited_for_line = true;
            return Poll::Pending;
        }
        // The kernel's stamp tells when characters arrived, which may be long before the line could carry them.
        let has_waited = std::mem::take(&mut self.waited_for_line);
        let len = into.len().min(self.piece);
        let mut received = ready!(self.line.poll_receive(cx, &mut into[..len]))?;
        if has_waited {
            received.stamped = None;
        }
        let begin = self.received.max(received.at);
        self.received = begin + self.character * u32::try_from(received.len).unwrap_or(u32::MAX);
        received.at = begin + self.character * u32::from(received.len > 0);
        received.per_character = self.character;
        Poll::Ready(Ok(received))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.send_transmitted(cx)?;
        let len = bytes.len().min(self.piece.saturating_sub(self.sending.len()));
        if len == 0 && !bytes.is_empty() {
            // The line is full: the next characters begin when there is room.
            self.pace.next = None;
            return Poll::Pending;
        }
        let now = clock::now();
        let begin = self.pace.next.take().map_or(now, |next| next.min(now));
        self.pace.sent = self.pace.sent.max(begin) + self.character * u32::try_from(len).unwrap_or(u32::MAX);
        self.sending.extend(&bytes[..len]);
        self.send_transmitted(cx)?;
        Poll::Ready(Ok(len))
    }

    fn sent_up_to(&self) -> Option<u64> {
        self.line.sent_up_to().filter(|_| self.sending.is_empty())
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }

    fn pace(&mut self) -> Option<&mut Pace> {
        Some(&mut self.pace)
    }

    fn announce(&mut self, expected: Expected) {
        match expected {
            Expected::Response { .. } if !self.sending.is_empty() => self.expected = Some(expected),
            _ => self.line.announce(expected),
        }
    }
}

/// The kernel's receive buffer for a line of this speed: half a second's worth, so that the host sees the queue.
pub(crate) fn receive_buffer(line_speed: u32) -> u32 {
    (line_speed / 20).max(LEAST_BUFFER)
}
