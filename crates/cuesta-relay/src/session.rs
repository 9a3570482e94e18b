//! Passes characters both ways and records each with its instant.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_lines::Line;
use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use crate::cast_recorder::CastRecorder;
use crate::escape_key::EscapeKey;
use crate::terminal::Terminal;

/// How often the window's size and the stop flag are checked.
const HOUSEKEEPING: Duration = Duration::from_millis(50);
/// Size of the read buffer.
const BUFFER: usize = 16 << 10;

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedBy {
    /// The host closed the line, or it broke.
    ByHost,
    /// The person pressed the escape key, or [`Relay::stop`](crate::Relay::stop) was called.
    ByPerson,
}

/// A session under way.
pub(crate) struct Session {
    line: Box<dyn Line>,
    terminal: Terminal,
    recorder: CastRecorder,
    window: Option<(u16, u16)>,
    /// Typed characters that the line has not taken yet.
    to_send: Vec<u8>,
    buffer: Vec<u8>,
    housekeeping: Sleep,
    stop: Arc<AtomicBool>,
    escape_key: EscapeKey,
}

impl Session {
    pub(crate) fn new(line: Box<dyn Line>, terminal: Terminal, recorder: CastRecorder, stop: Arc<AtomicBool>) -> Self {
        Self {
            line,
            window: terminal.window(),
            terminal,
            recorder,
            to_send: Vec::new(),
            buffer: vec![0; BUFFER],
            housekeeping: clock::sleep_until(clock::now() + HOUSEKEEPING),
            stop,
            escape_key: EscapeKey::default(),
        }
    }

    /// Passes characters on until one side ends, then returns the recording.
    pub(crate) async fn run(mut self) -> io::Result<cuesta_cast::Cast> {
        let ended = poll_fn(|cx| self.poll(cx)).await?;
        Ok(self.recorder.finish(clock::now(), ended == EndedBy::ByHost))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<EndedBy>> {
        loop {
            // Each step is ready if it made progress; if none is, the task waits.
            let mut went_on = false;
            for step in [Self::poll_housekeeping, Self::poll_keyboard, Self::poll_send, Self::poll_receive] {
                match step(self, cx) {
                    Poll::Ready(Ok(None)) => went_on = true,
                    Poll::Ready(Ok(Some(ended))) => return Poll::Ready(Ok(ended)),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {}
                }
            }
            if !went_on {
                return Poll::Pending;
            }
        }
    }

    fn poll_housekeeping(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<EndedBy>>> {
        if Pin::new(&mut self.housekeeping).poll(cx).is_pending() {
            return Poll::Pending;
        }
        let now = clock::now();
        self.housekeeping.reset(now + HOUSEKEEPING);
        if self.stop.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(Some(EndedBy::ByPerson)));
        }
        let held = self.escape_key.overdue(now);
        self.forward(&held, now);
        let window = self.terminal.window();
        if let Some((columns, rows)) = window.filter(|_| window != self.window) {
            self.window = window;
            if let Some(terminal) = self.line.terminal() {
                terminal.resize(columns, rows);
            }
            self.recorder.resize(now, (columns, rows));
        }
        Poll::Ready(Ok(None))
    }

    /// Reads the keyboard, unless earlier input still waits for the line.
    fn poll_keyboard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<EndedBy>>> {
        if !self.to_send.is_empty() {
            return Poll::Pending;
        }
        let mut typed = [0; 1024];
        let Poll::Ready(read) = self.terminal.poll_read(cx, &mut typed) else { return Poll::Pending };
        let typed = &typed[..read?];
        let now = clock::now();
        if typed.is_empty() {
            return Poll::Ready(Ok(Some(EndedBy::ByPerson)));
        }
        let Some(passed) = self.escape_key.take(typed, now) else { return Poll::Ready(Ok(Some(EndedBy::ByPerson))) };
        self.forward(&passed, now);
        Poll::Ready(Ok(None))
    }

    /// Keys that were held back are recorded with the instant at which the host gets them.
    fn forward(&mut self, typed: &[u8], now: Stamp) {
        if !typed.is_empty() {
            let echoes = self.line.terminal().and_then(|terminal| terminal.echoes());
            self.recorder.input(now, typed, echoes);
            self.to_send.extend_from_slice(typed);
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<EndedBy>>> {
        if self.to_send.is_empty() {
            return Poll::Pending;
        }
        let Poll::Ready(sent) = self.line.poll_send(cx, &self.to_send) else { return Poll::Pending };
        // If the line is broken, reading returns the error after the remaining output.
        let len = sent.unwrap_or(self.to_send.len());
        self.to_send.drain(..len);
        Poll::Ready(Ok(None))
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<EndedBy>>> {
        let Poll::Ready(received) = self.line.poll_receive(cx, &mut self.buffer) else { return Poll::Pending };
        let Ok(received) = received else { return Poll::Ready(Ok(Some(EndedBy::ByHost))) };
        if received.len == 0 {
            return Poll::Ready(Ok(Some(EndedBy::ByHost)));
        }
        let bytes = &self.buffer[..received.len];
        self.recorder.output(received.at, bytes);
        self.terminal.show(bytes)?;
        Poll::Ready(Ok(None))
    }
}
