//! The session's display: drawn in turns with other users, looked at, and answering the host's queries.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use cuesta_lines::failure_of;
use cuesta_record::{Failure, Stamp, clock};
use regex::bytes::Regex;
use tokio::task;

use super::Session;

/// How many bytes are drawn in one turn: about ten microseconds of work.
const PIECE: usize = 512;

/// The turns in which the user's screen is drawn.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// This task has yielded since it drew the last piece.
    has_yielded: bool,
    /// Wakes the user when a frame is complete, where that is looked for.
    frame_alarm: Option<Box<clock::Sleep>>,
}

impl Session {
    /// Whether the screen shows a pattern, once all that has come is drawn.
    pub(crate) async fn shows(&mut self, pattern: &Regex) -> bool {
        self.draw_in_turns().await;
        self.terminal.is_on_screen(pattern)
    }

    /// Draws all that has come, in turns with other users.
    pub(super) async fn draw_in_turns(&mut self) {
        while !self.terminal.is_drawn() {
            task::yield_now().await;
            self.draw();
        }
    }

    /// Draws a piece, after every line that is ready has been read.
    pub(super) fn poll_draw(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        if self.terminal.is_drawn() {
            return self.poll_frame(cx);
        }
        if !std::mem::take(&mut self.drawing.has_yielded) {
            // This wakes the task after the other ready tasks have run and the lines have been polled.
            self.drawing.has_yielded = true;
            if pin!(task::yield_now()).poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.drawing.has_yielded = false;
        }
        self.draw();
        self.answer_host(cx)?;
        Poll::Ready(Ok(()))
    }

    /// Ends the frame that is drawn, once nothing more of it has come for a moment.
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let Some(end) = self.terminal.frame_ends() else { return Poll::Pending };
        let alarm = self.drawing.frame_alarm.get_or_insert_with(|| Box::new(clock::sleep_until(end)));
        alarm.reset(end);
        ready!(Pin::new(alarm).poll(cx));
        let mut events = Vec::new();
        self.terminal.end_frames_until(end, &mut events);
        let was_done = self.response.done().is_some();
        self.handle_events(&mut events);
        if !was_done {
            // The wait for the end of a frame is not the driver's delay.
            self.response.was_held(end);
        }
        Poll::Ready(Ok(()))
    }

    /// Draws everything at once, because time is up or the line is gone; says whether the response is then complete.
    pub(super) fn draw_all(&mut self) -> bool {
        let mut any = false;
        while !self.terminal.is_drawn() {
            self.draw();
            any = true;
        }
        any && self.response.done().is_some()
    }

    /// Draws a piece and handles what the screen then shows.
    fn draw(&mut self) {
        let awaited = self.shared.program(self.group, self.program).awaited(self.next_condition);
        let mut events = self.shared.draw(self.slot, |events| self.terminal.draw(PIECE, awaited, events));
        self.shared.count_screen(self.terminal.memory_change());
        self.handle_events(&mut events);
        self.shared.event_buffer.set(events);
        self.report_answer_signs();
        self.continued.look(&*self.terminal);
    }

    /// The screen has met the wait condition since an instant.
    pub(super) fn complete_on_screen(&mut self, at: Stamp) {
        self.response.complete_on_screen(self.terminal.first_output(at), at);
    }

    /// Sends the terminal's replies to the host as far as the line takes them. They are not keys; only the line counts them.
    pub(super) fn answer_host(&mut self, cx: &mut Context<'_>) -> Result<(), Failure> {
        let mut any = false;
        while !self.sending && !self.terminal.replies().is_empty() {
            match self.line.poll_send(cx, self.terminal.replies()) {
                Poll::Ready(taken) => self.terminal.forget_replies(taken.map_err(|error| failure_of(&error))?),
                Poll::Pending => break,
            }
            any = true;
        }
        if any {
            // The kernel's last sent stamp is no longer that of the key.
            self.since_key.first_is_doubtful = true;
            self.count_traffic();
        }
        Ok(())
    }
}
