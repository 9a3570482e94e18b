//! Parses any text as a target: nothing panics, a target is written so that it parses to the same one, and no error contains
//! a password.
#![no_main]

use cuesta_lines::Target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for text in [text.to_owned(), format!("ssh://{text}"), format!("ssh://joe@h?{text}")] {
        if let Ok(target) = text.parse::<Target>() {
            let written = target.to_string();
            assert_eq!(written.parse::<Target>().expect("it was read before"), target, "{written}");
        }
    }
    let error = format!("ssh://joe:geheim@{text}").parse::<Target>();
    assert!(error.is_err_and(|error| !error.to_string().contains("geheim") || text.contains("geheim")));
});
