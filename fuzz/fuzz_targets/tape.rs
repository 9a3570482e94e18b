//! Parses any text as a tape: nothing panics, and the listing of a tape parses to the same script.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parse = |text: &str| cuesta_tape::parse(text, "fuzz.tape", &|_| Ok("Enter\n".to_owned()));
    match parse(text) {
        Ok(tape) => assert_eq!(parse(&cuesta_tape::listing(&tape)).expect("it parsed before").script, tape.script),
        Err(errors) => assert!(errors.to_string().contains("error")),
    }
});
