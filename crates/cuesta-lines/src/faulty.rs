//! A line with injected faults, reproducible by a seed, to test how drivers and hosts react.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::{Line, Received};

/// Most characters in one read of the inner line.
const PIECE: usize = 256;
/// Most characters that are held back.
const HELD: usize = 64 * 1024;

/// Faults in what is received. Wrap the other end for faults in the other direction.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// The same seed breaks the same characters.
    pub seed: u64,
    /// Each read and each write carries one character.
    pub fragment: bool,
    /// Share of the characters that are replaced by others, 0 to 1.
    pub garble: f64,
    /// Share of the characters that are lost, 0 to 1.
    pub lose: f64,
    /// Delay of every character.
    pub delay: Duration,
    /// After this many characters nothing is received for this long, once.
    pub stall: Option<(u64, Duration)>,
    /// After this many characters the line ends.
    pub end: Option<(u64, Disconnection)>,
    /// At this instant the line ends both ways. Characters that are on their way are lost.
    pub cut: Option<(Stamp, Disconnection)>,
    /// Output is never taken.
    pub deaf: bool,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disconnection {
    /// The other end closes it.
    Close,
    /// The other end resets it.
    Reset,
}

#[derive(Debug)]
pub struct Faulty<L> {
    line: L,
    faults: Faults,
    random: Pcg32,
    /// Received characters, and when each may be handed on.
    held: VecDeque<(Stamp, u8)>,
    /// How the inner line ended; reported when all held characters have been handed on.
    end: Option<io::Result<Received>>,
    /// Characters handed on.
    count: u64,
    wait: Sleep,
    /// Until the line is cut.
    cut: Sleep,
}

impl<L: Line> Faulty<L> {
    pub fn new(line: L, faults: Faults) -> Self {
        let random = Pcg32::seed_from_u64(faults.seed);
        let wait = clock::sleep_until(Stamp::ZERO);
        let cut = clock::sleep_until(faults.cut.map_or(Stamp::FAR, |(at, _)| at));
        Self { line, faults, random, held: VecDeque::new(), end: None, count: 0, wait, cut }
    }

    /// Reads what the inner line has.
    fn fill(&mut self, cx: &mut Context<'_>) {
        let mut piece = [0; PIECE];
        while self.end.is_none() && self.held.len() < HELD {
            match self.line.poll_receive(cx, &mut piece) {
                Poll::Ready(Ok(received)) if received.len > 0 => self.inject(&piece[..received.len], received),
                Poll::Ready(end) => self.end = Some(end),
                Poll::Pending => break,
            }
        }
    }

    fn inject(&mut self, piece: &[u8], received: Received) {
        for (index, &character) in piece.iter().enumerate() {
            if self.random.random_bool(self.faults.lose) {
                continue;
            }
            let garbled = self.random.random_bool(self.faults.garble);
            let flipped = if garbled { self.random.random_range(1..=255) } else { 0 };
            self.held.push_back((received.at_character(index) + self.faults.delay, character ^ flipped));
        }
    }

    /// The number of characters that may pass before the next fault. Begins a stall that is due.
    fn allowed(&mut self) -> Result<usize, Disconnection> {
        let left = |at: u64| usize::try_from(at.saturating_sub(self.count)).unwrap_or(usize::MAX);
        let mut allowed = if self.faults.fragment { 1 } else { usize::MAX };
        if let Some((at, ending)) = self.faults.end {
            if left(at) == 0 {
                return Err(ending);
            }
            allowed = allowed.min(left(at));
        }
        if let Some((at, how_long)) = self.faults.stall {
            if left(at) > 0 {
                allowed = allowed.min(left(at));
            } else {
                self.faults.stall = None;
                self.wait.reset(clock::now() + how_long);
            }
        }
        Ok(allowed)
    }

    /// How the line has been cut, if it has; otherwise the task is woken when it is.
    fn poll_cut(&mut self, cx: &mut Context<'_>) -> Option<Disconnection> {
        let (_, ending) = self.faults.cut?;
        Pin::new(&mut self.cut).poll(cx).is_ready().then_some(ending)
    }

    /// Hands on the held characters that are due.
    fn hand_on(&mut self, into: &mut [u8]) -> Received {
        let now = clock::now();
        let mut len = 0;
        while let Some((_, character)) = self.held.front().filter(|(due, _)| *due <= now && len < into.len()) {
            into[len] = *character;
            len += 1;
            self.held.pop_front();
        }
        self.count += len as u64;
        Received { len, at: now, ..Received::default() }
    }
}

impl<L: Line> Line for Faulty<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let allowed = match self.poll_cut(cx).map_or_else(|| self.allowed(), Err) {
            Ok(allowed) => allowed.min(into.len()),
            Err(Disconnection::Close) => return Poll::Ready(Ok(Received { at: clock::now(), ..Received::default() })),
            Err(Disconnection::Reset) => return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        };
        self.fill(cx);
        ready!(Pin::new(&mut self.wait).poll(cx));
        if let Some((due, _)) = self.held.front() {
            self.wait.reset(*due);
            ready!(Pin::new(&mut self.wait).poll(cx));
            return Poll::Ready(Ok(self.hand_on(&mut into[..allowed])));
        }
        match &self.end {
            None => Poll::Pending,
            Some(Ok(received)) => Poll::Ready(Ok(*received)),
            Some(Err(error)) => Poll::Ready(Err(error.kind().into())),
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.poll_cut(cx) {
            Some(Disconnection::Close) => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            Some(Disconnection::Reset) => return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            None => {}
        }
        if self.faults.deaf && !bytes.is_empty() {
            return Poll::Pending;
        }
        let len = if self.faults.fragment { bytes.len().min(1) } else { bytes.len() };
        self.line.poll_send(cx, &bytes[..len])
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }
}
