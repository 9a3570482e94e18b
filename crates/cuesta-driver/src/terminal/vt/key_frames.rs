//! The frames that show keys: when each is whole, how many bytes it takes, which keys share one, and how many are drawn for a key.
//!
//! A frame ends at the mark of its end (mode 2026), else when nothing has come for a moment. What comes behind a mark without such a
//! moment, such as the cursor that is shown again, belongs to the frame, unless it has a mark of its own or shows a key. What shows a
//! key that was sent after the last byte of a frame begins another one.
//!
//! A frame is drawn for a key if it begins after the key was sent and before the next one, while a timed key is not shown, or soon after.
//! If the next key is not timed, the frames after it count that show keys before it.

use std::time::Duration;

use cuesta_record::{KeyFrame, Stamp};

use super::frames::LONGEST_FRAME;
use crate::echoes::{OutputEvent, SentKey};

/// A frame that begins within this time of the frame that showed the last key was drawn for it: the next key of a typist comes about then.
const SOON: Duration = Duration::from_millis(200);

/// The last frame, and the keys of frames that are not reported yet.
#[derive(Debug, Default)]
pub(super) struct KeyFrames {
    /// What has come since the last end of a read or mark; it belongs to no frame yet.
    piece: Option<Frame>,
    /// The last frame, which may go on.
    frame: Option<Frame>,
    /// Keys that were shown, in order.
    shown: Vec<ShownKey>,
    /// Frames that have ended, with keys of which some are doubtful.
    ended: Vec<Frame>,
    /// How many frames have begun.
    begun: u64,
    drawn_for: Option<DrawnFor>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    number: u64,
    begun: Stamp,
    /// When its last byte came.
    last: Stamp,
    bytes: u64,
    /// The host has marked its end.
    is_marked: bool,
    /// It is drawn for a timed key.
    is_drawn_for: bool,
}

#[derive(Debug, Clone, Copy)]
struct ShownKey {
    key: SentKey,
    since: Stamp,
    /// The number of its frame; `None` while that is a piece.
    frame: Option<u64>,
    /// It may be one letter drawn twice.
    is_doubtful: bool,
}

/// The last timed key.
#[derive(Debug, Clone, Copy)]
struct DrawnFor {
    sent: Stamp,
    /// Frames drawn for it.
    frames: u32,
    /// Bytes of frames drawn for timed keys that came since it was sent: the frame of the key before it may go on.
    bytes: u64,
    /// Frames that begin until then are drawn for it.
    until: Stamp,
    /// Another key was sent that is not timed.
    is_over: bool,
}

