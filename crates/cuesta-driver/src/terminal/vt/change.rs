//! Times keys to the first frame that differs because of them (`Set Echo change`).
//!
//! A frame does not tell which keys it shows. So the echo of a key is timed only if
//!
//! - no other key waited between its sending and the frame;
//! - more time lay between the last shown key and its sending than answers last: otherwise the frame may be the rest of an earlier answer.
//!
//! A frame in which only the cursor has moved may answer a key: see `cursor_move`.
//!
//! All other keys that wait when a frame differs are lost. A later frame may still show any of them, so the keys that follow are lost too,
//! until the screen has not changed for as long as a slow echo takes.
//!
//! Keys that are not timed change the screen too. Where the screen shows the text that they type, their frames are known by it. The others
//! wait as timed ones do, but no longer than a slow echo takes, or a second.
//!
//! How long answers last is measured in a lull: a second without a key. The first keys are kept back until then. If there is no lull for
//! a while they count, unless a frame has differed for which no key waited: then any frame may be the rest of an answer, and they are lost.

use std::collections::VecDeque;
use std::time::Duration;

use cuesta_record::{KeyFrame, Stamp};
use cuesta_screen::vt::{Cause, Difference, FrameChanges, Screen};
use cuesta_tape::Echo;

use cursor_move::CursorMove;

use super::frames::{LONGEST_FRAME, QUIET};
use crate::echoes::{Echoes, OutputEvent, SentKey, SlowestEcho};

mod cursor_move;

/// A change this long after the last key was sent or shown is no part of an answer.
const LULL: Duration = Duration::from_secs(1);
/// An echo is slow if it takes this many times as long as the slowest recent one.
const SLOW_TIMES: u32 = 4;
/// At most this many keys may wait.
const MOST_WAITING: usize = 256;
/// At most this many keys are kept back, and none for longer than `LONGEST_KEPT_BACK`.
const MOST_KEPT_BACK: usize = 32;
const LONGEST_KEPT_BACK: Duration = Duration::from_secs(5);

/// The keys that wait for a frame, and what is known of frames.
#[derive(Debug, Default)]
pub(super) struct ChangeEchoes {
    changes: FrameChanges,
    /// Keys that no frame has shown, timed or not.
    waiting: VecDeque<SentKey>,
    /// What has been drawn, and may go on.
    frame: Option<OpenFrame>,
    /// The cursor alone has moved because of keys that wait.
    cursor_move: Option<CursorMove>,
    /// Cells were seen to change behind such a move, with the cursor elsewhere, and no move has been seen to stay since.
    draws_behind_moves: bool,
    last_key: Stamp,
    /// When the last frame ended that showed a key.
    last_shown: Stamp,
    /// When the last frame ended that differed.
    last_change: Stamp,
    slowest: SlowestEcho,
    answer_time: AnswerTime,
    /// While keys waited, a frame changed only cells that are set aside, which are most of the screen: the keys may have been shown there.
    may_be_hidden: bool,
    /// A frame may show several of the keys sent before this instant.
    ambiguous_until: Stamp,
    /// Keys that were shown and are not reported yet.
    kept_back: Vec<KeptBack>,
    /// It is known how long answers last, so that no key is kept back any more.
    knows_answer_time: bool,
}

/// The longest time that answers lasted after their first frame.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct AnswerTime {
    since_lull: Duration,
    /// Before the last lull. It decays by a sixteenth with each lull.
    before: Duration,
}

/// A key that was shown. It is kept back until it is known how long answers last.
#[derive(Debug, Clone, Copy)]
struct KeptBack {
    key: SentKey,
    shown: Stamp,
    /// How long after the key before it was shown this one was sent.
    since_shown: Duration,
    frame: OpenFrame,
}

/// A frame that may go on.
#[derive(Debug, Clone, Copy)]
struct OpenFrame {
    begun: Stamp,
    /// Since when cells differ, if that was looked for.
    differs: Option<Stamp>,
    /// Since when the cursor has moved before that.
    moved: Option<Stamp>,
    /// When the last of it came.
    last: Stamp,
    /// It has ended when nothing has come for this long.
    quiet: Duration,
    bytes: u64,
    /// It shows the text of keys that are not timed, and waited for it.
    shows_text: bool,
}

