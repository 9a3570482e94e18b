//! The terminal's screen: drawn while others have their turns, asked and answering.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use cuesta_record::Stamp;
use regex::bytes::Regex;
use tokio::task;

use super::{KeyInput, Session};
use crate::error::LineLoss;
use crate::pending_screen::ScreenEvent;

/// How much of a screen's input is drawn in one turn: some ten microseconds of work.
const PIECE: usize = 512;

impl KeyInput<'_> {
    /// Whether what is sent depends on the modes that the host has set.
    fn needs_modes(&self) -> bool {
        match self {
            Self::Character(_) => false,
            Self::Key(key) => key.needs_modes(),
            Self::Paste(_) => true,
        }
    }
}

impl Session {
    /// Whether the screen shows a pattern now, with all drawn that has come.
    pub(crate) async fn shows(&mut self, pattern: &Regex) -> bool {
        self.settle().await;
        self.screen.as_ref().is_some_and(|view| view.is_on_screen(pattern))
    }

    /// The bytes that a terminal in its present modes sends, and what of them is typed.
    pub(super) async fn encode<'a>(&mut self, input: KeyInput<'a>) -> (Cow<'a, [u8]>, &'a [u8]) {
        if input.needs_modes() {
            self.settle().await;
        }
        let watched = || self.modes.map(|watch| watch.modes()).unwrap_or_default();
        let modes = self.screen.as_ref().map_or_else(watched, |view| view.screen().modes());
        match input {
            KeyInput::Key(key) => {
                let bytes = key.bytes(cuesta_tape::Modes { application_cursor: modes.application_cursor });
                (Cow::Borrowed(bytes), bytes)
            }
            KeyInput::Paste(text) if modes.bracketed_paste => {
                (Cow::Owned([b"\x1b[200~", text.as_bytes(), b"\x1b[201~"].concat()), text.as_bytes())
            }
            KeyInput::Paste(text) | KeyInput::Character(text) => (Cow::Borrowed(text.as_bytes()), text.as_bytes()),
        }
    }

    /// Draws all that has come, while the others have their turns.
    async fn settle(&mut self) {
        while self.screen.as_ref().is_some_and(|view| !view.is_drawn()) {
            task::yield_now().await;
            self.draw();
        }
    }

    /// Draws a piece, after every line that is ready has been read.
    pub(super) fn poll_draw(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LineLoss>> {
        let Some(view) = self.screen.as_mut().filter(|view| !view.is_drawn()) else { return Poll::Pending };
        if !std::mem::take(&mut view.has_turn) {
            // It wakes this task once the others that are ready have run, and the lines have been looked at.
            view.has_turn = true;
            if pin!(task::yield_now()).poll(cx).is_pending() {
                return Poll::Pending;
            }
            view.has_turn = false;
        }
        self.draw();
        self.answer_host(cx)?;
        Poll::Ready(Ok(()))
    }

    /// Draws all at once, because time is up or the line is gone; says whether that brought what is waited for.
    pub(super) fn draw_all(&mut self) -> bool {
        let mut any = false;
        while self.screen.as_ref().is_some_and(|view| !view.is_drawn()) {
            self.draw();
            any = true;
        }
        any && self.answer.done().is_some()
    }

    /// Draws a piece, and takes in what is then seen.
    fn draw(&mut self) {
        let Some(view) = &mut self.screen else { return };
        let mut events = self.shared.draw(|events| view.draw(PIECE, self.program.condition(self.awaited), events));
        self.shared.has_screen(view.grown());
        for sight in events.drain(..) {
            match sight {
                ScreenEvent::Key(key, at) => self.echoed(key.due, key.sent, at),
                ScreenEvent::Missed => self.missed(1),
                ScreenEvent::Answer(at) => self.sees(at),
            }
        }
        self.shared.keep_event_buffer(events);
    }

    /// The screen shows since an instant what is waited for.
    pub(super) fn sees(&mut self, at: Stamp) {
        let first = self.screen.as_ref().map_or(at, |view| view.began(at));
        self.answer.seen(first, at);
    }

    /// Sends what the screen has to answer as far as the line takes it. It is no key, and counts on the line only.
    pub(super) fn answer_host(&mut self, cx: &mut Context<'_>) -> Result<(), LineLoss> {
        let Some(view) = &mut self.screen else { return Ok(()) };
        let mut any = false;
        while !self.sending && !view.screen().replies().is_empty() {
            match self.line.poll_send(cx, view.screen().replies()) {
                Poll::Ready(taken) => view.forget_replies(taken?),
                Poll::Pending => break,
            }
            any = true;
        }
        if any {
            // The kernel's stamp of what was last sent is no longer that of the key.
            self.mixed = true;
            self.count_traffic();
        }
        Ok(())
    }
}
