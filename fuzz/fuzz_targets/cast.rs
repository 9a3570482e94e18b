//! Reads any bytes as a cast: nothing panics, and the tapes made from it parse.
#![no_main]

use cuesta_cast::{Cast, Timing, tape};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(cast) = Cast::read(bytes) else { return };
    let mut written = Vec::new();
    cast.without_secrets().write(&mut written).expect("writing to memory does not fail");
    Cast::read(&written).expect("a written cast reads back");
    for timing in [Timing::Closed, Timing::Recorded] {
        let Ok(tape) = tape(&cast, timing, "fuzz") else { return };
        let parsed = cuesta_tape::parse(&tape, "fuzz.tape", &|_| Err(String::new()));
        assert!(parsed.is_ok() || tape.len() > 1 << 20, "{tape}\n{}", parsed.expect_err("checked"));
    }
});
