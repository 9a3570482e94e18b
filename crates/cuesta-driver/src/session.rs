//! A session: a user's line, from its opening to its end, and what has come over it since the last key.
//!
//! A session listens in every wait, so each character is stamped when it comes. A user whose program looks at a screen has
//! one (see `terminal`): it is drawn a piece at a time, after all lines that were ready have been read.
//!
//! - Here: the state, and sending keys.
//! - `waiting`: waits for an instant, an event or a response; `reading`: matches received characters to keys and
//!   responses; `drawing`: the screen; `rest`: what goes on behind an answer.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_lines::{BisyncTotals, ExitStatus, Expected, Line, ResponseForm, StampPair, Traffic};
use cuesta_record::{Failure, Stamp, WaitEnd, clock};
use cuesta_tape::{Echo, KeySettings, Program, WaitCondition};

use crate::echo_matcher::{EchoMatcher, PendingKey};
use crate::error::{LineLoss, failure_of};
use crate::opening::Opened;
use crate::response::ResponseMatcher;
use crate::terminal::{KeyInput, SentKey, Terminal, terminal_for};
use crate::thread_state::ThreadState;

mod drawing;
mod reading;
mod rest;
mod sample;
mod waiting;

pub(crate) use waiting::WaitOutcome;

use rest::Rest;

/// A line with a user at it.
#[allow(clippy::struct_excessive_bools)] // They do not depend on one another.
pub(crate) struct Session {
    line: Box<dyn Line>,
    /// `None` once the opening is counted.
    opened: Option<Opened>,
    alarm: clock::Sleep,
    /// Wakes the user when a frame is complete, where that is looked for.
    frame_alarm: clock::Sleep,
    shared: Rc<ThreadState>,
    /// The user's slot.
    slot: usize,
    /// The user's group.
    group: usize,
    echo_matcher: EchoMatcher,
    /// Echoes that are found and not counted: those of this read, or of one before that are doubtful.
    echoes: Vec<(PendingKey, Stamp)>,
    /// How many of them are of a read before.
    doubtful_echoes: usize,
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
    /// Bytes that were no character, counted so far.
    counted_undecoded: u64,
    /// What the line's bisync station has carried so far, if it has one.
    counted_bisync: Option<Box<BisyncTotals>>,
    terminal: Box<dyn Terminal>,
    /// Other tasks have had their turn since the last piece was drawn.
    has_turn: bool,
    /// A key is being sent: nothing may come between its characters.
    sending: bool,
    /// The last input has its response, or has none any more: the next key begins another input.
    input_has_ended: bool,
    /// Something has come since the last key, echoes included.
    heard: bool,
    /// When the last byte came.
    last_heard: Stamp,
    rest: Rest,
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// It was sent at an instant.
    Sent(Stamp),
    /// It was pressed at an instant, and the terminal sends nothing for it.
    Kept(Stamp),
    /// The terminal did not take it, which is counted.
    Refused,
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
        let terminal = terminal_for(&shared.groups[group], shared.program(group, program));
        let counted_bisync = line.bisync().map(|_| Box::default());
        let mut session = Self {
            line,
            opened: Some(opened),
            alarm: clock::sleep_until(Stamp::FAR),
            frame_alarm: clock::sleep_until(Stamp::FAR),
            shared,
            slot,
            group,
            echo_matcher: EchoMatcher::default(),
            echoes: Vec::new(),
            doubtful_echoes: 0,
            response: ResponseMatcher::default(),
            program,
            next_condition: None,
            first_stamps: None,
            first_is_doubtful: false,
            counted_traffic: Traffic::default(),
            counted_undecoded: 0,
            counted_bisync,
            terminal,
            has_turn: false,
            sending: false,
            input_has_ended: true,
            heard: false,
            last_heard: Stamp::ZERO,
            rest: Rest::default(),
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
        if self.terminal.lacks(program) {
            self.terminal = terminal_for(&self.shared.groups[self.group], program);
        }
        self.terminal.begin_pass(program);
        self.shared.has_screen(self.terminal.memory_change());
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
        self.echo_matcher.unechoed() + self.terminal.unechoed()
    }

