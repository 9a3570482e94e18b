//! The words that begin a command, and the settings: one row each. The parser, the printed form, hints and what a text may
//! swallow all come from these two tables.

use crate::command::{self, Action, Command, Holds};
use crate::error::TapeError;
use crate::lex::{Kind, Token};
use crate::parse::{Arguments, Parser};
use crate::script::Settings;

/// A word that begins a command.
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) kind: WordKind,
    /// Reads what follows the word, which is the token given.
    pub(crate) parse: Parse,
    /// Prints a command in the tape's own syntax.
    pub(crate) print: fn(&Command) -> String,
}

type Parse = for<'a, 'b> fn(&'b mut Parser<'a>, &'b Token<'a>) -> Result<Arguments, TapeError>;
/// Whether a word that begins a row is a command, and not text, given the next token of the row.
type Follows = fn(Option<&Token>) -> bool;

#[derive(Clone, Copy)]
pub(crate) enum WordKind {
    /// VHS's: a keyword wherever it stands outside quotes.
    Vhs,
    /// VHS's, and the name of a key; two of them only scroll a window.
    Key,
    /// VHS's, and of use only to a video or to the machine that records one.
    Ignored,
    /// Ours: a word only where a command may stand.
    Own(Follows),
    /// Ours, and opens a block.
    Block(Follows),
}

impl Word {
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.kind, WordKind::Own(_) | WordKind::Block(_))
    }

    pub(crate) fn is_key(&self) -> bool {
        matches!(self.kind, WordKind::Key)
    }

    pub(crate) fn opens_block(&self) -> bool {
        matches!(self.kind, WordKind::Block(_))
    }

    /// Whether it is a command where it begins a row below a text, before the token that follows it in its row.
    pub(crate) fn is_command_before(&self, next: Option<&Token>) -> bool {
        match self.kind {
            WordKind::Own(follows) | WordKind::Block(follows) => follows(next),
            WordKind::Vhs | WordKind::Key | WordKind::Ignored => false,
        }
    }
}

pub(crate) fn word(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.name == name)
}

/// Whether a command that is a key has that name.
pub(crate) fn is_key(name: &str) -> bool {
    word(name).is_some_and(Word::is_key)
}

/// All names, for hints.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|word| word.name)
}

const fn row(name: &'static str, kind: WordKind, parse: Parse, print: fn(&Command) -> String) -> Word {
    Word { name, kind, parse, print }
}

#[allow(clippy::redundant_closure_for_method_calls)] // A method is not general over the lifetime of the tape.
const fn key(name: &'static str) -> Word {
    row(name, WordKind::Key, |parser, word| parser.key(word), command::key)
}

#[allow(clippy::redundant_closure_for_method_calls)] // A method is not general over the lifetime of the tape.
const fn block_key(name: &'static str) -> Word {
    row(name, Own(is_count_or_command), |parser, word| parser.key(word), command::key)
}

use WordKind::{Block, Ignored, Own, Vhs};
use command::{chord_with, plain, quoted_args};

const fn ignored(name: &'static str, parse: Parse, print: fn(&Command) -> String) -> Word {
    row(name, Ignored, parse, print)
}

