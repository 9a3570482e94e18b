//! A line as a service sees it: a terminal to read messages from and to write answers to.
//!
//! While a service waits, its line is still serviced (`servicing`): input is collected and echoed, and due output is sent. Nothing is
//! dropped: output that the line does not take is queued in the pool; while the pool is full, the service waits and the line is not read.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use cuesta_lines::{BisyncTotals, Line, Traffic};
use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use crate::FrontEnd;
use crate::input::{Input, Message, Unit};
use crate::kernel_path::{Control, Session};
use crate::meters::connections::LineTotals;
use crate::output::Output;

mod servicing;

/// Most characters of answers that may wait for one line.
const MOST_ANSWER: usize = 4096;
/// A line, its input, and its output that waits.
pub(crate) struct Terminal {
    line: Box<dyn Line>,
    /// Its session in the in-kernel path. It is here because it must last until all output is sent.
    session: Option<Box<Session>>,
    front: Rc<FrontEnd>,
    input: Input,
    output: Output,
    sleep: Sleep,
    /// The service waits for a message.
    asked: bool,
    /// The other end has closed the line.
    hung_up: bool,
    /// The line did not take all the output that was due.
    blocked: bool,
    traffic: Traffic,
    /// What the line's stations have carried, if it has stations.
    bisync: Option<BisyncTotals>,
    totals: LineTotals,
    /// How the line ended, by its name in the connection table.
    ended: &'static str,
}

/// A message that a service has read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakenMessage {
    /// When it arrived.
    pub(crate) arrived: Stamp,
    /// When the service had it: max(arrived, asked).
    pub(crate) taken: Stamp,
    /// Its characters.
    pub(crate) len: usize,
}

impl Terminal {
    pub(crate) fn new(mut line: Box<dyn Line>, front: Rc<FrontEnd>) -> Self {
        front.meters.connections.lock().expect("no panic under this lock").open(clock::now());
        let bisync = line.station().map(|station| station.totals());
        if let Some(totals) = &bisync {
            front.meters.count_bisync(totals);
        }
        Self {
            line,
            session: None,
            front,
            input: Input::default(),
            output: Output::default(),
            sleep: clock::sleep_until(Stamp::ZERO),
            asked: false,
            hung_up: false,
            blocked: false,
            traffic: Traffic::default(),
            bisync,
            totals: LineTotals::default(),
            ended: "stopped",
        }
    }

    pub(crate) fn front(&self) -> &Rc<FrontEnd> {
        &self.front
    }

    pub(crate) fn line(&mut self) -> &mut dyn Line {
        &mut *self.line
    }

    /// Hands the line over to the in-kernel path, if the host has one and can take the line, and counts it. Returns the socket for
    /// the program, and the connection for what the programs in the kernel leave to the host.
    pub(crate) fn join_kernel_path(&mut self) -> Option<(Arc<OwnedFd>, Control)> {
        let path = self.front.kernel_path.as_ref()?;
        let joined = path.join(&self.front.settings, self.line.socket());
        let mut connections = self.front.meters.connections.lock().expect("no panic under this lock");
        connections.join_kernel_path(joined.as_ref().err().copied());
        let (session, control) = joined.ok()?;
        let socket = session.socket();
        self.session = Some(Box::new(session));
        Some((socket, control))
    }

    /// Tells the in-kernel path that `handled` characters of the output that was left to the host are written on the line, unless
    /// some of them wait here.
    pub(crate) fn output_handled(&mut self, handled: u64) {
        let Some(session) = &mut self.session else { return };
        if self.output.is_empty() && self.line.socket().is_none_or(|socket| socket.is_output_whole()) {
            session.output_handled(handled);
        }
    }

    /// Whether the in-kernel path has carried characters since the last call.
    pub(crate) fn has_moved_in_kernel(&mut self) -> bool {
        self.session.as_mut().is_some_and(|session| session.has_moved())
    }

    /// Whether the other end has closed the line; earlier input can still be read.
    pub(crate) fn hung_up(&self) -> bool {
        self.hung_up
    }

    /// Waits for the next message; none = the other end closed the line. A message longer than `into` is read in parts.
    pub(crate) async fn read(&mut self, into: &mut [u8]) -> io::Result<Option<TakenMessage>> {
        let asked = clock::now();
        self.set_asking(true);
        let message = poll_fn(|cx| {
            self.poll_until(cx, Stamp::FAR, |terminal| match terminal.next(into) {
                None if terminal.hung_up => Some(None),
                message => message.map(Some),
            })
        })
        .await;
        self.set_asking(false);
        let Some(message) = message? else { return Ok(None) };
        if message.arrived < asked {
            self.front.meters.count_ahead(self.messages(message), message.len, asked.since(message.arrived));
        }
        Ok(Some(TakenMessage { arrived: message.arrived, taken: message.arrived.max(asked), len: message.len }))
    }

    /// The next message, if one waits.
    pub(crate) fn next(&mut self, into: &mut [u8]) -> Option<Message> {
        let message = self.input.next(into)?;
        let messages = self.messages(message);
        self.front.meters.messages_in.add(messages);
        self.front.meters.characters_in.add(message.len as u64);
        self.totals.messages += messages;
        self.totals.characters_in += message.len as u64;
        Some(message)
    }