    /// Tells a host that is a model what is waited for, and the transaction that the last key asked for.
    pub(crate) fn announce_wait(&mut self, condition: &WaitCondition, transaction: Option<usize>) {
        let form = match condition {
            WaitCondition::Bytes(count) | WaitCondition::Characters(count) => ResponseForm::Characters(*count),
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

    /// What the host of a lost line said last.
    pub(crate) fn last_rows(&mut self) -> Vec<u8> {
        self.line.last_rows()
    }

    /// How the program at the other end of a lost line ended, if that is known by an instant.
    pub(crate) async fn program_exit(&mut self, by: Stamp) -> Option<ExitStatus> {
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

    /// When the first character of the response came, although it may not be complete.
    pub(crate) fn first_sign(&self) -> Option<Stamp> {
        if self.condition().is_some_and(WaitCondition::needs_screen) {
            return Some(self.terminal.first_output(Stamp::FAR)).filter(|first| *first < Stamp::FAR);
        }
        self.response.first()
    }

    /// How many characters have come since the last key, without echoes.
    pub(crate) fn characters(&self) -> u64 {
        self.response.characters()
    }

    /// The time from the last key to the first character that came after it, by the kernel's clock and by the driver's, if the kernel
    /// stamps the line.
    pub(crate) fn stamped_times(&mut self) -> Option<(Duration, Duration)> {
        let came = self.first_stamps.filter(|_| !self.first_is_doubtful)?;
        came.since(self.line.kernel_sent()?)
    }

    /// The answer was complete at an instant. An echo is only the first sign of what a program draws.
    pub(crate) fn answer_ends(&mut self, at: Stamp, condition: &WaitCondition) {
        if *condition == WaitCondition::Echo {
            self.rest.end();
        } else {
            self.rest.begin(at, self.terminal.cursor_row(), self.terminal.shape());
        }
    }

    /// For how long output has gone on behind the last answer, if it has; and the cursor's row when the answer seemed complete.
    pub(crate) fn continued(&mut self) -> Option<(Duration, Option<String>)> {
        self.rest.take(self.last_heard)
    }

    /// Sends a key that was due at an instant; from now on the condition of the next wait judges what comes. `secret`: it is part of
    /// a secret, whose length no count may reveal.
    pub(crate) async fn send(
        &mut self,
        input: KeyInput<'_>,
        due: Stamp,
        settings: KeySettings,
        secret: bool,
    ) -> Result<Pressed, LineLoss> {
        self.count_opening();
        if self.terminal.draws_before(input) {
            self.draw_in_turns().await;
        }
        let key = match self.terminal.press(input) {
            Ok(key) => key,
            Err(refusal) => {
                self.shared.tally(|tally| tally.counts.error(failure_of(refusal)));
                return Ok(Pressed::Refused);
            }
        };
        let typed = key.text();
        self.next_condition = settings.next_wait;
        let begins_input = std::mem::take(&mut self.input_has_ended);
        let echo = settings.echo;
        // The text holds no timed echoes.
        self.response.restart(if echo == Echo::Timed || !self.can_echo() { b"" } else { typed }, begins_input);
        (self.first_stamps, self.heard) = (None, false);
        self.first_is_doubtful = self.unechoed() > 0 || self.echo_matcher.expects_echo();
        let sent = clock::now();
        if echo == Echo::Timed {
            if begins_input {
                self.echo_matcher.begin_input();
            }
            let echo_map = &self.shared.program(self.group, self.program).echo_map;
            self.echo_matcher.await_key(typed, echo_map, !secret, due, sent);
            let lost = self.echo_matcher.lost();
            if lost > 0 {
                self.count_unfollowed(lost);
            }
            if typed == b"\r" || !typed.iter().any(u8::is_ascii_control) {
                self.line.announce(Expected::Echo(typed.len()));
            }
        }
        let ends_input = settings.ends_input && self.condition().is_some_and(WaitCondition::needs_screen);
        let timed = echo == Echo::Screen && !secret;
        let echo_map = &self.shared.program(self.group, self.program).echo_map;
        let by_change = echo == Echo::Change && !secret;
        let key_sent = SentKey { due, sent, timed, by_change, begins_input, ends_input };
        let mut events = Vec::new();
        self.terminal.key_sent(input, typed, key_sent, echo_map, &mut events);
        for event in events {
            self.handle_screen_event(event);
        }
        if echo != Echo::Untimed {
            self.report_unechoed();
        }
        self.alarm.reset(sent + self.program().patience);
        let mut rest = &*key.bytes;
        self.sending = true;
        let sending = poll_fn(|cx| self.poll_push(cx, &mut rest)).await;
        self.sending = false;
        sending?;
        if begins_input {
            self.rest.begin_input(self.terminal.shape());
        } else if settings.ends_input {
            self.rest.end_input(self.terminal.shape());
        }
        self.shared.tally(|tally| tally.counts.characters.sent += key.bytes.len() as u64);
        self.count_traffic();
        Ok(if key.bytes.is_empty() { Pressed::Kept(sent) } else { Pressed::Sent(sent) })
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
        for (series, times) in opened.phases(self.line.opening(), self.shared.groups[self.group].series.line) {
            self.shared.record_wait(series, WaitEnd::Answered, times);
        }
    }

    /// Characters that the line has received so far.
    pub(crate) fn received(&self) -> u64 {
        self.line.traffic().received
    }

    /// Counts the traffic since the last call.
    fn count_traffic(&mut self) {
        let (traffic, undecoded) = (self.line.traffic(), self.line.undecoded());
        self.shared.tally(|tally| {
            tally.counts.characters.line_in += traffic.sent - self.counted_traffic.sent;
            tally.counts.characters.line_out += traffic.received - self.counted_traffic.received;
            tally.counts.undecoded += undecoded - self.counted_undecoded;
        });
        (self.counted_traffic, self.counted_undecoded) = (traffic, undecoded);
        if self.counted_bisync.is_some() {
            self.count_bisync();
        }
    }

    /// Counts what the line's station has done since the last call.
    fn count_bisync(&mut self) {
        let (Some(totals), Some(counted)) = (self.line.bisync(), &mut self.counted_bisync) else { return };
        let growth = totals.since(&std::mem::replace(&mut **counted, totals));
        self.shared.count_bisync(self.slot, &growth);
        self.shared.tally(|tally| {
            tally.counts.add_errors(Failure::NotDelivered, growth.not_delivered);
            tally.counts.add_errors(Failure::InDoubt, growth.in_doubt);
        });
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.draw_all();
        self.shared.has_screen((self.terminal.memory_change().0, 0));
        self.give_up_echoes(Stamp::FAR);
        self.count_opening();
        self.count_traffic();
        let dropped = self.line.dropped();
        self.shared.tally(|tally| tally.counts.add_errors(Failure::DroppedSequence, dropped));
    }
}
