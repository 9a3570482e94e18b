//! A parsed tape, whole.

use std::rc::Rc;

use serde::Serialize;

use crate::error::Source;
use crate::parse::LONGEST_TAPE;
use crate::totals::Totals;
use crate::{Command, Note, Script, TapeError, TapeErrors, build};

/// A tape that parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Tape {
    /// The flat list, as VHS has it; sourced tapes stand in the place of their `Source`.
    pub commands: Vec<Command>,
    /// What it means.
    pub script: Script,
    /// What its author should know.
    pub notes: Vec<Note>,
    /// What stands before `Forever`, done once in a session.
    pub before: Totals,
    /// One pass: a turn of `Forever`, else the whole tape.
    pub pass: Totals,
}

/// Nobody reads more notes.
const MOST_NOTES: usize = 100;

/// Parses a tape.
///
/// `name` is its file name, for messages; the script is called by its stem. `load` gives the text of a file that the
/// tape names (a sourced tape, an empirical distribution), with the path as written there, or says why not.
pub fn parse(text: &str, name: &str, load: &dyn Fn(&str) -> Result<String, String>) -> Result<Tape, TapeErrors> {
    if text.len() > LONGEST_TAPE {
        return Err(too_long(name));
    }
    let source = Rc::new(Source { name: name.to_owned(), text: text.to_owned() });
    let parsed = crate::parse::tape(&source, load, false);
    if !parsed.errors.is_empty() {
        return Err(TapeErrors(parsed.errors));
    }
    let commands = parsed.items.iter().map(|item| item.command.clone()).collect();
    let built = build::script(stem(name), parsed.items);
    if !built.errors.is_empty() {
        return Err(TapeErrors(built.errors));
    }
    let mut notes: Vec<Note> = parsed.notes.into_iter().chain(built.notes).collect();
    // Those about the whole tape first, the others in its order.
    notes.sort_by_key(|note| note.row);
    notes.truncate(MOST_NOTES);
    Ok(Tape { commands, script: built.script, notes, before: built.before, pass: built.pass })
}

fn too_long(name: &str) -> TapeErrors {
    TapeErrors(vec![TapeError::whole(name, "a tape has at most 1 MiB", "cut it into parts and Source them")])
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
    /// The commands as VHS's parser gives them (`Type`, `Options`, `Args`), with what is known of the script, as one
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
