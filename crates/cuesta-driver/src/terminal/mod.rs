//! A user's terminal: a keyboard, and a display if anything looks at it. One file per kind.
//!
//! A keyboard turns keys into the bytes to send. A display takes received bytes, stamped, and reports [`OutputEvent`]s: keys were shown,
//! the response is complete. Pure: instants are arguments.
//!
//! - `plain`: a keyboard alone; what comes is looked at as a stream of characters.
//! - `vt`: a video terminal.
//! - `block`: a 3270.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cuesta_lines::{Received, Target, TerminalKind, TerminalSettings, kind_of};
use cuesta_record::Stamp;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::{Modes, Screen, key_bytes};
use cuesta_tape::{Key, Keys, Op, Piece, Probe, Program, WaitCondition};
use regex::bytes::Regex;

use block::BlockTerminal;
use plain::Keyboard;
use vt::VtTerminal;

use crate::echoes::{Echoes, OutputEvent, SentKey};
use crate::group::Group;
use crate::watch::Picture;

mod block;
mod plain;
mod row_hashes;
mod undrawn;
mod vt;

pub(crate) use row_hashes::{RowHashes, TypedAt};

/// A terminal. The default methods are those of a terminal without a display.
#[allow(unused_variables)] // Default methods ignore their arguments.
pub(crate) trait Terminal: Echoes {
    /// Whether the program needs another kind of terminal.
    fn lacks(&self, program: &Program) -> bool {
        false
    }

    fn begin_pass(&mut self, program: &Program) {}

    /// Whether what a key sends depends on what the host has sent before, which must be drawn first.
    fn draws_before(&self, input: Keystroke<'_>) -> bool {
        match input {
            Keystroke::Character(_) => false,
            Keystroke::Key(key) => key.depends_on_modes(),
            Keystroke::Paste(_) => true,
        }
    }

    /// Presses a key, and returns what it sends: nothing, if it only changes the display.
    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal>;

    /// A key was sent, or will be at once. `text`: what of it the host may show. `echo_map`: pairs of what is typed and shown.
    fn key_sent(
        &mut self,
        input: Keystroke<'_>,
        text: &[u8],
        key: SentKey,
        echo_map: &[(u8, u8)],
        events: &mut Vec<OutputEvent>,
    ) {
    }

    /// A key of a probe was sent at an instant (`Wait+Ready`). Its echo is looked for elsewhere.
    fn probe_sent(&mut self, sent: Stamp, events: &mut Vec<OutputEvent>) {}

    /// All keys of the probe were shown and taken back.
    fn probe_ended(&mut self) {}

    /// Takes a read.
    fn read(&mut self, bytes: &[u8], received: &Received);

    /// Whether reading should stop because too much waits to be drawn.
    fn is_full(&self) -> bool {
        false
    }

    /// Whether all that came is drawn.
    fn is_drawn(&self) -> bool {
        true
    }

    /// Draws one piece, at most `most` bytes, and reports the events. `awaited`: the condition that is waited for, and those that follow
    /// before the next key.
    fn draw(&mut self, most: usize, awaited: &[WaitCondition], events: &mut Vec<OutputEvent>) {}

    /// The terminal's own replies to the host's queries, which wait to be sent.
    fn replies(&self) -> &[u8] {
        &[]
    }

    /// The first `len` bytes of the replies have been sent.
    fn forget_replies(&mut self, len: usize) {}

    /// When the frame ends if nothing more comes, where keys are timed to frames.
    fn frame_ends(&self) -> Option<Stamp> {
        None
    }

    /// Ends the frames that are over at an instant, because nothing more has come by [`frame_ends`](Self::frame_ends).
    fn end_frames_until(&mut self, instant: Stamp, events: &mut Vec<OutputEvent>) {}

    /// The wait condition changed: judges again what has come, the last of it at `last`. Says whether the answer is complete.
    fn check_again(&mut self, condition: &WaitCondition, last: Stamp) -> bool {
        false
    }

    /// When the response that was complete at an instant began.
    fn first_output(&self, at: Stamp) -> Stamp {
        at
    }

    /// Until when a match is held because it may be an echo, if one is.
    fn match_held_until(&self) -> Option<Stamp> {
        None
    }

    /// When the match came that is held, if one is.
    fn match_held_since(&self) -> Option<Stamp> {
        None
    }

    /// Accepts the match that is held; returns when it came.
    fn accept_match(&mut self) -> Option<Stamp> {
        None
    }

    /// Whether the screen as it is shows a pattern.
    fn is_on_screen(&self, pattern: &Regex) -> bool {
        false
    }

    /// The display's rows, compared without numbers and spinners; `None` without a display.
    fn row_hashes(&self) -> Option<RowHashes> {
        None
    }

    /// The first row of the wrapped text in which the visible cursor stands, counted from the first that has scrolled off; `None` for a
    /// program that draws the whole screen.
    fn typed_row(&self) -> Option<u64> {
        None
    }

    /// The text of the cursor's row, with the blanks before the cursor; `None` without a display.
    fn cursor_row(&self) -> Option<String> {
        None
    }

    /// The text of the row that has met the wait condition, or of the cursor's.
    fn answer_row(&self) -> Option<String> {
        self.cursor_row()
    }

    /// The texts of the display's rows, from the top; `None` without a display.
    fn rows(&self) -> Option<Vec<String>> {
        None
    }

