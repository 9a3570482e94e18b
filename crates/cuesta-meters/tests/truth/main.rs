//! Compares the sampler's figures with the CPU time that programs measure of themselves.
//!
//! Each case starts this program again as the process under test. That process does known work in slices, times each slice by
//! its own CPU clock and prints the sums: these are the truth. The sampler observes it from outside. The test has its own
//! harness because the process under test must have one thread and no other work.
//!
//! - `cases`: the cases and their bounds. `trial`: one run, and whether the machine disturbed it.
//! - `work`: the programs under test. `running`: ends a program together with its trial.
//! - `unprivileged`: the sampler without privileges.

mod cases;
#[path = "../it/running/mod.rs"]
mod running;
mod trial;
mod unprivileged;
mod work;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use cases::Case;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [first, kinds, seconds] = &words[..]
        && first == "work"
    {
        work::serve(kinds, seconds.parse().expect("seconds of CPU time"));
        return ExitCode::SUCCESS;
    }
    if words == [unprivileged::ARGUMENT] {
        unprivileged::print_figures();
        return ExitCode::SUCCESS;
    }
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let is_nightly = has("--ignored");
    let cases = if is_nightly { cases::NIGHTLY } else { cases::ALL };
    // The value of `--format` is no name.
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-') && *word != "terse").collect();
    let matches = |name: &str, word: &str| if has("--exact") { name == word } else { name.contains(word) };
    let is_wanted = |name: &&str| wanted.is_empty() || wanted.iter().any(|word| matches(name, word));
    let names = cases.iter().map(|case| case.name).chain((!is_nightly).then_some(UNPRIVILEGED));
    let chosen: Vec<&str> = names.filter(is_wanted).collect();
    if has("--list") {
        for name in chosen {
            print_row(&format!("{name}: test"));
        }
        return ExitCode::SUCCESS;
    }
    let failed = chosen.iter().filter(|name| !passes(cases, name)).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The case without a program under test.
const UNPRIVILEGED: &str = "without_privileges";

fn passes(cases: &[Case], name: &str) -> bool {
    let outcome = match cases.iter().find(|case| case.name == name) {
        Some(case) => cases::run(case),
        None => unprivileged::run(),
    };
    let (word, report) = match &outcome {
        Ok(report) => ("ok", report),
        Err(report) => ("FAILED", report),
    };
    print_row(&format!("test {name} ... {word}\n{report}"));
    outcome.is_ok()
}

fn print_row(row: &str) {
    writeln!(io::stdout(), "{row}").expect("stdout is open");
}
