//! Frames that show keys, beside the log of the program that draws them: when they end, their bytes, and the keys that share one.
#![allow(clippy::unwrap_used, clippy::float_cmp)] // A failed unwrap fails the test; counts are exact.

use std::cell::Cell;
use std::rc::Rc;

use proptest::prelude::*;

use crate::harness::{RunRecords, close};
use crate::programs::{Action, Doing, Log, Program, assert_same, played};

/// A row of text that a program draws anew with each frame.
#[derive(Debug, Clone)]
struct Row {
    /// How long after a key its frame begins, in ms.
    lag: u64,
    /// A frame is drawn in this many writes, 1 ms apart.
    writes: usize,
    /// Frames are marked (mode 2026), and their writes 5 ms apart.
    is_marked: bool,
    /// How long after a frame the cursor is shown, in ms.
    cursor: Option<u64>,
    /// How long after a frame another one is drawn, which shows no key.
    more: Option<u64>,
    /// Interval of drawing, in ms: a frame shows all keys typed since the one before.
    each: Option<u64>,
    text: String,
    /// Keys that the next frame will show, and those that the frame under way shows.
    waiting: Vec<usize>,
    drawing: Vec<usize>,
    /// Writes of the frame under way.
    rest: Vec<String>,
    counts: Rc<Counts>,
}

/// What the program has done.
#[derive(Debug, Default)]
struct Counts {
    bytes: Cell<usize>,
    frames: Cell<usize>,
    shared: Cell<usize>,
}

fn row() -> Row {
    Row {
        lag: 20,
        writes: 1,
        is_marked: false,
        cursor: None,
        more: None,
        each: None,
        text: String::new(),
        waiting: Vec::new(),
        drawing: Vec::new(),
        rest: Vec::new(),
        counts: Rc::default(),
    }
}

/// Names what the program wants to do later by the number with its action.
const PIECE: usize = 1;
const CURSOR: usize = 2;
const MORE: usize = 3;
const EMPTY: usize = 4;

const MORE_TEXT: &str = "\x1b7\x1b[9;1Hmore\x1b8";
const CURSOR_SHOWN: &str = "\x1b[?25h";

impl Row {
    fn begin_frame(&mut self, now: &mut Doing) {
        let (begins, ends) = if self.is_marked { ("\x1b[?2026h", "\x1b[?2026l") } else { ("", "") };
        self.drawing = std::mem::take(&mut self.waiting);
        let mut writes = vec![format!("{begins}\r\x1b[K> {}", self.text)];
        writes.extend((1..self.writes).map(|write| format!("\x1b7\x1b[{};1Hstatus {write}\x1b8", 3 + write)));
        writes.last_mut().unwrap().push_str(ends);
        let Counts { bytes, frames, shared } = &*self.counts;
        bytes.set(bytes.get() + writes.iter().map(String::len).sum::<usize>());
        frames.set(frames.get() + 1);
        shared.set(shared.get() + if self.drawing.len() > 1 { self.drawing.len() } else { 0 });
        if !self.is_marked {
            self.drawing.iter().for_each(|key| now.show(*key));
        }
        self.rest = writes;
        self.write(now);
    }

    fn write(&mut self, now: &mut Doing) {
        now.send(&self.rest.remove(0));
        if !self.rest.is_empty() {
            return now.later(if self.is_marked { 5 } else { 1 }, Action::Answer(PIECE));
        }
        for key in std::mem::take(&mut self.drawing) {
            now.end_frame(key);
            if self.is_marked {
                now.show(key);
            }
        }
        if let Some(cursor) = self.cursor {
            now.later(cursor, Action::Answer(CURSOR));
        }
        if let Some(more) = self.more {
            now.later(more, Action::Answer(MORE));
        }
    }
}

impl Program for Row {
    fn begin(&mut self, now: &mut Doing) {
        now.send("ready\r\n> ");
        if let Some(each) = self.each {
            now.later(each, Action::Tick);
        }
    }