    /// The screen of a video terminal.
    fn screen(&self) -> Option<&Screen> {
        None
    }

    /// What it shows. A terminal without a display follows what comes from now on, after what has come `so_far`.
    fn picture(&mut self, so_far: &dyn Fn() -> Vec<u8>) -> Picture;

    /// The display's memory size last reported, and the size now, in bytes.
    fn memory_change(&mut self) -> (usize, usize) {
        (0, 0)
    }
}

/// The terminal of a user of this group who plays a program.
pub(crate) fn terminal_for(group: &Group, program: &Program) -> Box<dyn Terminal> {
    let size = (group.line.columns, group.line.rows);
    match group.terminal {
        TerminalKind::Block => Box::new(BlockTerminal::new(size)),
        TerminalKind::Vt if program.needs_screen => Box::new(VtTerminal::new(size, group.widths, group.can_echo)),
        TerminalKind::Vt => Box::new(Keyboard::new(size)),
    }
}

/// Why a program cannot be played at a target: it presses a key that the terminal there lacks, or waits for what never happens.
#[must_use]
pub fn find_mismatch(target: &str, program: &Program) -> Option<String> {
    let kind = kind_of(target);
    if kind.is_some_and(|kind| !kind.acknowledges) && program.conditions.contains(&WaitCondition::Delivered) {
        let why = "nothing tells there whether a message was delivered: Wait+Delivered is for bsc:// targets";
        return Some(why.to_owned());
    }
    let waits_until_ready = program.ops.iter().any(|op| matches!(op, Op::Ready { .. }));
    if kind.is_some_and(|kind| !kind.can_echo) && waits_until_ready {
        let why = "no host there shows a key before Enter, so Wait+Ready would never end: wait for what the host sends";
        return Some(why.to_owned());
    }
    let mismatch = match kind.map_or(TerminalKind::Vt, |kind| kind.terminal) {
        TerminalKind::Vt => vt::find_mismatch(pressed_keys(program), &program.conditions),
        TerminalKind::Block => block::find_mismatch(pressed_keys(program), program),
    };
    mismatch.or_else(|| find_bytes(target, program)).or_else(|| missing_character(target, program, &[]))
}

/// The keys that a program presses.
fn pressed_keys(program: &Program) -> impl Iterator<Item = &Key> {
    program.ops.iter().flat_map(|op| match op {
        Op::Keys { keys: Keys::Press { key, .. }, .. } => vec![key],
        Op::Ready { probe: Probe::Keys { key, undo }, .. } => vec![key, undo],
        _ => Vec::new(),
    })
}

/// A message about bytes that users press, and that are no text, at a line that carries only text, as JSON does.
fn find_bytes(target: &str, program: &Program) -> Option<String> {
    let Ok(Target::Web(web)) = target.parse() else { return None };
    if !web.carries_only_text() {
        return None;
    }
    if TerminalSettings::from_target(target).charset.is_some() {
        return Some(
            "that line carries Unicode text, whatever the host's character set is: leave charset out".to_owned(),
        );
    }
    let bytes = pressed_keys(program).find_map(|key| match key {
        Key::Bytes(bytes) if std::str::from_utf8(bytes).is_err() => Some(bytes.escape_ascii()),
        _ => None,
    })?;
    Some(format!(
        "that line carries only text, and the bytes of Press \"{bytes}\" are no UTF-8: press a whole character"
    ))
}

/// A message about a character that users type, in the program or in these rows of the users' table, and that the host's character set
/// lacks.
pub(crate) fn missing_character(target: &str, program: &Program, rows: &[BTreeMap<String, String>]) -> Option<String> {
    let set = TerminalSettings::from_target(target).charset?;
    let typed = program.ops.iter().filter_map(|op| match op {
        Op::Keys { keys: Keys::Text(pieces) | Keys::Paste(pieces), .. } => Some(pieces),
        _ => None,
    });
    let texts = typed.flatten().flat_map(|piece| match piece {
        Piece::Literal(text) => vec![text.as_str()],
        Piece::Column(name) => rows.iter().filter_map(|row| row.get(name)).map(String::as_str).collect(),
    });
    let missing = texts.flat_map(str::chars).find(|character| set.encode(*character).is_none())?;
    Some(format!("the host's character set, {}, has no {missing}", set.name()))
}

/// What a user presses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keystroke<'a> {
    /// One character of a text.
    Character(&'a str),
    /// A key with a name.
    Key(&'a Key),
    Paste(&'a str),
}

impl<'a> Keystroke<'a> {
    /// What of the bytes that are sent for it the host may show.
    pub(crate) fn text<'b>(self, bytes: &'b [u8]) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Self::Character(text) | Self::Paste(text) => text.as_bytes(),
            Self::Key(_) => bytes,
        }
    }

    /// What a VT in these modes sends.
    fn vt_bytes(self, modes: Modes) -> Cow<'a, [u8]> {
        match self {
            Self::Key(key) => key_bytes(key, modes).unwrap_or_default(),
            Self::Paste(text) if modes.bracketed_paste => {
                Cow::Owned([b"\x1b[200~", text.as_bytes(), b"\x1b[201~"].concat())
            }
            Self::Paste(text) | Self::Character(text) => Cow::Borrowed(text.as_bytes()),
        }
    }
}
