//! A session: a user's line, from its opening to its end, and what has come over it since the last key.
//!
//! A session listens in every wait, so each character is stamped when it comes. A user whose program looks at a screen has
//! one (see `terminal`): it is drawn a piece at a time, after all lines that were ready have been read.
//!
//! - Here: the state. `sending`: sends keys; `counting`: counts the line's opening and traffic.
//! - `ready`: waits for a program that takes keys;
//! - `waiting`: waits for an instant, an event or a response; `reading`: passes what it received to the matchers and the terminal;
//!   `echoes`: counts the echoes that these find; `drawing`: the screen; `continued`: output that goes on behind an answer;
//!   `following`: where the keys of probe lines are in the streams; `showing`: what people who look at the run see.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use cuesta_lines::{ExitStatus, Expected, Line, ResponseForm, StampPair, last_rows};
use cuesta_record::{Failure, Stamp, clock};
use cuesta_tape::{Program, WaitCondition};

use crate::echoes::StreamEchoes;
use crate::opening::Opened;
use crate::response::ResponseMatcher;
use crate::terminal::{Terminal, terminal_for};
use crate::thread_state::ThreadState;
use crate::user_state::AnswerSigns;

mod continued;
mod counting;
mod drawing;
mod echoes;
mod following;
mod reading;
mod ready;
mod sample;
mod sending;
mod showing;
mod waiting;

pub(crate) use sending::Pressed;
pub(crate) use waiting::WaitOutcome;

use continued::ContinuedOutput;
use counting::Counted;
use drawing::Drawing;
use following::ProbeLine;

/// A line with a user at it.
pub(crate) struct Session {
    line: Box<dyn Line>,
    counted: Counted,
    alarm: clock::Sleep,
    shared: Rc<ThreadState>,
    /// The user's slot.
    slot: usize,
    /// The user's group.
    group: usize,
    /// Keys whose echo the stream of characters is to show; those of the screen are the terminal's.
    echoes: StreamEchoes,
    response: ResponseMatcher,
    /// Which of the group's programs the user plays.
    program: usize,
    /// Which of the program's conditions is waited for, or will be next.
    next_condition: Option<usize>,
    since_key: SinceKey,
    terminal: Box<dyn Terminal>,
    drawing: Drawing,
    /// A key is being sent: nothing may come between its characters.
    sending: bool,
    /// What has come since a probe was pressed, while it is looked for.
    probed: Option<Vec<u8>>,
    continued: ContinuedOutput,
    /// What is known of a probe line.
    followed: Option<Box<ProbeLine>>,
}

/// What has come since the last key.
#[derive(Debug, Default)]
struct SinceKey {
    /// Anything has, echoes included.
    received: bool,
    /// When the first character came, by two clocks, if the kernel stamps the line.
    first_stamps: Option<StampPair>,
    /// That character may be the echo of an earlier key instead of a response to this one.
    first_is_doubtful: bool,
}

impl Session {
    pub(crate) fn new(
        mut line: Box<dyn Line>,
        opened: Opened,
        shared: Rc<ThreadState>,
        slot: usize,
        group: usize,
        program: usize,
    ) -> Self {
        let terminal = terminal_for(&shared.groups[group], shared.program(group, program));
        let begun = opened.begun;
        let counted = Counted::new(opened, line.station().is_some());
        let mut session = Self {
            line,
            counted,
            alarm: clock::sleep_until(Stamp::FAR),
            shared,
            slot,
            group,
            echoes: StreamEchoes::default(),
            response: ResponseMatcher::default(),
            program,
            next_condition: None,
            since_key: SinceKey::default(),
            terminal,
            drawing: Drawing::default(),
            sending: false,
            probed: None,
            continued: ContinuedOutput::default(),
            followed: None,
        };
        session.follow(begun);
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
        self.shared.count_screen(self.terminal.memory_change());
    }

    /// The instant from which the line can carry the next character.
    pub(crate) fn free_at(&mut self) -> Stamp {
        self.line.pace().map_or(Stamp::ZERO, |pace| pace.free_at())
    }

    /// Sets the instant at which the next key was due to begin, from which a line with a speed counts.
    pub(crate) fn begin_next_at(&mut self, at: Stamp) {
        if let Some(pace) = self.line.pace() {
            pace.begin_next_at(at);
        }
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
        self.counted.opened.is_none()
    }

    /// What the host of a lost line said last.
    pub(crate) fn last_rows(&mut self) -> Vec<u8> {
        last_rows(&mut *self.line)
    }

    /// Why the host ended the line, in its own words.
    pub(crate) fn end_reason(&self) -> Option<String> {
        self.line.end_reason()
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

    /// What has come of the response.
    pub(crate) fn answer_signs(&self) -> AnswerSigns {
        match self.condition() {
            Some(condition) if condition.needs_screen() => AnswerSigns {
                first: Some(self.terminal.first_output(Stamp::FAR)).filter(|first| *first < Stamp::FAR),
                complete: self.terminal.match_held_since(),
            },
            Some(WaitCondition::Silence(_)) => {
                AnswerSigns { first: self.response.first(), complete: self.response.last() }
            }
            _ => AnswerSigns { first: self.response.first(), complete: None },
        }
    }

    /// Reports what has come of the answer.
    fn report_answer_signs(&self) {
        let signs = self.answer_signs();
        self.shared.user(self.slot, |user| user.set_answer_signs(signs));
    }

    /// How many characters have come since the last key, without echoes.
    pub(crate) fn characters(&self) -> u64 {
        self.response.characters()
    }

    /// The time from the last key to the first character that came after it, by the kernel's clock and by the driver's, if the kernel
    /// stamps the line.
    pub(crate) fn stamped_times(&mut self) -> Option<(Duration, Duration)> {
        let SinceKey { first_stamps, first_is_doubtful, .. } = self.since_key;
        let came = first_stamps.filter(|_| !first_is_doubtful)?;
        came.since(self.line.kernel_sent()?)
    }

    /// The answer was complete at an instant. An echo is only the first sign of what a program draws, and what comes behind an
    /// acknowledgement is a message of its own.
    pub(crate) fn answer_ends(&mut self, at: Stamp, condition: &WaitCondition) {
        if matches!(condition, WaitCondition::Echo | WaitCondition::Delivered) {
            self.continued.ignore();
        } else {
            self.continued.begin(at, self.terminal.answer_row(), self.terminal.row_hashes());
        }
    }

    /// For how long output has gone on behind the last answer, if it has, and the row by which the answer seemed complete. Called when the
    /// last key of the next input was sent.
    pub(crate) fn continued(&mut self) -> Option<(Duration, Option<String>)> {
        self.continued.take()
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

    /// Characters that the line has received so far.
    pub(crate) fn received(&self) -> u64 {
        self.line.traffic().received
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.draw_all();
        self.shared.count_screen((self.terminal.memory_change().0, 0));
        self.give_up_echoes(Stamp::FAR);
        self.count_opening();
        self.count_traffic();
        let dropped = self.line.dropped();
        self.shared.tally(|tally| tally.counts.count_failures(Failure::DroppedSequence, dropped));
    }
}