    fn key(&mut self, key: char, number: usize, now: &mut Doing) {
        if key == '\r' {
            return now.later(400, Action::Answer(EMPTY));
        }
        self.text.push(key);
        self.waiting.push(number);
        if self.each.is_none() {
            now.later(self.lag, Action::Draw(number));
        }
    }

    fn due(&mut self, action: Action, now: &mut Doing) {
        match action {
            Action::Tick => {
                now.later(self.each.unwrap(), Action::Tick);
                if !self.waiting.is_empty() {
                    self.begin_frame(now);
                }
            }
            Action::Draw(_) => self.begin_frame(now),
            Action::Answer(PIECE) => self.write(now),
            Action::Answer(CURSOR) => {
                self.counts.bytes.set(self.counts.bytes.get() + CURSOR_SHOWN.len());
                now.send(CURSOR_SHOWN);
            }
            Action::Answer(MORE) => now.send(MORE_TEXT),
            Action::Answer(_) => {
                self.text.clear();
                now.send("\r\x1b[K> ");
            }
        }
    }
}

/// Types rows for a minute, with a fixed number of ms from key to key. The run's figures of frames are those of the program's log.
fn types(what: &str, row: Row, gap: u64) -> (RunRecords, Log, Row) {
    let tape = format!(
        "Set TypingSpeed {gap}ms\nSet Echo screen\nWait+Screen /ready/\nSleep 1s\n\
         Forever\nType \"the quick brown fox\"\nSleep 300ms\nEnter\nSleep 900ms\nEnd\n"
    );
    let (records, log) = played(row.clone(), &tape, 60.0);
    let what = format!("{what}, {gap} ms apart");
    let keys = log.echoes.len();
    assert!(keys > 50, "{what}: {keys}");
    // The run may end within a frame.
    let may_lack = 19;
    let unechoed = records.errors().iter().map(|(_, count)| count).sum::<u64>();
    assert!(unechoed <= may_lack as u64 && records.sum("unfollowed") == 0.0, "{what}: {unechoed}");
    assert_same(&what, records.histogram("g/keys/echo"), &log.echoes, may_lack);
    assert_same(&what, records.histogram("g/keys/whole_frame"), &log.frames, may_lack);
    let counts = &row.counts;
    for (field, wanted) in [("count", &counts.frames), ("bytes", &counts.bytes), ("shared", &counts.shared)] {
        let (found, wanted) = (records.sum(&format!("frames/{field}")), wanted.get() as f64);
        let most = wanted / keys as f64 * may_lack as f64;
        assert!(found <= wanted && found + most.max(1.0) >= wanted, "{what}: {field} {found}, but {wanted} is right");
    }
    (records, log, row)
}

/// Frames drawn for each key.
fn drawn(records: &RunRecords) -> f64 {
    records.sum("frames/drawn") / records.sum("frames/followed")
}

#[test]
fn a_frame_ends_with_its_last_write() {
    for writes in 1..=4 {
        let (records, ..) = types("writes", Row { writes, ..row() }, 150);
        assert_eq!(drawn(&records), 1.0);
        close("bytes", records.sum("frames/drawn_bytes"), records.sum("frames/bytes"), 0.01);
        let took = records.quantile("g/keys/whole_frame", 0.5) - records.quantile("g/keys/echo", 0.5);
        assert!((took - (writes - 1) as f64 * 1e-3).abs() < 1e-4, "{took}");
    }
}

#[test]
fn a_marked_frame_ends_with_its_mark() {
    for (writes, cursor) in [(1, None), (3, None), (1, Some(0)), (1, Some(1)), (2, Some(1))] {
        // The cursor is shown behind the mark: that is no frame of its own.
        let program = Row { writes, cursor, is_marked: true, ..row() };
        let (records, ..) = types("marked", Row { counts: Rc::default(), ..program }, 150);
        assert_eq!(drawn(&records), 1.0, "{writes} {cursor:?}");
    }
}

