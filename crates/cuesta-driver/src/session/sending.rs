//! Sends keys, and tells the matchers and the terminal what may come of them.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Expected, failure_of};
use cuesta_record::{Failure, Stamp, clock};
use cuesta_tape::{Echo, KeySettings, WaitCondition};

use super::{Session, SinceKey};
use crate::echoes::SentKey;
use crate::error::failure_of_refusal;
use crate::terminal::Keystroke;

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// It was sent at an instant.
    Sent(Stamp),
    /// It was pressed at an instant, and the terminal sends nothing for it.
    Local(Stamp),
    /// The terminal did not take it, which is counted.
    Refused,
}

impl Session {
    /// Sends a key that was due at an instant; from now on the condition of the next wait judges what comes. `secret`: it is part of
    /// a secret, whose length no count may reveal.
    pub(crate) async fn send(
        &mut self,
        input: Keystroke<'_>,
        due: Stamp,
        settings: &KeySettings,
        ends_input: bool,
        secret: bool,
    ) -> Result<Pressed, Failure> {
        self.count_opening();
        if self.terminal.draws_before(input) {
            self.draw_in_turns().await;
        }
        self.choose_acknowledgement();
        let Some((bytes, SentKey { sent, begins_input, .. })) = self.press(input, due, settings, ends_input, secret)
        else {
            return Ok(Pressed::Refused);
        };
        self.follow_key(sent);
        self.push(&bytes, sent).await?;
        self.note_sent();
        self.keep_acknowledgement();
        if begins_input {
            self.continued.begin_input(sent, self.terminal.row_hashes(), self.terminal.typed_row());
        } else if ends_input {
            self.continued.end_input(self.terminal.row_hashes(), sent);
        }
        if !matches!(input, Keystroke::Character(_)) {
            self.continued.leave_row();
        }
        self.shared.tally(|tally| tally.counts.characters.r#in += bytes.len() as u64);
        self.count_traffic();
        Ok(if bytes.is_empty() { Pressed::Local(sent) } else { Pressed::Sent(sent) })
    }

    /// Sends characters from an instant on.
    async fn push(&mut self, bytes: &[u8], from: Stamp) -> Result<(), Failure> {
        self.alarm.reset(from + self.program().patience);
        let mut rest = bytes;
        self.sending = true;
        let sending = poll_fn(|cx| self.poll_push(cx, &mut rest)).await;
        self.sending = false;
        sending
    }

    /// Sends a key of a probe, which enters no figure; only the line counts its characters.
    pub(super) async fn send_probe(&mut self, key: Keystroke<'_>) -> Result<(), Failure> {
        self.count_opening();
        self.draw_in_turns().await;
        let Ok(bytes) = self.terminal.press(key) else { return Ok(()) };
        let (bytes, now) = (bytes.into_owned(), clock::now());
        self.follow_key(now);
        let mut events = Vec::new();
        self.terminal.probe_sent(now, &mut events);
        self.continued.key_sent(now);
        self.handle_events(&mut events);
        self.push(&bytes, now).await?;
        self.note_sent();
        self.shared.tally(|tally| tally.counts.characters.r#in += bytes.len() as u64);
        self.count_traffic();
        Ok(())
    }

    /// Presses a key: what it is to send, and the key as it is sent; `None` if the terminal does not take it, which is counted.
    fn press<'a>(
        &mut self,
        input: Keystroke<'a>,
        due: Stamp,
        settings: &KeySettings,
        ends_input: bool,
        secret: bool,
    ) -> Option<(Cow<'a, [u8]>, SentKey)> {
        let pressed = self.terminal.press(input);
        let count = |refusal| self.shared.tally(|tally| tally.counts.count_failure(failure_of_refusal(refusal)));
        let bytes = pressed.map_err(count).ok()?;
        let typed = input.text(&bytes);
        self.next_condition = settings.next_wait;
        let echo = settings.echo;
        // The text holds no timed echoes.
        let begins_input = self.response.restart(if echo == Echo::Timed || !self.can_echo() { b"" } else { typed });
        let first_is_doubtful = self.unechoed() > 0 || self.echoes.expects_echo();
        self.since_key = SinceKey { first_is_doubtful, ..SinceKey::default() };
        let sent = clock::now();
        let timed = if secret { Echo::Untimed } else { echo };
        let key = SentKey { due, sent, echo: timed, begins_input, ends_input };
        self.await_echo(input, typed, key, echo == Echo::Timed);
        if echo != Echo::Untimed {
            self.report_unechoed();
        }
        Some((bytes, key))
    }

    /// A key is sent, which the terminal must know; `in_stream`: the stream of characters is to show its echo.
    fn await_echo(&mut self, input: Keystroke<'_>, typed: &[u8], key: SentKey, in_stream: bool) {
        let shared = Rc::clone(&self.shared);
        let echo_map = &shared.program(self.group, self.program).echo_map;
        let mut events = Vec::new();
        if in_stream {
            self.echoes.key_sent(typed, echo_map, key, &mut events);
            if typed == b"\r" || !typed.iter().any(u8::is_ascii_control) {
                self.line.announce(Expected::Echo(typed.len()));
            }
        }
        let is_answered = key.ends_input && self.condition().is_some_and(WaitCondition::needs_screen);
        self.terminal.key_sent(input, typed, SentKey { ends_input: is_answered, ..key }, echo_map, &mut events);
        self.handle_events(&mut events);
    }

    /// Sends characters; the line is lost if it takes none until the alarm.
    fn poll_push(&mut self, cx: &mut Context<'_>, rest: &mut &[u8]) -> Poll<Result<(), Failure>> {
        while !rest.is_empty() {
            match self.line.poll_send(cx, rest) {
                Poll::Ready(taken) => *rest = &rest[taken.map_err(|error| failure_of(&error))?..],
                // A host that does not read may be waiting for us to read.
                Poll::Pending => {
                    if Pin::new(&mut self.alarm).poll(cx).is_ready() {
                        return Poll::Ready(Err(Failure::Blocked));
                    }
                    ready!(self.poll_listen(cx))?;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}
