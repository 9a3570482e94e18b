//! Commands as VHS has them: a flat list of words with options and arguments, ours included. Each knows what it does.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::lex::{Kind, lex};
use crate::script::{Settings, Step};
use crate::words::{self, Setting, WordKind};
use crate::{Key, Piece};

/// One command of a tape. Options and arguments are VHS's own forms: `Enter@1s 3` is (`Enter`, `1s`, `3`).
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// As it is written: `Type`, `PageUp`, `Transaction`.
    pub word: &'static str,
    /// The time after `@` with its unit: between keys, or the timeout of a `Wait`. The name of a setting. The extension of an
    /// output. Where an `Expect` looks.
    pub options: String,
    /// Everything else; several arguments are joined by blanks.
    pub args: String,
    /// What it does.
    pub(crate) action: Action,
    /// The tape that sourced it, if it is not the tape's own.
    pub source: Option<String>,
    /// Where the word stands, from 1.
    pub row: u32,
    /// See `row`; in bytes.
    pub column: u32,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// One step of the script.
    Step(Step),
    /// A setting.
    Set { settings: Box<Settings>, holds: Holds },
    /// A text for the clipboard.
    Copy(Vec<Piece>),
    /// Types the clipboard.
    Paste,
    /// Opens a block.
    Open(Block),
    /// Closes the block that was opened last.
    Close,
    /// Nothing: the commands of another tape stand in its place.
    Source,
    /// Nothing.
    Nothing,
}

/// Where a setting begins to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// From where it stands.
    FromHere,
    /// From where it stands, although VHS would ignore it after the first command.
    FromHereUnlikeVhs,
    /// For the whole session, so it must stand first.
    Throughout,
}

/// A block that `End` closes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    Transaction(String),
    Part(char),
    Repeat(u32),
    Forever,
}

/// VHS's name of a word: `PAGE_UP` for `PageUp`.
fn type_name(word: &str) -> String {
    let mut name = String::new();
    for (at, c) in word.char_indices() {
        if at > 0 && c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_uppercase());
    }
    name
}

impl Command {
    /// A command that is only to be printed: it does nothing.
    pub fn to_print(word: &'static str, options: String, args: String) -> Self {
        Self { word, options, args, action: Action::Nothing, source: None, row: 0, column: 0 }
    }

    /// VHS's name of the command: `TYPE`, `PAGE_UP`; ours in the same manner.
    pub fn type_name(&self) -> String {
        type_name(self.word)
    }

    /// Whether it is accepted and then ignored, since it matters only to a video or to the machine that records one.
    pub fn is_ignored(&self) -> bool {
        match words::word(self.word).map(|word| word.kind) {
            Some(WordKind::Ignored) => self.action == Action::Nothing,
            Some(WordKind::Key) => Key::named(self.word).is_none(),
            _ => self.word == "Set" && words::setting(&self.options).is_some_and(Setting::is_video),
        }
    }
}

impl Serialize for Command {
    /// The fields of VHS's own parser, and the place.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Command", 6)?;
        fields.serialize_field("Type", &self.type_name())?;
        fields.serialize_field("Options", &self.options)?;
        fields.serialize_field("Args", &self.args)?;
        fields.serialize_field("Source", self.source.as_deref().unwrap_or_default())?;
        fields.serialize_field("Row", &self.row)?;
        fields.serialize_field("Column", &self.column)?;
        fields.end()
    }
}

impl fmt::Display for Command {
    /// In the tape's own syntax, so that it parses to the same command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let print = words::word(self.word).map_or(plain as fn(&Self) -> String, |word| word.print);
        f.write_str(&print(self))
    }
}

impl Command {
    /// `@` and the time after it, if there is one.
    fn at_time(&self) -> String {
        if self.options.is_empty() { String::new() } else { format!("@{}", self.options) }
    }
}

/// The word and its arguments as they are.
pub(crate) fn plain(command: &Command) -> String {
    let Command { word, args, .. } = command;
    if args.is_empty() { (*word).to_owned() } else { format!("{word}{} {args}", command.at_time()) }
}

pub(crate) fn key(command: &Command) -> String {
    if command.args == "1" { format!("{}{}", command.word, command.at_time()) } else { plain(command) }
}

pub(crate) fn typed(command: &Command) -> String {
    format!("{}{} {}", command.word, command.at_time(), texts(&command.args))
}

pub(crate) fn quoted_args(command: &Command) -> String {
    format!("{} {}", command.word, texts(&command.args))
}

pub(crate) fn chord_with(command: &Command) -> String {
    format!("{}+{}", command.word, chord_key(&command.args))
}