impl KeptBack {
    /// What is reported if the key counts. The frame shows no other.
    fn events(self) -> [OutputEvent; 2] {
        let Self { key, shown, frame, .. } = self;
        let is_whole = frame.last.since(frame.begun) <= LONGEST_FRAME;
        let frame = KeyFrame { last: frame.last, is_whole, bytes: frame.bytes, keys: 1 };
        [OutputEvent::Shown(key, shown), OutputEvent::Framed { key, shown, frame, is_first: true }]
    }
}

impl ChangeEchoes {
    /// Its memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.changes.memory()
    }

    /// Whether a key waits for a frame.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A key is sent. Those that are not timed change the screen as well.
    pub(super) fn key_sent(&mut self, key: SentKey, events: &mut Vec<OutputEvent>) {
        if self.lull_begins().is_some_and(|lull| lull <= key.sent) {
            self.settle_kept_back(events);
        }
        if key.sent.since(self.last_key.max(self.last_shown)) >= LULL {
            let AnswerTime { since_lull, before } = self.answer_time;
            self.answer_time = AnswerTime { since_lull: Duration::ZERO, before: since_lull.max(before * 15 / 16) };
        }
        if key.echo == Echo::Change {
            // Those before it that are not timed change nothing if a slow echo would have come by now.
            let longest = self.slow_echo().max(LULL);
            self.waiting.retain(|before| before.echo == Echo::Change || key.sent.since(before.sent) <= longest);
        }
        if self.waiting.len() >= MOST_WAITING && self.waiting.front().is_some_and(|key| key.echo != Echo::Change) {
            self.waiting.pop_front();
        }
        self.waiting.push_back(key);
        self.last_key = key.sent;
    }

    /// The screen shows the text of a key since an instant. A key that is not timed waits for no other frame.
    pub(super) fn text_shown(&mut self, sent: Stamp, since: Stamp) {
        let is_shown = |key: &SentKey| key.sent == sent && key.echo != Echo::Change;
        let (Some(index), Some(frame)) = (self.waiting.iter().position(is_shown), &mut self.frame) else { return };
        self.waiting.remove(index);
        frame.shows_text = true;
        self.slowest.learn(since.since(sent));
    }

    /// Keys so far wait for no frame: what became of them was seen.
    pub(super) fn forget_keys(&mut self) {
        self.waiting.clear();
        (self.may_be_hidden, self.ambiguous_until) = (false, Stamp::ZERO);
    }

    /// A read begins with a character that came at an instant: after a moment of quiet, or a key, it begins another frame.
    pub(super) fn begin_read(&mut self, screen: &Screen, at: Stamp, quiet: Duration, events: &mut Vec<OutputEvent>) {
        let is_over = |frame: OpenFrame| at.since(frame.last) > quiet || self.last_key > frame.last;
        if self.frame.is_some_and(is_over) {
            self.end_frame(screen, events);
        }
        self.open_frame(at).quiet = quiet;
    }

    /// Bytes are drawn, the last of which came at an instant.
    pub(super) fn add_bytes(&mut self, bytes: usize, at: Stamp) {
        self.open_frame(at).bytes += bytes as u64;
    }

    /// More of the frame was drawn, which may be seen: the last of it came at an instant.
    pub(super) fn drawn(&mut self, screen: &Screen, at: Stamp, is_whole: bool, events: &mut Vec<OutputEvent>) {
        let OpenFrame { begun, differs, .. } = *self.open_frame(at);
        let may_differ = differs.is_none() && !self.waiting.is_empty();
        let found = may_differ.then(|| self.changes.difference(screen, since_origin(at)));
        let frame = self.open_frame(at);
        frame.last = at;
        match found {
            Some(Difference::Cells) => frame.differs = Some(at),
            Some(Difference::Cursor) => frame.moved = frame.moved.or(Some(at)),
            Some(Difference::None) | None => {}
        }
        if is_whole || at.since(begun) > LONGEST_FRAME {
            self.end_frame(screen, events);
        }
    }

    fn open_frame(&mut self, at: Stamp) -> &mut OpenFrame {
        self.frame.get_or_insert(OpenFrame {
            begun: at,
            differs: None,
            moved: None,
            last: at,
            quiet: QUIET,
            bytes: 0,
            shows_text: false,
        })
    }

    /// When [`end_frame`](Self::end_frame) is to be called, if nothing more comes.
    pub(super) fn frame_ends(&self) -> Option<Stamp> {
        let frame = self.frame.map(|frame| frame.last + frame.quiet);
        frame.or_else(|| self.move_ends()).or_else(|| self.lull_begins())
    }

    /// The frame has ended; or a cursor has stayed for long enough; or a lull has begun.
    pub(super) fn end_frame(&mut self, screen: &Screen, events: &mut Vec<OutputEvent>) {
        let Some(frame) = self.frame.take() else {
            return if self.cursor_move.is_some() { self.end_stay(events) } else { self.settle_kept_back(events) };
        };
        if self.move_ends().is_some_and(|end| end <= frame.begun) {
            self.end_stay(events);
        }
        if self.last_shown == Stamp::ZERO {
            // The first frame answers the opening of the line.
            self.last_shown = frame.begun;
        }
        let waiting = self.waiting_for(frame);
        // Those for which the cursor has moved may have had their answer.
        let moved = self.cursor_move.map_or(0, |moved| self.waiting_for(moved.frame));
        let cause = match waiting - moved {
            0 if frame.shows_text => Cause::Key,
            0 if self.may_be_answer(frame) => Cause::MaybeKey,
            0 => Cause::Itself,
            _ => Cause::Key,
        };
        let stays = self.changes.cursor_stays(screen);
        match self.changes.end_frame(screen, since_origin(frame.last), cause) {
            Difference::None => self.may_be_hidden |= waiting > 0 && self.changes.hides_most(),
            Difference::Cursor if waiting > 0 => self.await_stay(frame),
            Difference::Cells if stays && self.cursor_move.is_some() => self.draw_beside(frame),
            Difference::Cells if !stays => {
                self.draw_elsewhere(screen.modes().hidden_cursor, frame);
                self.end_different(frame, events);
            }
            Difference::Cursor | Difference::Cells => self.end_different(frame, events),
        }
    }

    /// How many keys have waited for a frame.
    fn waiting_for(&self, frame: OpenFrame) -> usize {
        self.waiting.iter().take_while(|key| key.sent <= frame.begun).count()
    }

    fn may_be_answer(&self, frame: OpenFrame) -> bool {
        frame.last.since(self.last_key.max(self.last_shown)) < LULL
    }

    /// A frame has ended that differs.
    fn end_different(&mut self, frame: OpenFrame, events: &mut Vec<OutputEvent>) {
        let waiting = self.waiting_for(frame);
        let since = frame.differs.or(frame.moved).unwrap_or(frame.last);
        let may_show = |key: &SentKey| key.echo == Echo::Change || !frame.shows_text;
        if self.waiting.iter().take(waiting).any(may_show) {
            self.show(waiting, since, frame, events);
            self.last_shown = frame.last;
        } else if frame.shows_text {
            self.last_shown = frame.last;
        } else if self.may_be_answer(frame) && self.last_key > Stamp::ZERO {
            self.answer_time.since_lull = self.answer_time.since_lull.max(frame.last.since(self.last_shown));
        }
        if waiting == 0 && since < self.ambiguous_until {
            self.extend_ambiguity(since, Duration::ZERO);
        }
        self.last_change = frame.last;
    }

    /// Ends the frames and the lull that are over at an instant.
    pub(super) fn end_frames_until(&mut self, screen: &Screen, instant: Stamp, events: &mut Vec<OutputEvent>) {
        if instant == Stamp::FAR {
            if self.frame.is_some() && !screen.is_in_frame() {
                self.end_frame(screen, events);
            }
            self.end_unseen(events);
        }
        while !screen.is_in_frame() && self.frame_ends().is_some_and(|end| end <= instant) {
            self.end_frame(screen, events);
        }
    }

    /// A frame differs since an instant, for which the first `waiting` keys have waited.
    fn show(&mut self, waiting: usize, since: Stamp, frame: OpenFrame, events: &mut Vec<OutputEvent>) {
        let oldest = self.waiting[0];
        let since_shown = oldest.sent.since(self.last_shown);
        let is_alone = waiting == 1
            && !frame.shows_text
            && oldest.sent >= self.ambiguous_until
            && oldest.sent > self.last_change + QUIET
            && self.is_behind_answer(since_shown);
        let timed = self.waiting.drain(..waiting).filter(|key| key.echo == Echo::Change).count();
        if !is_alone {
            self.extend_ambiguity(since, since.since(oldest.sent));
        }
        if std::mem::take(&mut self.may_be_hidden) || !is_alone {
            events.extend(std::iter::repeat_n(OutputEvent::Lost, timed));
        } else {
            self.slowest.learn(since.since(oldest.sent));
            let shown = KeptBack { key: oldest, shown: since, since_shown, frame };
            if timed > 0 && self.knows_answer_time {
                events.extend(shown.events());
            } else if timed > 0 {
                self.kept_back.push(shown);
            }
            self.release_without_lull(since, events);
        }
        if timed > 0 {
            events.extend([OutputEvent::SetAside(self.changes.set_aside()), OutputEvent::Settled(since)]);
        }
    }

    /// The first keys that wait get no figure.
    fn lose(&mut self, waiting: usize, events: &mut Vec<OutputEvent>) {
        let timed = self.waiting.drain(..waiting).filter(|key| key.echo == Echo::Change).count();
        events.extend(std::iter::repeat_n(OutputEvent::Lost, timed));
    }

    /// A frame may have shown several keys: until the screen has been still for a while, no key is timed. `waited`: the wait of the oldest
    /// key.
    fn extend_ambiguity(&mut self, at: Stamp, waited: Duration) {
        self.ambiguous_until = self.ambiguous_until.max(at + self.slow_echo().max(waited));
    }

    /// How long a slow echo takes.
    fn slow_echo(&self) -> Duration {
        self.slowest.0.map_or(LULL, |slowest| slowest * SLOW_TIMES)
    }

    /// Whether a key that was sent this long after the last one was shown was sent after that one's answer had ended, with a quarter to
    /// spare.
    fn is_behind_answer(&self, since_shown: Duration) -> bool {
        since_shown > self.answer_time.since_lull.max(self.answer_time.before) * 5 / 4
    }

    /// When the present quiet becomes a lull, if keys are kept back until then.
    fn lull_begins(&self) -> Option<Stamp> {
        let is_awaited = !self.kept_back.is_empty() && self.waiting.is_empty();
        is_awaited.then(|| self.last_change.max(self.last_key) + LULL)
    }

    /// Decides about keys that were kept back, if that was for long enough without a lull.
    fn release_without_lull(&mut self, now: Stamp, events: &mut Vec<OutputEvent>) {
        let is_long = self.kept_back.first().is_some_and(|first| now.since(first.key.sent) >= LONGEST_KEPT_BACK);
        if !is_long && self.kept_back.len() < MOST_KEPT_BACK {
            return;
        }
        if self.answer_time == AnswerTime::default() {
            self.settle_kept_back(events);
        } else {
            events.extend(self.kept_back.drain(..).map(|_| OutputEvent::Lost));
        }
    }

    /// Decides about keys that were kept back, now that it is known how long answers last: those sent within one are lost.
    fn settle_kept_back(&mut self, events: &mut Vec<OutputEvent>) {
        for shown in std::mem::take(&mut self.kept_back) {
            if self.is_behind_answer(shown.since_shown) {
                events.extend(shown.events());
            } else {
                events.push(OutputEvent::Lost);
            }
        }
        self.knows_answer_time = true;
    }
}

impl Echoes for ChangeEchoes {
    fn unechoed(&self) -> usize {
        self.waiting.iter().filter(|key| key.echo == Echo::Change).count()
    }

    fn oldest(&self) -> Option<Stamp> {
        self.waiting.iter().find(|key| key.echo == Echo::Change).map(|key| key.due)
    }

    fn give_up_before(&mut self, sent: Stamp, events: &mut Vec<OutputEvent>) {
        if sent == Stamp::FAR {
            self.end_unseen(events);
        } else if self.waiting.front().is_some_and(|key| key.sent < sent) {
            self.accept_move(events);
        }
        let given_up = self.waiting.iter().take_while(|key| key.sent < sent).count();
        let timed = self.waiting.drain(..given_up).filter(|key| key.echo == Echo::Change).count();
        let outcome = if self.may_be_hidden { OutputEvent::Lost } else { OutputEvent::Missed(Echo::Change) };
        events.extend(std::iter::repeat_n(outcome, timed));
        self.may_be_hidden &= !self.waiting.is_empty();
    }
}

fn since_origin(at: Stamp) -> Duration {
    at.since(Stamp::ZERO)
}
