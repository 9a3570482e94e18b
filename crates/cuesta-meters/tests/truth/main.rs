//! What the sampler says beside what programs know of themselves.
//!
//! Each case starts this program again as the process under test. It does known work in slices, times each slice by its own
//! CPU clock, and tells: that is the truth. The sampler sees it from outside. A harness of its own, since the process under
//! test must have one thread and nothing else to do.
//!
//! - `work`: the programs. `trial`: one run and whether it is valid. `cases`: what is expected.

mod cases;
mod trial;
mod work;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [first, kinds, seconds] = &words[..]
        && first == "work"
    {
        work::serve(kinds, seconds.parse().expect("seconds of CPU time"));
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let chosen =
        cases::ALL.iter().filter(|case| wanted.is_empty() || wanted.iter().any(|word| case.name.contains(*word)));
    if words.iter().any(|word| word == "--list") {
        chosen.for_each(|case| say(&format!("{}: test", case.name)));
        return ExitCode::SUCCESS;
    }
    let failed: Vec<&str> = chosen.filter(|case| !passes(case)).map(|case| case.name).collect();
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn passes(case: &cases::Case) -> bool {
    let found = cases::run(case);
    let (word, report) = match &found {
        Ok(report) => ("ok", report),
        Err(report) => ("FAILED", report),
    };
    say(&format!("test {} ... {word}\n{report}", case.name));
    found.is_ok()
}

fn say(row: &str) {
    writeln!(io::stdout(), "{row}").expect("somebody listens");
}
