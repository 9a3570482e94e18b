//! A line as a service sees it: a terminal to read messages from and to write answers to.
//!
//! While a service waits, its line is still serviced: input is collected and echoed, and due output is sent. Nothing is lost:
//! output that the line does not take waits in the pool, a service waits if the pool has no room, and a line whose output has no
//! room is not read.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use cuesta_lines::{BisyncTotals, Line, Received, Traffic};
use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use crate::FrontEnd;
use crate::input::{Input, Message, Unit};
use crate::kernel_path::{Control, Session};
use crate::meters::connections::LineTotals;
use crate::output::Output;

/// Most characters of answers that may wait for one line.
const MOST_ANSWER: usize = 4096;
/// Most characters of echoes that may wait beyond that, so that the line is still read while a long answer goes out.
const MOST_ECHO: usize = 512;
/// Most characters of one read.
const MOST_READ: usize = 512;

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

/// A message, and when the service asked for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakenMessage {
    /// When it arrived.
    pub(crate) arrived: Stamp,
    /// The later of that and the service's asking for it.
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

    /// Whether characters have passed by the in-kernel path since this was asked before.
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
        self.ask(true);
        let message = poll_fn(|cx| {
            self.poll_until(cx, Stamp::FAR, |terminal| match terminal.next(into) {
                None if terminal.hung_up => Some(None),
                message => message.map(Some),
            })
        })
        .await;
        self.ask(false);
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

    fn ask(&mut self, asked: bool) {
        let asking = &self.front.meters.levels.asking;
        match (std::mem::replace(&mut self.asked, asked), asked) {
            (false, true) => asking.add(1),
            (true, false) => asking.take_away(1),
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

    /// Discards all input.
    pub(crate) fn discard(&mut self) {
        while self.input.next(&mut [0; 64]).is_some() {}
    }

    /// Waits until `due`.
    pub(crate) async fn until(&mut self, due: Stamp) -> io::Result<()> {
        poll_fn(|cx| self.poll_until(cx, due, |_| (clock::now() >= due).then_some(()))).await
    }

    /// Writes `len` characters that are due at `due`, as the line and the pool take them; `fill` gives the characters from an
    /// offset on. Returns when the last of them are queued.
    pub(crate) async fn write(&mut self, due: Stamp, len: u64, mut fill: impl FnMut(u64, &mut [u8])) -> io::Result<()> {
        let mut at = 0;
        while at < len {
            let wanted = (len - at).min(MOST_ANSWER as u64) as usize;
            let piece = self.room(wanted).await?.min(wanted);
            self.put(due, piece, |into| fill(at, into));
            at += piece as u64;
        }
        Ok(())
    }

    /// Counts a complete answer.
    pub(crate) fn answered(&self) {
        self.front.meters.messages_out.add(1);
    }

    /// Queues `len` characters of an answer, for which there is room.
    pub(crate) fn put(&mut self, due: Stamp, len: usize, fill: impl FnOnce(&mut [u8])) {
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

    /// Waits for room for `wanted` characters of an answer, or for a fair part of them: small pieces are expensive.
    async fn room(&mut self, wanted: usize) -> io::Result<usize> {
        let fair = wanted.min(MOST_ANSWER / 2);
        let mut short = false;
        poll_fn(|cx| {
            self.poll_until(cx, Stamp::FAR, |terminal| {
                let room = terminal.front.pool.room(terminal.output.len(), MOST_ANSWER);
                if room.characters < fair && room.short && !short {
                    short = true;
                    terminal.front.meters.overflows.add(1);
                }
                let enough = room.characters >= fair && !terminal.output.is_crowded();
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

    /// Moves characters both ways as far as possible. Returns when to service the line again if nothing arrives.
    pub(crate) fn service_line(&mut self, cx: &mut Context<'_>) -> io::Result<Stamp> {
        let began = clock::now();
        if let Some(end) = self.front.stalled(began) {
            return Ok(end);
        }
        let mut now = began;
        loop {
            self.send(cx, &mut now)?;
            // The echo of a message's last key is sent with the answer if that is ready at once.
            if !self.receive(cx, &mut now)? || (self.asked && self.input.is_ready()) {
                break;
            }
        }
        self.count_traffic();
        self.front.meters.count_wake(now.since(began));
        // A blocked line wakes the task when it takes more.
        Ok(self.output.next_due().filter(|_| !self.blocked).unwrap_or(Stamp::FAR))
    }

    /// Sends the output that is due, as far as the line takes it.
    fn send(&mut self, cx: &mut Context<'_>, now: &mut Stamp) -> io::Result<()> {
        loop {
            let ready = self.output.ready(*now);
            if ready.is_empty() {
                return Ok(());
            }
            let sent = self.line.poll_send(cx, ready)?;
            let began = std::mem::replace(now, clock::now());
            self.front.meters.write_nanos.add(now.since(began).as_nanos() as u64);
            let Poll::Ready(sent) = sent else {
                let left = ready.len();
                self.block(left);
                return Ok(());
            };
            self.front.meters.writes.add(1);
            self.output.sent(sent);
            self.front.pool.give(sent);
            self.unblock();
        }
    }

    fn block(&mut self, left: usize) {
        if !std::mem::replace(&mut self.blocked, true) {
            self.front.meters.count_block(left as u64);
        }
    }

    fn unblock(&mut self) {
        if std::mem::take(&mut self.blocked) {
            self.front.meters.levels.blocked.take_away(1);
        }
    }

    /// Reads input, as far as there is room for it and its echo; true if any was read.
    fn receive(&mut self, cx: &mut Context<'_>, now: &mut Stamp) -> io::Result<bool> {
        let room = self.room_to_read();
        if room == 0 || self.hung_up {
            if let Some(station) = self.line.station() {
                station.poll_serve(cx);
            }
            return Ok(false);
        }
        let mut buffer = [0; MOST_READ];
        let received = self.line.poll_receive(cx, &mut buffer[..room.min(MOST_READ)])?;
        let began = std::mem::replace(now, clock::now());
        self.front.meters.read_nanos.add(now.since(began).as_nanos() as u64);
        let Poll::Ready(received) = received else { return Ok(false) };
        self.front.meters.reads.add(1);
        self.hung_up = received.len == 0;
        self.take(&buffer[..received.len], &received);
        Ok(!self.hung_up)
    }

    fn room_to_read(&self) -> usize {
        let room = self.input.room();
        if !self.front.settings.discipline.echo {
            return room;
        }
        // Each character is echoed as two at most.
        room.min(self.front.pool.room(self.output.len(), MOST_ANSWER + MOST_ECHO).characters / 2)
    }

    fn take(&mut self, typed: &[u8], received: &Received) {
        let discipline = &self.front.settings.discipline;
        let (output, mut echoed) = (&mut self.output, 0);
        let taken = self.input.take(discipline, typed, received, |echo| {
            if discipline.echo {
                output.push(Stamp::ZERO, echo.len(), |into| into.copy_from_slice(echo));
                echoed += echo.len();
            }
        });
        self.front.pool.take(echoed);
        self.front.meters.count_typed(typed.len(), echoed, taken);
    }

    fn count_traffic(&mut self) {
        let traffic = self.line.traffic();
        let before = std::mem::replace(&mut self.traffic, traffic);
        self.front.meters.line_in.add(traffic.received - before.received);
        self.front.meters.line_out.add(traffic.sent - before.sent);
        if let Some(before) = &mut self.bisync
            && let Some(totals) = self.line.station().map(|station| station.totals())
            && totals != *before
        {
            self.front.meters.count_bisync(&totals.since(before));
            *before = totals;
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.count_traffic();
        self.ask(false);
        self.unblock();
        self.front.pool.give(self.output.len());
        let how = if std::thread::panicking() { "panicked" } else { self.ended };
        let mut connections = self.front.meters.connections.lock().expect("no panic under this lock");
        connections.close(clock::now(), how, self.totals);
    }
}
