//! The sampler's figures compared with programs' own.
//!
//! Each case starts this program again as the process under test. It does known work in slices, times each slice by its own
//! CPU clock, and tells: that is the truth. The sampler sees it from outside. A harness of its own, since the process under
//! test must have one thread and nothing else to do.
//!
//! - `nobody`: the sampler without privileges.
//! - `work`: the programs; `running`: they end with their trial. `trial`: one run and whether it is valid. `cases`: what is expected.

mod cases;
mod nobody;
#[path = "../running/mod.rs"]
mod running;
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
    if words == ["nobody"] {
        nobody::look();
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let names = cases::ALL.iter().map(|case| case.name).chain([NOBODY]);
    let chosen: Vec<&str> =
        names.filter(|name| wanted.is_empty() || wanted.iter().any(|word| name.contains(*word))).collect();
    if words.iter().any(|word| word == "--list") {
        for name in chosen {
            say(&format!("{name}: test"));
        }
        return ExitCode::SUCCESS;
    }
    let failed = chosen.iter().filter(|name| !passes(name)).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The case that is no program under test.
const NOBODY: &str = "without_privileges";

fn passes(name: &str) -> bool {
    let found = match cases::ALL.iter().find(|case| case.name == name) {
        Some(case) => cases::run(case),
        None => nobody::run(),
    };
    let (word, report) = match &found {
        Ok(report) => ("ok", report),
        Err(report) => ("FAILED", report),
    };
    say(&format!("test {name} ... {word}\n{report}"));
    found.is_ok()
}

fn say(row: &str) {
    writeln!(io::stdout(), "{row}").expect("somebody listens");
}
