//! What drawing on a screen costs: recordings of real programs, 4 KiB at a time, beside only looking for their control functions, which
//! is what users without a screen pay for; and a program that animates while keys are looked for.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use cuesta_record::clock;
use cuesta_screen::vt::{KeyMatch, Screen, StreamParser, TypedText};

use crate::table::ResultRow;

/// Recordings on terminals of 80 by 24.
const RECORDINGS: [&[u8]; 6] = [
    include_bytes!("../../cuesta-screen/tests/it/streams/bash-80x24.bin"),
    include_bytes!("../../cuesta-screen/tests/it/streams/emacs-80x24.bin"),
    include_bytes!("../../cuesta-screen/tests/it/streams/less-80x24.bin"),
    include_bytes!("../../cuesta-screen/tests/it/streams/nano-80x24.bin"),
    include_bytes!("../../cuesta-screen/tests/it/streams/top-80x24.bin"),
    include_bytes!("../../cuesta-screen/tests/it/streams/vim-80x24.bin"),
];
const READ: usize = 4096;
const ROUNDS: usize = 300;
/// Frames that an animating program draws in a second, and in how many seconds.
const FRAMES: u32 = 60;
const SECONDS: u32 = 20;
/// The user types a key after this many frames.
const KEY_FRAMES: u32 = 12;
/// Most of a core, for a user who follows keys there.
const FOLLOWING: f64 = 0.02;
/// Least megabytes a second.
const SPEED: f64 = 40.0;
/// Most bytes of a screen whose alternate screen is in use too.
const MEMORY: usize = 102_000;

pub(crate) fn measure() -> Vec<ResultRow> {
    let total: usize = RECORDINGS.iter().map(|recording| recording.len()).sum();
    let speed = |took: Duration| (total * ROUNDS) as f64 / took.as_secs_f64() / 1e6;
    let (mut drawn, mut skipped) = (Duration::ZERO, Duration::ZERO);
    // In turns, so that both see the same machine.
    for _ in 0..ROUNDS {
        drawn += timed(|| RECORDINGS.iter().for_each(|recording| draw(recording)));
        skipped += timed(|| RECORDINGS.iter().for_each(|recording| skip(recording)));
    }
    let [drawn, skipped] = [drawn, skipped].map(speed);
    let mut screen = Screen::new(80, 24);
    screen.feed(b"\x1b[?1049h");
    let memory = screen.memory();
    let following = following();
    vec![
        ResultRow::with_target(
            "recordings drawn on an 80x24 screen",
            format!("{drawn:.0} MB/s   ({skipped:.0} MB/s where only control functions are found)"),
            &format!("at least {SPEED} MB/s"),
            drawn >= SPEED,
        ),
        ResultRow::with_target(
            "memory of an 80x24 screen, both screens in use",
            format!("{:.1} kB", memory as f64 / 1e3),
            &format!("at most {} kB", MEMORY / 1000),
            memory <= MEMORY,
        ),
        ResultRow::with_target(
            "following keys on a screen drawn 60 times a second",
            format!("{:.2} % of a core", following * 100.0),
            &format!("at most {} %", FOLLOWING * 100.0),
            following <= FOLLOWING,
        ),
    ]
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = clock::now();
    work();
    clock::now().since(begun)
}

fn draw(recording: &[u8]) {
    let mut screen = Screen::new(80, 24);
    for read in recording.chunks(READ) {
        screen.feed(read);
        screen.forget_replies(usize::MAX);
    }
    black_box(&screen);
}

fn skip(recording: &[u8]) {
    let mut parser = StreamParser::default();
    recording.chunks(READ).for_each(|read| parser.skip(read));
    black_box(&parser);
}

/// The share of a core that a user takes who types while a program animates.
fn following() -> f64 {
    let frames: Vec<String> = (0..FRAMES * SECONDS).map(frame).collect();
    let (mut screen, mut typed_text) = (Screen::new(80, 24), TypedText::default());
    screen.feed(b"\x1b[?1049h\x1b[?25l");
    let mut shown = 0;
    let mut count = |key| shown += u32::from(matches!(key, KeyMatch::Shown { .. }));
    let took = timed(|| {
        for (number, frame) in (0..).zip(&frames) {
            if number % KEY_FRAMES == 0 {
                typed_text.type_character(&screen, typed(number / KEY_FRAMES), false, ());
            }
            typed_text.draw(&mut screen, frame.as_bytes(), |at| at);
            typed_text.end_frame(&screen, frame.len(), &mut count);
        }
    });
    assert!(shown >= SECONDS * FRAMES / KEY_FRAMES - 1, "only {shown} keys were followed");
    black_box(&screen);
    took.as_secs_f64() / f64::from(SECONDS)
}

/// A frame as Textual draws it: coloured rows of patterns, and a field with a caret of its own that shows the keys so far.
fn frame(number: u32) -> String {
    let mut frame = String::from("\x1b[?2026h");
    for row in (1..23).step_by(3) {
        let _ = write!(frame, "\x1b[{row};1H\x1b[38;2;{};100;{}m", number % 256, row * 10);
        frame.extend((0..78).filter_map(|column| char::from_u32(0x2800 + (number * 7 + column * row) % 256)));
    }
    let last = number / KEY_FRAMES;
    let field: String = (last.saturating_sub(30)..last).map(typed).collect();
    let _ = write!(frame, "\x1b[23;1H\x1b[38;2;200;200;200m> {field}\x1b[7m \x1b[27m\x1b[K\x1b[?2026l");
    frame
}

/// The letters of the alphabet, again and again.
fn typed(number: u32) -> char {
    char::from(b'a' + (number % 26) as u8)
}
