//! The terminal's end of an open session.

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use super::error::Break;
use super::frames::{End, Frames};
use super::removal::Removal;
use crate::wire::web::{KeepAlive, Messages, WebTerminal};
use crate::wire::websocket::{Receiver, Sender};
use crate::{ExitStatus, Line, LineTerminal, Opening, Received, StampPair};

/// How long a host may leave pings unanswered.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a browser says that leaves a page (RFC 6455 §7.4.1).
const GOING_AWAY: u16 = 1001;

/// A session at a web terminal.
pub(crate) struct WebLine {
    frames: Frames<dyn WebTerminal>,
    pings: Option<Box<Pings>>,
    pub(super) opening: Opening,
    window: (u16, u16),
    /// What is removed at the host when the line is dropped.
    pub(super) removal: Option<Box<Removal>>,
}

/// The pings of this end.
struct Pings {
    keep_alive: KeepAlive,
    next: Sleep,
    /// When the first ping was sent that is not answered, and how many were answered before.
    unanswered: Option<(Stamp, u32)>,
}

impl WebLine {
    /// A session whose WebSocket was just opened, in a window of this size.
    pub(super) fn new(
        line: Box<dyn Line>,
        terminal: Box<dyn WebTerminal>,
        frames: (Receiver, Sender),
        answers_pings: bool,
        window: (u16, u16),
    ) -> Self {
        let opening = line.opening();
        let frames = Frames::new(line, terminal, frames, answers_pings);
        Self { frames, pings: None, opening, window, removal: None }
    }

    /// Takes bytes that came with the answer that opened the WebSocket, sends the first messages, and receives until the session is ready.
    /// Then starts its pings, at intervals of `every` seconds (0 = never; none = as the kind does).
    pub(super) async fn get_ready(&mut self, bytes: Vec<u8>, first: Messages, every: Option<u64>) -> Result<(), Break> {
        self.frames.send_messages(&first);
        self.frames.take_early(bytes);
        std::future::poll_fn(|cx| self.frames.poll_ready(cx)).await;
        if !self.frames.session.is_ready() {
            let end = self.frames.end.take();
            return Err(end.map_or(Break::Hangup, |end| end.into_break(&mut *self.frames.session)));
        }
        let usual = self.frames.session.keep_alive();
        let keep_alive = match every {
            None => usual,
            Some(0) => None,
            Some(every) => Some(KeepAlive { every, message: usual.and_then(|usual| usual.message) }),
        };
        self.pings = keep_alive.map(|keep_alive| {
            let next = clock::sleep_until(clock::now() + Duration::from_secs(keep_alive.every));
            Box::new(Pings { keep_alive, next, unanswered: None })
        });
        Ok(())
    }

    pub(super) fn session(&self) -> &dyn WebTerminal {
        &*self.frames.session
    }

    /// Pings when that is due.
    fn keep_alive(&mut self, cx: &mut Context<'_>) {
        let (Some(pings), frames) = (&mut self.pings, &mut self.frames) else { return };
        while Pin::new(&mut pings.next).poll(cx).is_ready() {
            let now = clock::now();
            pings.next.reset(pings.next.due().max(now) + Duration::from_secs(pings.keep_alive.every));
            let mut messages = Messages::default();
            frames.session.put_keep_alive(&mut messages);
            if !messages.0.is_empty() {
                frames.send_messages(&messages);
                continue;
            }
            let (since, before) =
                pings.unanswered.filter(|(_, pongs)| *pongs == frames.pongs).unwrap_or((now, frames.pongs));
            if now.since(since) > PATIENCE {
                frames.end.get_or_insert(End::Broken(Break::NoPong));
            }
            pings.unanswered = Some((since, before));
            frames.sender.put_ping(b"", &mut frames.replies);
        }
    }
}

impl End {
    /// How the session broke, before it was ready.
    fn into_break(self, session: &mut dyn WebTerminal) -> Break {
        match self {
            Self::Broken(broken) => broken,
            Self::Closed => Break::Hangup,
            Self::ByCode(code, reason) => {
                let code = code.unwrap_or(NO_CODE);
                session.note_close(code);
                Break::Closed { code, reason }
            }
            Self::Failed(kind) => Break::Failed(kind),
        }
    }
}

/// What stands for the code of a close frame without one (RFC 6455 §7.4.1).
const NO_CODE: u16 = 1005;

impl Line for WebLine {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.keep_alive(cx);
        if let Some(received) = ready!(self.frames.poll_receive(cx, into)) {
            return Poll::Ready(Ok(received));
        }
        if let Some(End::ByCode(code, reason)) = &mut self.frames.end {
            let (code, reason) = (code.unwrap_or(NO_CODE), mem::take(reason));
            let is_usual = self.frames.session.note_close(code);
            self.frames.end = Some(if is_usual { End::Closed } else { End::Broken(Break::Closed { code, reason }) });
        }
        Poll::Ready(match &self.frames.end {
            Some(End::Broken(broken)) => Err(io::Error::other(broken.clone())),
            Some(End::Failed(kind)) => Err((*kind).into()),
            _ => Ok(Received { at: self.frames.at, ..Received::default() }),
        })
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.frames.poll_send(cx, bytes)
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&*self.frames.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut *self.frames.line)
    }

    fn kernel_sent(&mut self) -> Option<StampPair> {
        if self.frames.replied { None } else { self.frames.line.kernel_sent() }
    }

    fn poll_exit(&mut self, _: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        Poll::Ready(self.frames.session.exit())
    }

    fn end_reason(&self) -> Option<String> {
        match &self.frames.end {
            Some(End::Broken(broken)) => Some(broken.to_string()),
            _ => None,
        }
    }

    fn opening(&self) -> Opening {
        self.opening
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
    }
}

impl LineTerminal for WebLine {
    fn window(&self) -> Option<(u16, u16)> {
        Some(self.window)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if (columns, rows) == self.window {
            return;
        }
        self.window = (columns, rows);
        let mut messages = Messages::default();
        self.frames.session.resize(columns, rows, &mut messages);
        self.frames.send_messages(&messages);
        self.frames.flush_once();
    }
}

impl Drop for WebLine {
    /// Says goodbye as a page does that is left, and has what the session leaves at the host removed.
    fn drop(&mut self) {
        if self.frames.end.is_none() {
            let mut messages = Messages::default();
            self.frames.session.finish(&mut messages);
            self.frames.send_messages(&messages);
            self.frames.sender.put_close(Some(GOING_AWAY), &mut self.frames.replies);
        }
        self.frames.flush_once();
        if let Some(removal) = self.removal.take() {
            removal.queue();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_small() {
        assert!(size_of::<WebLine>() <= 480, "{}", size_of::<WebLine>());
    }
}