    fn set_asking(&mut self, asked: bool) {
        let asking = &self.front.meters.levels.asking;
        match (std::mem::replace(&mut self.asked, asked), asked) {
            (false, true) => asking.add(1),
            (true, false) => asking.subtract(1),
            _ => {}
        }
    }

    /// Number of messages: one for a row or a record, one for each raw character. Those of stations are counted by the stations.
    fn messages(&self, message: Message) -> u64 {
        if self.bisync.is_some() {
            return 0;
        }
        if self.front.settings.discipline.unit == Unit::Character { message.len as u64 } else { 1 }
    }

    /// Waits until the line has sent its terminal's name or any input, or until `due`.
    pub(crate) async fn wait_for_terminal_name(&mut self, due: Stamp) -> io::Result<()> {
        poll_fn(|cx| {
            self.poll_until(cx, due, |terminal| {
                let known =
                    terminal.line.terminal().is_some_and(|known| known.name().is_some()) || terminal.input.is_ready();
                (known || terminal.hung_up || clock::now() >= due).then_some(())
            })
        })
        .await
    }

    pub(crate) fn discard_input(&mut self) {
        while self.input.next(&mut [0; 64]).is_some() {}
    }

    pub(crate) async fn wait_until(&mut self, due: Stamp) -> io::Result<()> {
        poll_fn(|cx| self.poll_until(cx, due, |_| (clock::now() >= due).then_some(()))).await
    }

    /// Writes `len` characters that are due at `due`, as the line and the pool take them; `fill` gives the characters from an
    /// offset on. Returns when the last of them are queued.
    pub(crate) async fn write(&mut self, due: Stamp, len: u64, mut fill: impl FnMut(u64, &mut [u8])) -> io::Result<()> {
        let mut at = 0;
        while at < len {
            let wanted = (len - at).min(MOST_ANSWER as u64) as usize;
            let piece = self.room(wanted).await?.min(wanted);
            self.queue(due, piece, |into| fill(at, into));
            at += piece as u64;
        }
        Ok(())
    }

    pub(crate) fn count_answer(&self) {
        self.front.meters.messages_out.add(1);
    }

    /// Queues `len` characters of an answer, for which there is room.
    pub(crate) fn queue(&mut self, due: Stamp, len: usize, fill: impl FnOnce(&mut [u8])) {
        self.front.pool.take(len);
        self.output.push(due, len, fill);
        self.front.meters.characters_out.add(len as u64);
        self.totals.characters_out += len as u64;
    }

    /// The room for an answer now.
    pub(crate) fn room_now(&self) -> usize {
        self.front.pool.room(self.output.len(), MOST_ANSWER).characters
    }

    /// Waits until all output was sent.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_until(cx, Stamp::FAR, |terminal| terminal.output.is_empty().then_some(()))).await
    }

    /// Sets how the line ended.
    pub(crate) fn end(&mut self, how: &'static str) {
        self.ended = how;
    }

    /// Waits for room for `wanted` characters of an answer, or for half of the limit: small writes are expensive.
    async fn room(&mut self, wanted: usize) -> io::Result<usize> {
        let least = wanted.min(MOST_ANSWER / 2);
        let mut short = false;
        poll_fn(|cx| {
            self.poll_until(cx, Stamp::FAR, |terminal| {
                let room = terminal.front.pool.room(terminal.output.len(), MOST_ANSWER);
                if room.characters < least && room.short && !short {
                    short = true;
                    terminal.front.meters.overflows.add(1);
                }
                let enough = room.characters >= least && !terminal.output.is_crowded();
                (enough || terminal.output.is_empty()).then_some(room.characters)
            })
        })
        .await
    }

    /// Services the line until `ready` returns a value; checks again at `due`.
    fn poll_until<T>(
        &mut self,
        cx: &mut Context<'_>,
        due: Stamp,
        mut ready: impl FnMut(&mut Self) -> Option<T>,
    ) -> Poll<io::Result<T>> {
        loop {
            if let Some(outcome) = ready(self) {
                return Poll::Ready(Ok(outcome));
            }
            let next = self.service_line(cx)?;
            if let Some(outcome) = ready(self) {
                return Poll::Ready(Ok(outcome));
            }
            if self.poll_idle(cx, next.min(due)).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Waits until `due` or until the line is ready.
    pub(crate) fn poll_idle(&mut self, cx: &mut Context<'_>, due: Stamp) -> Poll<()> {
        self.sleep.reset(due);
        if due == Stamp::FAR { Poll::Pending } else { Pin::new(&mut self.sleep).poll(cx) }
    }

    /// Moves characters both ways as far as possible now.
    pub(crate) async fn service_line_once(&mut self) -> io::Result<()> {
        poll_fn(|cx| Poll::Ready(self.service_line(cx).map(drop))).await
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.count_traffic();
        self.set_asking(false);
        self.unblock();
        self.front.pool.give(self.output.len());
        let how = if std::thread::panicking() { "panicked" } else { self.ended };
        let mut connections = self.front.meters.connections.lock().expect("no panic under this lock");
        connections.close(clock::now(), how, self.totals);
    }
}
