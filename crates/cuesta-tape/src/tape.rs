//! A parsed tape: what a caller gets of it, and its listing.

use std::rc::Rc;

use cuesta_distributions::duration;
use serde::Serialize;

use crate::command::Action;
use crate::error::Source;
use crate::parse::LONGEST_TAPE;
use crate::totals::Totals;
use crate::words::{self, Word};
use crate::{Command, Note, Op, Script, Step, TapeError, TapeErrors, build};

/// A tape that parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Tape {
    /// The flat list, as VHS has it; sourced tapes stand in the place of their `Source`.
    pub commands: Vec<Command>,
    /// What it means.
    pub script: Script,
    /// Whether a setting asks for the echoes of keys to be timed.
    pub times_echoes: bool,
    /// Whether it waits for what answers a key, outside of named transactions.
    pub answers_outside: bool,
    /// What its author should know.
    pub notes: Vec<Note>,
    /// What stands before `Forever`, done once in a session.
    pub before: Totals,
    /// One pass: a turn of `Forever`, else the whole tape.
    pub pass: Totals,
}

/// Parses a tape.
///
/// `name` is its file name, for messages; the script is called by its stem. `load` reads the text of a file that the
/// tape names (a sourced tape, an empirical distribution), with the path as written there, or says why not.
pub fn parse(text: &str, name: &str, load: &dyn Fn(&str) -> Result<String, String>) -> Result<Tape, TapeErrors> {
    if text.len() > LONGEST_TAPE {
        let error = TapeError::whole(name, "a tape has at most 1 MiB", "cut it into parts and Source them");
        return Err(TapeErrors(vec![error]));
    }
    let source = Rc::new(Source { name: name.to_owned(), text: text.to_owned() });
    build::tape(stem(name), crate::parse::tape(&source, load, false))
}

/// A file's name without folders and extension.
fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.strip_suffix(".tape").unwrap_or(file)
}

/// What `to_json` says of a tape.
#[derive(Serialize)]
struct Summary<'a> {
    name: &'a str,
    commands: &'a [Command],
    transactions: &'a [String],
    columns: Vec<String>,
    parts: String,
    before: Totals,
    pass: Totals,
    notes: Vec<String>,
}

impl Tape {
    /// Each command: its word (`Wait+Bytes` for a wait), and the seconds of a `Sleep` or what a `Wait+Bytes` or `Wait+Characters` counts.
    pub fn outline(&self) -> Vec<(String, Option<f64>)> {
        let entry = |command: &Command| match &command.action {
            Action::Step(Step::Op(Op::Pause(pause))) => (command.word.to_owned(), Some(pause.as_secs_f64())),
            Action::Step(Step::Wait { condition, .. }) => {
                (format!("Wait+{}", condition.name()), condition.count().map(|count| count as f64))
            }
            // It is no wait for a response.
            Action::Step(Step::Ready { .. }) => ("Ready".to_owned(), None),
            _ => (command.word.to_owned(), None),
        };
        self.commands.iter().map(entry).collect()
    }

    /// The commands in the form of VHS's parser (`Type`, `Options`, `Args`), with what is known of the script, as one
    /// JSON object.
    pub fn to_json(&self) -> String {
        let summary = Summary {
            name: &self.script.name,
            commands: &self.commands,
            transactions: &self.script.transactions,
            columns: self.script.columns(),
            parts: self.script.parts.keys().collect(),
            before: self.before,
            pass: self.pass,
            notes: self.notes.iter().map(ToString::to_string).collect(),
        };
        serde_json::to_string_pretty(&summary).expect("texts and finite numbers always become JSON")
    }
}

/// Prints a tape as Cuesta reads it: itself a tape, which parses to the same script. One command a row, bodies indented,
/// ignored commands left out, totals at the end as comments.
pub fn listing(tape: &Tape) -> String {
    let mut rows = vec![format!("# {}", tape.script.name)];
    let mut depth = 0_usize;
    for command in tape.commands.iter().filter(|command| !command.is_ignored() && !is_void(command)) {
        if command.word == "End" {
            depth = depth.saturating_sub(1);
        }
        rows.push(format!("{}{command}", "  ".repeat(depth)));
        depth += usize::from(words::word(command.word).is_some_and(Word::opens_block));
    }
    if tape.before != Totals::default() {
        rows.push(format!("# once a session: {}", totals(&tape.before)));
    }
    rows.push(format!("# a pass: {}", totals(&tape.pass)));
    for (what, names) in [("transactions", tape.script.transactions.clone()), ("columns", tape.script.columns())] {
        if !names.is_empty() {
            rows.push(format!("# {what}: {}", names.join(", ")));
        }
    }
    rows.join("\n") + "\n"
}

/// A setting with a value that VHS's parser lets pass and that means nothing; a note has said so.
fn is_void(command: &Command) -> bool {
    let missing = command.args.starts_with('\0');
    let no_time = command.options == "TypingSpeed" && duration::parse(&command.args).is_err();
    command.word == "Set" && (missing || no_time)
}

fn totals(totals: &Totals) -> String {
    let count = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let mut said =
        vec![count(totals.keys, "key"), count(totals.waits, "wait"), count(totals.transactions, "transaction")];
    said.push(format!("think {}", duration::show(totals.think())));
    if totals.sleep_s > 0.0 {
        said.push(format!("sleep {}", duration::show(totals.sleep())));
    }
    said.join(", ")
}
