//! A session: a user's line, from its opening to its end, and what has come over it since the last key.
//!
//! A session listens in every wait, so each character is stamped when it comes. A user whose program looks at a screen has
//! one (see `user_screen`): it is drawn a piece at a time, after all lines that were ready have been read.
//!
//! - Here: the state, and sending keys.
//! - `waiting`: waits for an instant, an event or a response; `reading`: matches received characters to keys and
//!   responses; `drawing`: the screen.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Expected, Line, ProgramExit, ResponseForm, StampPair, Traffic};
use cuesta_record::{Stamp, clock};
use cuesta_screen::vt::ModeWatch;
use cuesta_tape::{Echo, KeySettings, Program, WaitCondition};

use crate::echo_matcher::EchoMatcher;
use crate::error::LineLoss;
use crate::opening::Opened;
use crate::response::ResponseMatcher;
use crate::thread_state::ThreadState;
use crate::user_screen::{KeyEffect, ScreenKey, UserScreen};

mod drawing;
mod reading;
mod waiting;

pub(crate) use waiting::WaitOutcome;

/// A line with a user at it.
#[allow(clippy::struct_excessive_bools)] // They do not depend on one another.
pub(crate) struct Session {
    line: Box<dyn Line>,
    /// `None` once the opening is counted.
    opened: Option<Opened>,
    alarm: clock::Sleep,
    shared: Rc<ThreadState>,
    /// The user's slot.
    slot: usize,
    /// The user's group.
    group: usize,
    echo_matcher: EchoMatcher,
    response: ResponseMatcher,
    /// Which of the group's programs the user plays.
    program: usize,
    /// Which of the program's conditions is waited for, or will be next.
    next_condition: Option<usize>,
    /// When the first character after the last key came, by two clocks, if the kernel stamps the line.
    first_stamps: Option<StampPair>,
    /// Whether that character may be no response to the key, but the echo of an earlier one.
    first_is_doubtful: bool,
    /// The traffic counted so far.
    counted_traffic: Traffic,
    /// Only if the program looks at a screen.
    screen: Option<Box<UserScreen>>,
    /// The modes that keys depend on, if they do and there is no screen.
    modes: Option<ModeWatch>,
    /// A key is being sent: nothing may come between its characters.
    sending: bool,
    /// The last input has its response, or has none any more: the next key begins another input.
    input_has_ended: bool,
    /// Something has come since the last key, echoes included.
    heard: bool,
}

