//! A session: a user's line, and what has come over it since the last key.
//!
//! A session listens in every wait, so each character is stamped when it comes. A user whose program looks at a screen has
//! one (see `pending_screen`): it is drawn a piece at a time, after all lines that were ready have been read.
//!
//! - Here: the state, and keys on their way.
//! - `waiting`: waits for an instant, an event or a response; `reading`: matches what came to keys and responses;
//!   `drawing`: the screen.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Line, ProgramExit, StampPair, Traffic};
use cuesta_record::{Stamp, clock};
use cuesta_screen::ModeWatch;
use cuesta_tape::{Echo, Program, WaitCondition};

use crate::echo_matcher::EchoMatcher;
use crate::error::LineLoss;
use crate::opening::Opened;
use crate::pending_screen::{KeyEffect, PendingScreen, ScreenKey, SentKey};
use crate::response::ResponseMatcher;
use crate::thread_state::ThreadState;

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
    echoes: EchoMatcher,
    answer: ResponseMatcher,
    program: Rc<Program>,
    /// Which of the program's conditions is or will be waited for.
    awaited: Option<usize>,
    /// Whether nothing but echoes may come while one is awaited.
    strict: bool,
    /// When the first character came after the last key, by two clocks, if the kernel stamps the line.
    came: Option<StampPair>,
    /// Whether that may be the echo of an earlier key.
    mixed: bool,
    /// The traffic counted so far.
    counted: Traffic,
    /// Only if the program looks at a screen.
    screen: Option<Box<PendingScreen>>,
    /// The modes that keys depend on, if they do and there is no screen.
    modes: Option<ModeWatch>,
    /// A key is being sent: nothing may come between its characters.
    sending: bool,
    /// Whether echoes are looked for in the stream.
    follows: bool,
    /// The last input has its response: the next key begins another.
    answered: bool,
    /// Something has come since the last key, echoes included.
    heard: bool,
}