#[test]
fn keys_that_share_a_frame_are_counted() {
    for is_marked in [false, true] {
        for (gap, least, most) in [(150, 0.0, 0.0), (40, 0.9, 1.0), (61, 0.3, 1.0)] {
            let (records, ..) = types("shared", Row { each: Some(100), is_marked, ..row() }, gap);
            let share = records.sum("frames/shared") / records.sum("frames/keys");
            assert!((least..=most).contains(&share), "{gap}: {share}");
        }
    }
}

#[test]
fn fast_keys_have_frames_of_their_own() {
    let (records, ..) = types("fast", Row { lag: 0, ..row() }, 1);
    assert_eq!((records.sum("frames/shared"), drawn(&records)), (0.0, 1.0));
}

#[test]
fn what_is_drawn_behind_an_echo_is_another_frame() {
    let (records, ..) = types("more", Row { more: Some(50), ..row() }, 150);
    close("two frames", drawn(&records), 2.0, 0.01);
    let behind = (records.sum("frames/drawn") - records.sum("frames/count")) * MORE_TEXT.len() as f64;
    close("bytes of both", records.sum("frames/drawn_bytes"), records.sum("frames/bytes") + behind, 0.01);
    // Longer after the echo it may be drawn for any reason.
    let (records, ..) = types("later", Row { more: Some(250), ..row() }, 500);
    assert_eq!(drawn(&records), 1.0);
    // A key is shown after Enter was sent.
    let tape = "Set TypingSpeed 50ms\nSet Echo screen\nWait+Screen /ready/\nSleep 1s\n\
                Forever\nType \"x\"\nEnter\nSleep 900ms\nEnd\n";
    let (records, _) = played(Row { lag: 120, ..row() }, tape, 60.0);
    assert_eq!(drawn(&records), 1.0);
}

#[test]
fn keys_that_are_never_shown_have_no_frame() {
    let tape = "Set TypingSpeed 100ms\nSet Echo screen\nSet WaitTimeout 2s\nWait+Screen /ready/\nSleep 1s\n\
                Forever\nType \"fox\"\nSleep 3s\nEnd\n";
    let (records, _) = played(Row { each: Some(1_000_000), ..row() }, tape, 60.0);
    let lost = |figure: &str| {
        let series = ["_lost", "_timed_out"].map(|end| format!("g/keys/{figure}{end}"));
        series.iter().filter_map(|tag| records.histograms.get(tag)).map(hdrhistogram::Histogram::len).sum::<u64>()
    };
    assert!(lost("echo") > 20 && lost("echo") == lost("whole_frame"), "{} {}", lost("echo"), lost("whole_frame"));
    assert!(!records.histograms.contains_key("g/keys/whole_frame"));
    assert_eq!((records.sum("frames/keys"), drawn(&records)), (0.0, 0.0));
}

#[test]
fn keys_that_the_stream_echoes_have_no_frame() {
    let tape = "Set TypingSpeed 100ms\nWait+Screen /ready/\nSleep 1s\nForever\nType \"fox\"\nEnter\nSleep 3s\nEnd\n";
    let (records, _) = played(Row { lag: 5, ..row() }, &format!("Set Echo timed\n{tape}"), 60.0);
    assert!(records.histogram("g/keys/echo").len() > 5);
    assert!(!records.histograms.keys().any(|tag| tag.contains("whole_frame")));
    assert!(records.series.iter().all(|row| row.get("frames").is_none()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_key_has_the_frame_of_the_log(
        (writes, is_marked, cursor) in (1..4usize, any::<bool>(), proptest::option::of(0..2u64)),
        (more, each) in (proptest::option::of(20..50u64), proptest::option::of(20..300u64)),
        (lag, gap) in (1..40u64, 60..300u64),
    ) {
        let (cursor, more) = (cursor.filter(|_| is_marked), more.filter(|_| each.is_none()));
        types("any", Row { lag, writes, is_marked, cursor, more, each, counts: Rc::default(), ..row() }, gap);
    }
}