impl KeyFrames {
    /// Its memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let (shown, ended) = (self.shown.capacity(), self.ended.capacity());
        size_of::<Self>() + shown * size_of::<ShownKey>() + ended * size_of::<Frame>()
    }

    /// A key is sent.
    pub(super) fn key_sent(&mut self, key: SentKey, is_timed: bool, events: &mut Vec<OutputEvent>) {
        if is_timed {
            self.end_key(events);
            let (sent, until) = (key.sent, key.sent + SOON);
            self.drawn_for = Some(DrawnFor { sent, frames: 0, bytes: 0, until, is_over: false });
        } else if let Some(drawn_for) = &mut self.drawn_for {
            drawn_for.is_over = true;
        }
    }

    /// A read begins with a character that came at an instant: after a moment of quiet the last frame has ended.
    pub(super) fn begin_read(&mut self, at: Stamp, quiet: Duration, events: &mut Vec<OutputEvent>) {
        if self.piece.is_none() && self.frame.is_some_and(|frame| at.since(frame.last) > quiet) {
            self.end_frame(events);
        }
    }

    /// More is drawn. `came`: when the first and the last byte of it came. `is_marked`: the last byte is of the mark of a frame's end.
    pub(super) fn drawn(&mut self, bytes: usize, (first, last): (Stamp, Stamp), is_marked: bool) {
        let new = Frame { number: 0, begun: first, last, bytes: 0, is_marked: false, is_drawn_for: false };
        let piece = self.piece.get_or_insert(new);
        (piece.last, piece.bytes, piece.is_marked) = (last, piece.bytes + bytes as u64, is_marked);
    }

    /// What is drawn shows a key since an instant.
    pub(super) fn show(&mut self, key: SentKey, since: Stamp, is_doubtful: bool) {
        self.shown.push(ShownKey { key, since, frame: None, is_doubtful });
    }

    /// A read ends, or a frame that the host marks. `is_awaited`: a timed key waited for its echo when it came.
    pub(super) fn end_piece(&mut self, is_awaited: bool, events: &mut Vec<OutputEvent>) {
        let Some(piece) = self.piece.take() else { return };
        let shows_key = self.new_keys().next().is_some();
        if !self.frame.is_some_and(|frame| self.continues(frame, piece)) {
            self.end_frame(events);
            self.begun += 1;
            let is_drawn_for = self.count_for_key(piece.begun, is_awaited, shows_key);
            self.frame = Some(Frame { number: self.begun, bytes: 0, is_marked: false, is_drawn_for, ..piece });
        }
        let Some(frame) = &mut self.frame else { return };
        frame.bytes += piece.bytes;
        if let Some(key) = self.drawn_for.as_mut().filter(|_| frame.is_drawn_for) {
            key.bytes += piece.bytes;
        }
        if !frame.is_marked {
            (frame.last, frame.is_marked) = (piece.last, piece.is_marked);
        }
        let (number, is_endless) = (frame.number, !frame.is_marked && frame.lasts_too_long());
        self.shown.iter_mut().filter(|shown| shown.frame.is_none()).for_each(|shown| shown.frame = Some(number));
        if is_endless {
            self.end_frame(events);
        }
    }

    /// When [`end_frames_until`](Self::end_frames_until) is to be called, if nothing more comes.
    pub(super) fn frame_ends(&self, quiet: Duration) -> Option<Stamp> {
        let frame = self.frame.filter(|frame| self.piece.is_none() && self.keys_of(frame.number).next().is_some());
        frame.map(|frame| frame.last + quiet)
    }

    /// Ends a frame that is over at an instant.
    pub(super) fn end_frames_until(&mut self, instant: Stamp, quiet: Duration, events: &mut Vec<OutputEvent>) {
        if self.frame_ends(quiet).is_some_and(|end| end <= instant) {
            self.end_frame(events);
        }
    }

    /// The doubtful keys so far are right, or lost.
    pub(super) fn settle(&mut self, is_right: bool, events: &mut Vec<OutputEvent>) {
        self.shown.retain(|shown| is_right || !shown.is_doubtful);
        self.shown.iter_mut().for_each(|shown| shown.is_doubtful = false);
        self.report(events);
    }

    /// Nothing more comes.
    pub(super) fn end(&mut self, events: &mut Vec<OutputEvent>) {
        self.end_piece(false, events);
        self.end_frame(events);
        self.end_key(events);
    }

    /// Whether a piece belongs to the last frame.
    fn continues(&self, frame: Frame, piece: Frame) -> bool {
        let has_later_key = self.new_keys().any(|key| key.sent > frame.last);
        let is_frame = piece.is_marked || self.new_keys().next().is_some();
        !(has_later_key || frame.is_marked && is_frame)
    }

    /// A frame has begun: counts it if it is drawn for the last timed key, and says so.
    fn count_for_key(&mut self, begun: Stamp, is_awaited: bool, shows_key: bool) -> bool {
        let Some(key) = self.drawn_for.as_mut().filter(|key| key.sent <= begun) else { return false };
        let counts = if key.is_over { shows_key } else { is_awaited || begun <= key.until };
        key.frames += u32::from(counts);
        if is_awaited {
            key.until = begun + SOON;
        }
        counts
    }

    fn end_key(&mut self, events: &mut Vec<OutputEvent>) {
        events.extend(
            self.drawn_for.take().map(|DrawnFor { frames, bytes, .. }| OutputEvent::DrawnFor { frames, bytes }),
        );
    }

    fn end_frame(&mut self, events: &mut Vec<OutputEvent>) {
        let Some(frame) = self.frame.take() else { return };
        if self.keys_of(frame.number).next().is_some() {
            self.ended.push(frame);
            self.report(events);
        }
    }

    /// Reports the keys of frames that have ended, but for those that are doubtful.
    fn report(&mut self, events: &mut Vec<OutputEvent>) {
        let mut ended = std::mem::take(&mut self.ended);
        ended.retain(|frame| {
            let is_doubtful = self.keys_of(frame.number).any(|shown| shown.is_doubtful);
            if !is_doubtful {
                let Frame { last, bytes, .. } = *frame;
                let is_whole = frame.is_marked || !frame.lasts_too_long();
                let keys = self.keys_of(frame.number).count() as u64;
                events.extend(self.keys_of(frame.number).enumerate().map(|(index, shown)| OutputEvent::Framed {
                    key: shown.key,
                    shown: shown.since,
                    frame: KeyFrame { last, is_whole, bytes, keys },
                    is_first: index == 0,
                }));
                self.shown.retain(|shown| shown.frame != Some(frame.number));
            }
            is_doubtful
        });
        self.ended = ended;
    }

    fn keys_of(&self, frame: u64) -> impl Iterator<Item = &ShownKey> {
        self.shown.iter().filter(move |shown| shown.frame == Some(frame))
    }

    /// The keys that the piece shows.
    fn new_keys(&self) -> impl Iterator<Item = SentKey> {
        self.shown.iter().filter(|shown| shown.frame.is_none()).map(|shown| shown.key)
    }
}

impl Frame {
    /// Whether it has gone on for so long that its end is not known.
    fn lasts_too_long(&self) -> bool {
        self.last.since(self.begun) > LONGEST_FRAME
    }
}