#[allow(clippy::redundant_closure_for_method_calls)] // A method is not general over the lifetime of the tape.
static WORDS: &[Word] = &[
    row("Type", Vhs, |parser, word| parser.texts(word), command::typed),
    row("Copy", Vhs, |parser, word| parser.texts(word), command::typed),
    row("Paste", Vhs, |_, _| Ok(Arguments::only(Action::Paste)), plain),
    row("Ctrl", Vhs, |parser, _| parser.ctrl(), |command| format!("Ctrl{}", command::chord(&command.args))),
    row("Alt", Vhs, |parser, word| parser.alt_or_shift(word), chord_with),
    row("Shift", Vhs, |parser, word| parser.alt_or_shift(word), chord_with),
    row("Wait", Vhs, |parser, _| parser.wait(), command::wait),
    row("Sleep", Vhs, |parser, _| parser.sleep(), plain),
    row("Set", Vhs, |parser, _| parser.set(), command::set),
    row("Source", Vhs, |parser, _| parser.sourced_tape(), plain),
    row("End", Vhs, |parser, word| parser.end(word), plain),
    ignored("Env", |parser, _| parser.env(), command::env),
    ignored("Hide", |_, _| Ok(Arguments::only(Action::Nothing)), plain),
    ignored("Output", |parser, _| parser.output(), quoted_args),
    ignored("Require", |parser, _| parser.require(), quoted_args),
    ignored("Screenshot", |parser, _| parser.screenshot(), quoted_args),
    ignored("Show", |_, _| Ok(Arguments::only(Action::Nothing)), plain),
    key("Backspace"),
    key("Delete"),
    key("Down"),
    key("Enter"),
    key("Escape"),
    key("Insert"),
    key("Left"),
    key("PageDown"),
    key("PageUp"),
    key("Right"),
    key("ScrollDown"),
    key("ScrollUp"),
    key("Space"),
    key("Tab"),
    key("Up"),
    row("Press", Own(is_key_or_speed), |parser, _| parser.press(), command::press),
    block_key("Clear"),
    block_key("PA1"),
    block_key("PA2"),
    block_key("PA3"),
    block_key("PF1"),
    block_key("PF2"),
    block_key("PF3"),
    block_key("PF4"),
    block_key("PF5"),
    block_key("PF6"),
    block_key("PF7"),
    block_key("PF8"),
    block_key("PF9"),
    block_key("PF10"),
    block_key("PF11"),
    block_key("PF12"),
    block_key("PF13"),
    block_key("PF14"),
    block_key("PF15"),
    block_key("PF16"),
    block_key("PF17"),
    block_key("PF18"),
    block_key("PF19"),
    block_key("PF20"),
    block_key("PF21"),
    block_key("PF22"),
    block_key("PF23"),
    block_key("PF24"),
    row("Think", Own(is_distribution), |parser, word| parser.think(word), plain),
    row("Expect", Own(is_pattern), |parser, _| parser.expect(), command::expect),
    row("Barrier", Own(is_text), |parser, word| parser.barrier(word), quoted_args),
    row("Play", Own(is_letters), |parser, _| parser.play(), plain),
    row("Transaction", Block(is_text), |parser, word| parser.transaction(word), quoted_args),
    row("Part", Block(is_letter), |parser, _| parser.part(), plain),
    row("Repeat", Block(is_number), |parser, _| parser.repeat(), plain),
    row("Forever", Block(|next| next.is_none()), |parser, _| Ok(parser.forever()), plain),
];

/// A setting: what stands behind `Set`.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) kind: SettingKind,
    /// Reads the value into the settings; returns its text. The token is the name.
    pub(crate) parse: ParseValue,
    /// Prints the value in the tape's own syntax.
    pub(crate) print: fn(&str) -> String,
}

type ParseValue = for<'a, 'b> fn(&'b mut Parser<'a>, &'b Token<'a>, &'b mut Settings) -> Result<String, TapeError>;

#[derive(Clone, Copy)]
pub(crate) enum SettingKind {
    /// VHS's, and of use only to a video.
    Video,
    /// VHS's.
    Vhs(Holds),
    /// Ours.
    Own(Holds),
}

pub(crate) fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// All names of settings, for hints.
pub(crate) fn setting_names() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.name)
}

impl Setting {
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.kind, SettingKind::Own(_))
    }

    pub(crate) fn is_video(&self) -> bool {
        matches!(self.kind, SettingKind::Video)
    }
}

const fn setting_row(name: &'static str, kind: SettingKind, parse: ParseValue, print: fn(&str) -> String) -> Setting {
    Setting { name, kind, parse, print }
}

/// A video's setting with any value that VHS does not refuse.
const fn video(name: &'static str) -> Setting {
    setting_row(name, SettingKind::Video, |parser, _, _| parser.any_value(), str::to_owned)
}