/// What one keystroke sends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyInput<'a> {
    /// One character of a text.
    Character(&'a str),
    /// A key with a name.
    Key(&'a cuesta_tape::Key),
    Paste(&'a str),
}

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
    pub(crate) fn new(
        line: Box<dyn Line>,
        opened: Opened,
        shared: Rc<ThreadState>,
        slot: usize,
        group: usize,
        program: usize,
    ) -> Self {
        let mut session = Self {
            line,
            opened: Some(opened),
            alarm: clock::sleep_until(Stamp::FAR),
            shared,
            slot,
            group,
            echo_matcher: EchoMatcher::default(),
            response: ResponseMatcher::default(),
            program,
            next_condition: None,
            first_stamps: None,
            first_is_doubtful: false,
            counted_traffic: Traffic::default(),
            screen: None,
            modes: None,
            sending: false,
            input_has_ended: true,
            heard: false,
        };
        session.begin_pass(program);
        session
    }

    /// Prepares for a pass of a program.
    pub(crate) fn begin_pass(&mut self, program: usize) {
        if self.program != program {
            self.program = program;
            self.next_condition = None;
        }
        let program = self.shared.program(self.group, program);
        self.response.keep_text(program.reads_text);
        if program.needs_screen && self.screen.is_none() {
            let line = &self.shared.groups[self.group].line;
            let mut screen = UserScreen::new((line.columns, line.rows));
            self.shared.has_screen(screen.memory_change());
            self.screen = Some(Box::new(screen));
        }
        // Modes that the host set before this are not known.
        self.modes =
            self.modes.or_else(|| program.needs_modes.then(ModeWatch::default)).filter(|_| self.screen.is_none());
    }

    /// The instant from which the line can carry the next character.
    pub(crate) fn free_at(&self) -> Stamp {
        self.line.free_at()
    }

    /// The next key was to begin at an instant; a line with a speed counts from it.
    pub(crate) fn begin_next_at(&mut self, at: Stamp) {
        self.line.begin_next_at(at);
    }

    /// Keys that still wait for their echo.
    pub(crate) fn unechoed(&self) -> usize {
        self.echo_matcher.unechoed() + self.screen.as_ref().map_or(0, |screen| screen.unechoed())
    }

    /// Tells a host that is a model what is waited for, and the transaction that the last key asked for.
    pub(crate) fn announce_wait(&mut self, condition: &WaitCondition, transaction: Option<usize>) {
        let form = match condition {
            WaitCondition::Bytes(count) => ResponseForm::Characters(*count),
            WaitCondition::Echo => ResponseForm::Echo,
            WaitCondition::Disconnect => ResponseForm::Close,
            _ => ResponseForm::Characters(1),
        };
        self.line.announce(Expected::Response { form, transaction });
    }

    /// Whether any key was sent.
    pub(crate) fn has_sent(&self) -> bool {
        self.opened.is_none()
    }

    /// How the program at the other end of a lost line ended, if that is known by an instant.
    pub(crate) async fn program_exit(&mut self, by: Stamp) -> Option<ProgramExit> {
        self.alarm.reset(by);
        poll_fn(|cx| match self.line.poll_exit(cx) {
            Poll::Pending => Pin::new(&mut self.alarm).poll(cx).map(|()| None),
            ended @ Poll::Ready(_) => ended,
        })
        .await
    }

    /// The text that has come since the last key.
    pub(crate) fn text(&self) -> &[u8] {
        self.response.text()
    }

    /// When the last key was sent and when the first character came after it, by two clocks, if the kernel stamps the line.
    pub(crate) fn kernel_stamps(&mut self) -> Option<(StampPair, StampPair)> {
        let (sent, came) = self.line.kernel_sent().zip(self.first_stamps)?;
        (!self.first_is_doubtful && sent.ours <= came.ours && sent.kernel <= came.kernel).then_some((sent, came))
    }

    /// Sends a key that was due at an instant; from now on the condition of the next wait judges what comes. Returns when the
    /// key was sent. `secret`: it is part of a secret, whose length no count may reveal.
    pub(crate) async fn send(
        &mut self,
        input: KeyInput<'_>,
        due: Stamp,
        settings: KeySettings,
        secret: bool,
    ) -> Result<Stamp, LineLoss> {
        self.count_opening();
        let (key, typed) = self.encode(input).await;
        self.next_condition = settings.next_wait;
        let begins_input = std::mem::take(&mut self.input_has_ended);
        let echo = settings.echo;
        // The text holds no timed echoes.
        self.response.restart(if echo == Echo::Timed || !self.can_echo() { b"" } else { typed }, begins_input);
        (self.first_stamps, self.heard) = (None, false);
        self.first_is_doubtful = self.unechoed() > 0 || self.echo_matcher.expects_echo();
        let sent = clock::now();
        if echo == Echo::Timed {
            let echo_map = &self.shared.program(self.group, self.program).echo_map;
            self.echo_matcher.await_key(typed, echo_map, !secret, due, sent);
            if typed == b"\r" || !typed.iter().any(u8::is_ascii_control) {
                self.line.announce(Expected::Echo(typed.len()));
            }
        }
        let ends_input = settings.ends_input && self.condition().is_some_and(WaitCondition::needs_screen);
        let timed = echo == Echo::Screen && !secret;
        self.tell_screen(input, typed, ScreenKey { due, sent, timed, begins_input, ends_input });
        if echo != Echo::Untimed {
            self.report_unechoed();
        }
        self.alarm.reset(sent + self.program().patience);
        let mut rest = &*key;
        self.sending = true;
        let sending = poll_fn(|cx| self.poll_push(cx, &mut rest)).await;
        self.sending = false;
        sending?;
        self.shared.tally(|tally| tally.counts.characters.sent += key.len() as u64);
        self.count_traffic();
        Ok(sent)
    }

    /// The bytes that a terminal in its present modes sends, and those of them that may be echoed.
    async fn encode<'a>(&mut self, input: KeyInput<'a>) -> (Cow<'a, [u8]>, &'a [u8]) {
        if input.needs_modes() {
            self.draw_in_turns().await;
        }
        let watched = || self.modes.map(|watch| watch.modes()).unwrap_or_default();
        let modes = self.screen.as_ref().map_or_else(watched, |screen| screen.screen().modes());
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

    fn program(&self) -> &Program {
        self.shared.program(self.group, self.program)
    }

    /// The condition that is waited for, or will be next.
    fn condition(&self) -> Option<&WaitCondition> {
        self.program().condition(self.next_condition)
    }

    /// Whether the host can echo at all: over pipes none can.
    fn can_echo(&self) -> bool {
        self.shared.groups[self.group].can_echo
    }

    /// Tells the screen what is typed, character by character. Only a single character is timed.
    fn tell_screen(&mut self, input: KeyInput<'_>, typed: &[u8], key: ScreenKey) {
        let can_echo = self.can_echo();
        let echo_map = &self.shared.program(self.group, self.program).echo_map;
        let Some(screen) = &mut self.screen else { return };
        let typed = std::str::from_utf8(typed).unwrap_or_default();
        let is_single = typed.chars().nth(1).is_none();
        let key = ScreenKey { timed: key.timed && is_single, ..key };
        let is_sequence = matches!(input, KeyInput::Key(_)) && !is_single;
        if is_sequence || typed.is_empty() || (!key.timed && !can_echo) {
            return screen.key(KeyEffect::Other, key);
        }
        let mut rest = typed.len();
        for (index, character) in typed.char_indices() {
            rest -= character.len_utf8();
            let key = ScreenKey {
                begins_input: key.begins_input && index == 0,
                ends_input: key.ends_input && rest == 0,
                ..key
            };
            screen.key(KeyEffect::new(character, echo_map), key);
        }
    }

    /// Sends characters; the line is lost if it takes none until the alarm.
    fn poll_push(&mut self, cx: &mut Context<'_>, rest: &mut &[u8]) -> Poll<Result<(), LineLoss>> {
        while !rest.is_empty() {
            match self.line.poll_send(cx, rest) {
                Poll::Ready(taken) => *rest = &rest[taken?..],
                // A host that does not read may be waiting for us to read.
                Poll::Pending => {
                    if Pin::new(&mut self.alarm).poll(cx).is_ready() {
                        return Poll::Ready(Err(LineLoss::Blocked));
                    }
                    ready!(self.poll_listen(cx))?;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Counts the phases of the line's opening, once and as late as possible, because a host may still negotiate options.
    fn count_opening(&mut self) {
        let Some(opened) = self.opened.take() else { return };
        for (series, took) in opened.phases(self.line.opening(), self.shared.groups[self.group].series.line) {
            self.shared.record(series, took);
        }
    }

    /// Counts the traffic since the last call.
    fn count_traffic(&mut self) {
        let traffic = self.line.traffic();
        self.shared.tally(|tally| {
            tally.counts.characters.line_in += traffic.sent - self.counted_traffic.sent;
            tally.counts.characters.line_out += traffic.received - self.counted_traffic.received;
        });
        self.counted_traffic = traffic;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.draw_all();
        if let Some(screen) = &mut self.screen {
            self.shared.has_screen((screen.memory_change().0, 0));
        }
        self.give_up_echoes(Stamp::FAR);
        self.count_opening();
        self.count_traffic();
        let dropped = self.line.dropped();
        if dropped > 0 {
            self.shared.tally(|tally| *tally.counts.errors.entry("dropped-sequence").or_default() += dropped);
        }
    }
}