pub(crate) fn set(command: &Command) -> String {
    let print = words::setting(&command.options).map_or(str::to_owned as fn(&str) -> String, |setting| setting.print);
    format!("Set {} {}", command.options, print(&command.args))
}

pub(crate) fn env(command: &Command) -> String {
    format!("Env {} {}", command.options, texts(&command.args))
}

pub(crate) fn expect(command: &Command) -> String {
    let source = if command.options == "Screen" { "+Screen" } else { "" };
    format!("Expect{source} {}", pattern(&command.args))
}

pub(crate) fn press(command: &Command) -> String {
    format!("Press{} {}", command.at_time(), pressed(&command.args))
}

/// Whether `text` is cut to one token of this kind with the text `wanted`.
fn reads_as(text: &str, kind: Kind, wanted: &str) -> bool {
    let tokens = lex(text);
    tokens.len() == 2 && tokens[0].kind == kind && tokens[0].text == wanted
}

/// In the first kind of quotes that can hold it.
fn quoted(text: &str) -> Option<String> {
    ['"', '\'', '`'].map(|quote| format!("{quote}{text}{quote}")).into_iter().find(|q| reads_as(q, Kind::Quoted, text))
}

/// One text, or several where none of the quotes can hold it: VHS joins texts by a blank.
pub(crate) fn texts(text: &str) -> String {
    if let Some(quoted) = quoted(text) {
        return quoted;
    }
    let mut texts: Vec<String> = Vec::new();
    let mut current: Option<String> = None;
    for part in text.split(' ') {
        current = Some(match current {
            None => part.to_owned(),
            Some(before) => {
                let longer = format!("{before} {part}");
                if quoted(&longer).is_some() {
                    longer
                } else {
                    texts.extend(quoted(&before));
                    part.to_owned()
                }
            }
        });
    }
    texts.extend(current.as_deref().and_then(quoted));
    texts.join(" ")
}

/// `/…/`, or quotes if the pattern was quoted and holds slashes.
pub(crate) fn pattern(pattern: &str) -> String {
    let slashed = format!("/{pattern}/");
    if reads_as(&slashed, Kind::Regex, pattern) { slashed } else { quoted(pattern).unwrap_or(slashed) }
}

pub(crate) fn wait(command: &Command) -> String {
    let (args, at_time) = (&command.args, command.at_time());
    match args.split_once(' ') {
        None => format!("Wait+{args}{at_time}"),
        Some((scope @ ("Line" | "Screen"), looked_for)) => format!("Wait+{scope}{at_time} {}", pattern(looked_for)),
        Some((condition, amount)) => format!("Wait+{condition}{at_time} {amount}"),
    }
}

/// `+Alt+C` for `Alt C`. A blank may itself be one of the keys.
pub(crate) fn chord(args: &str) -> String {
    let mut chord = String::new();
    let mut rest = args;
    while !rest.is_empty() {
        let length = rest[1..].find(' ').map_or(rest.len(), |at| at + 1);
        let (key, tail) = rest.split_at(if rest.starts_with(' ') { 1 } else { length });
        chord.push('+');
        chord.push_str(&chord_key(key));
        rest = tail.strip_prefix(' ').unwrap_or(tail);
    }
    chord
}

/// A key's name, or what it sends in quotes, and how often it is pressed.
fn pressed(args: &str) -> String {
    let (key, count) = args.rsplit_once(' ').unwrap_or((args, "1"));
    let key = if Key::named(key).is_some() { key.to_owned() } else { texts(key) };
    if count == "1" { key } else { format!("{key} {count}") }
}

/// A key of a chord, in quotes unless it can stand without.
fn chord_key(key: &str) -> String {
    let named = words::is_key(key) || ["Alt", "Shift"].contains(&key);
    let symbol = ["-", "@", "[", "]", "^", "\\"].contains(&key);
    if named || symbol || reads_as(key, Kind::Bare, key) {
        return key.to_owned();
    }
    quoted(key).unwrap_or_else(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_find_quotes_that_hold_them() {
        assert_eq!(texts("plain"), "\"plain\"");
        assert_eq!(texts("say \"x\""), "'say \"x\"'");
        assert_eq!(texts("a ' b \" c ` d"), "`a ' b \" c` \"` d\"");
    }

    #[test]
    fn chords_keep_their_blanks() {
        assert_eq!(chord("Alt C"), "+Alt+C");
        assert_eq!(chord(" "), "+\" \"");
        assert_eq!(chord("C  "), "+C+\" \"");
        assert_eq!(chord("s 5 ]"), "+\"s\"+\"5\"+]");
    }
}