const FROM_HERE: SettingKind = SettingKind::Own(Holds::FromHere);
const THROUGHOUT: SettingKind = SettingKind::Own(Holds::Throughout);
const VHS_FIRST: SettingKind = SettingKind::Vhs(Holds::FromHereUnlikeVhs);

#[allow(clippy::redundant_closure_for_method_calls)] // A method is not general over the lifetime of the tape.
static SETTINGS: &[Setting] = &[
    video("BorderRadius"),
    setting_row("CursorBlink", SettingKind::Video, |parser, _, _| parser.cursor_blink(), str::to_owned),
    video("FontFamily"),
    video("FontSize"),
    video("Framerate"),
    video("Height"),
    video("LetterSpacing"),
    video("LineHeight"),
    setting_row("LoopOffset", SettingKind::Video, |parser, _, _| parser.loop_offset(), str::to_owned),
    video("Margin"),
    setting_row("MarginFill", SettingKind::Video, |parser, _, _| parser.margin_fill(), str::to_owned),
    video("Padding"),
    video("PlaybackSpeed"),
    video("Shell"),
    video("Theme"),
    setting_row(
        "TypingSpeed",
        SettingKind::Vhs(Holds::FromHere),
        |parser, _, settings| parser.typing_speed(settings),
        str::to_owned,
    ),
    setting_row("WaitPattern", VHS_FIRST, |parser, _, settings| parser.wait_pattern(settings), command::pattern),
    setting_row("WaitTimeout", VHS_FIRST, |parser, _, settings| parser.wait_timeout(settings), str::to_owned),
    video("Width"),
    setting_row("WindowBar", SettingKind::Video, |parser, _, _| parser.window_bar(), str::to_owned),
    video("WindowBarSize"),
    setting_row("Columns", THROUGHOUT, |parser, name, settings| parser.terminal(name, settings), str::to_owned),
    setting_row("Echo", FROM_HERE, |parser, _, settings| parser.echo(settings), str::to_owned),
    setting_row("EchoMap", FROM_HERE, |parser, _, settings| parser.echo_map(settings), command::texts),
    setting_row("KeyLaw", FROM_HERE, |parser, name, settings| parser.key_law(name, settings), str::to_owned),
    setting_row("KeyRate", FROM_HERE, |parser, _, settings| parser.key_rate(settings), str::to_owned),
    setting_row("LineSpeed", THROUGHOUT, |parser, name, settings| parser.terminal(name, settings), str::to_owned),
    setting_row("Prompt", FROM_HERE, |parser, _, settings| parser.prompt(settings), command::pattern),
    setting_row("Rows", THROUGHOUT, |parser, name, settings| parser.terminal(name, settings), str::to_owned),
];

fn is_text(next: Option<&Token>) -> bool {
    next.is_some_and(Token::is_text)
}

fn is_number(next: Option<&Token>) -> bool {
    next.is_some_and(|next| next.kind == Kind::Number)
}

fn is_distribution(next: Option<&Token>) -> bool {
    next.is_some_and(|next| matches!(next.kind, Kind::Number | Kind::Bare))
}

fn is_pattern(next: Option<&Token>) -> bool {
    next.is_some_and(|next| next.kind == Kind::Regex || next.is_symbol("+"))
}

fn is_key_or_speed(next: Option<&Token>) -> bool {
    next.is_some_and(|next| next.is_text() || next.kind == Kind::Keyword || next.is_symbol("@"))
}

fn is_count_or_command(next: Option<&Token>) -> bool {
    next.is_none_or(|next| matches!(next.kind, Kind::Number | Kind::Keyword) || next.is_symbol("@"))
}

fn is_letters(next: Option<&Token>) -> bool {
    next.is_some_and(|next| next.is_text() && next.text.chars().all(|c| c.is_ascii_uppercase()))
}

fn is_letter(next: Option<&Token>) -> bool {
    is_letters(next) && next.is_some_and(|next| next.text.len() == 1)
}