/// What is sent at once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyInput<'a> {
    /// One character of a text.
    Character(&'a str),
    /// A key with a name.
    Key(&'a cuesta_tape::Key),
    Paste(&'a str),
}

/// How the echo of a key is awaited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EchoRequest {
    /// When the key was due.
    pub(crate) due: Stamp,
    pub(crate) echo: Echo,
    /// The key is part of a secret, whose length must not be counted.
    pub(crate) secret: bool,
}

impl Session {
    pub(crate) fn new(
        line: Box<dyn Line>,
        opened: Opened,
        shared: Rc<ThreadState>,
        slot: usize,
        group: usize,
        program: &Rc<Program>,
    ) -> Self {
        let mut session = Self {
            line,
            opened: Some(opened),
            alarm: clock::sleep_until(Stamp::FAR),
            shared,
            slot,
            group,
            echoes: EchoMatcher::default(),
            answer: ResponseMatcher::new(program.reads_text),
            program: Rc::clone(program),
            awaited: None,
            strict: false,
            came: None,
            mixed: false,
            counted: Traffic::default(),
            screen: None,
            modes: None,
            sending: false,
            follows: false,
            answered: true,
            heard: false,
        };
        session.play(program);
        session
    }

    /// Prepares for a pass of a program.
    pub(crate) fn play(&mut self, program: &Rc<Program>) {
        if !Rc::ptr_eq(&self.program, program) {
            self.program = Rc::clone(program);
            self.awaited = None;
        }
        self.strict = !program.echo_map.is_empty();
        self.follows = program.times_echoes;
        self.answer.keep_text(program.reads_text);
        if program.needs_screen && self.screen.is_none() {
            let mut pending = PendingScreen::new(self.shared.groups[self.group].size);
            self.shared.has_screen(pending.grown());
            self.screen = Some(Box::new(pending));
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
        self.echoes.pending() + self.screen.as_ref().map_or(0, |pending| pending.pending())
    }

    /// Whether any key was sent.
    pub(crate) fn has_sent(&self) -> bool {
        self.opened.is_none()
    }

    /// How the program at the other end of a lost line ended, if that is known by an instant.
    pub(crate) async fn ended(&mut self, by: Stamp) -> Option<ProgramExit> {
        self.alarm.reset(by);
        poll_fn(|cx| match self.line.poll_exit(cx) {
            Poll::Pending => Pin::new(&mut self.alarm).poll(cx).map(|()| None),
            ended @ Poll::Ready(_) => ended,
        })
        .await
    }

    /// The text that has come since the last key.
    pub(crate) fn text(&self) -> &[u8] {
        self.answer.text()
    }

    /// When the last key went and when the first character came after it, by two clocks, if the kernel stamps the line.
    pub(crate) fn stamped(&mut self) -> Option<(StampPair, StampPair)> {
        let (sent, came) = self.line.kernel_sent().zip(self.came)?;
        (!self.mixed && sent.ours <= came.ours && sent.kernel <= came.kernel).then_some((sent, came))
    }

    /// Sends a key; what comes from now on is judged by the condition `next_wait`. `last`: no other key comes before that
    /// wait. Returns the instant at which the key went.
    pub(crate) async fn send(
        &mut self,
        input: KeyInput<'_>,
        awaited: EchoRequest,
        next_wait: Option<usize>,
        last: bool,
    ) -> Result<Stamp, LineLoss> {
        self.count_opening();
        let (key, typed) = self.encode(input).await;
        self.awaited = next_wait;
        let first = std::mem::take(&mut self.answered);
        // The text holds no timed echoes.
        self.answer.restart(if awaited.echo == Echo::Timed || !self.is_echoed() { b"" } else { typed }, first);
        (self.came, self.heard) = (None, false);
        self.mixed = self.unechoed() > 0 || self.echoes.are_awaited();
        let sent = clock::now();
        if awaited.echo == Echo::Timed {
            self.echoes.await_key(typed, &self.program.echo_map, !awaited.secret, awaited.due, sent);
        }
        let is_last = last && self.condition().is_some_and(WaitCondition::needs_screen);
        self.show(input, typed, awaited, (sent, first, is_last));
        if awaited.echo != Echo::Untimed {
            self.waits_for_echo();
        }
        self.alarm.reset(sent + self.program.patience);
        let mut rest = &*key;
        self.sending = true;
        let gone = poll_fn(|cx| self.poll_push(cx, &mut rest)).await;
        self.sending = false;
        gone?;
        self.shared.tally(|tally| tally.counts.characters.sent += key.len() as u64);
        self.count_traffic();
        Ok(sent)
    }

    /// The condition that is or will be waited for.
    fn condition(&self) -> Option<&WaitCondition> {
        self.program.condition(self.awaited)
    }

    /// Whether a host may echo at all: none does over pipes.
    fn is_echoed(&self) -> bool {
        self.shared.groups[self.group].is_echoed
    }

    /// Tells the screen what is typed, character by character.
    fn show(
        &mut self,
        input: KeyInput<'_>,
        typed: &[u8],
        awaited: EchoRequest,
        (sent, first, last): (Stamp, bool, bool),
    ) {
        let is_echoed = self.is_echoed();
        let Some(pending) = &mut self.screen else { return };
        let typed = std::str::from_utf8(typed).unwrap_or_default();
        let is_key = matches!(input, KeyInput::Key(_)) && typed.chars().nth(1).is_some();
        let timed = awaited.echo == Echo::Screen && !awaited.secret && typed.chars().nth(1).is_none();
        let mut key = ScreenKey { due: awaited.due, sent, timed, answers: last };
        if is_key || typed.is_empty() || (!timed && !is_echoed) {
            return pending.sent(KeyEffect::Other, SentKey { key, first });
        }
        let mut rest = typed.len();
        for (index, character) in typed.char_indices() {
            rest -= character.len_utf8();
            key.answers = last && rest == 0;
            pending
                .sent(KeyEffect::new(character, &self.program.echo_map), SentKey { key, first: first && index == 0 });
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
            tally.counts.characters.line_in += traffic.sent - self.counted.sent;
            tally.counts.characters.line_out += traffic.received - self.counted.received;
        });
        self.counted = traffic;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.draw_all();
        if let Some(pending) = &mut self.screen {
            self.shared.has_screen((pending.grown().0, 0));
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
