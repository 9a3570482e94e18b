//! What drawing on a screen costs: recordings of real programs, 4 KiB at a time, beside only looking for their control functions, which
//! is what users without a screen pay for.

use std::hint::black_box;
use std::time::Duration;

use cuesta_record::clock;
use cuesta_screen::vt::{Screen, StreamParser};

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
