//! A 3270: most keys only change its display; those that call for the host send what was typed, and lock the keyboard until the
//! host unlocks it.
//!
//! There are no echoes, so a response need not be told from them: it is what the host has written since the last key, record by
//! record. Text that the host did not write again is no response.

use std::borrow::Cow;
use std::collections::VecDeque;

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_screen::block::{Display, Refusal};
use cuesta_screen::vt::{Span, Style};
use cuesta_tape::{Echo, Key, Op, Program, WaitCondition};
use regex::bytes::Regex;

use super::undrawn::Undrawn;
use super::{Keystroke, RowHashes, Terminal, TypedAt};
use crate::echoes::{Echoes, OutputEvent, SentKey};
use crate::watch::Picture;

/// A 3270.
#[derive(Debug)]
pub(crate) struct BlockTerminal {
    display: Display,
    undrawn: Undrawn,
    /// Reads that are not drawn, in order, and how many bytes of each are drawn.
    reads: VecDeque<(Received, usize)>,
    /// How often the host had unlocked the keyboard when the last key was pressed.
    unlocks: u64,
    /// When the first record after the last key came.
    first_output: Option<Stamp>,
    /// Since when the screen has met the wait condition.
    matched: Option<Stamp>,
    /// Memory size last reported, in bytes.
    reported_memory: usize,
}

impl BlockTerminal {
    pub(crate) fn new(size: (u16, u16)) -> Self {
        Self {
            display: Display::new(size),
            undrawn: Undrawn::default(),
            reads: VecDeque::new(),
            unlocks: 0,
            first_output: None,
            matched: None,
            reported_memory: 0,
        }
    }

    /// A record is complete: the screen may meet the condition since `at`.
    fn check(&mut self, condition: &WaitCondition, at: Stamp) {
        self.matched = if self.meets(condition) { self.matched.or(Some(at)) } else { None };
    }

    /// Whether the screen meets a condition by something that the host wrote after the last key.
    fn meets(&self, condition: &WaitCondition) -> bool {
        self.first_output.is_some()
            && match condition {
                WaitCondition::Unlock => !self.display.is_locked() && self.display.unlocks() > self.unlocks,
                WaitCondition::Screen(pattern) => [false, true].iter().any(|to_cursor| {
                    let (text, fresh) = self.display.fresh_text(*to_cursor);
                    answers(pattern.regex(), &text, &fresh, text.len())
                }),
                WaitCondition::Line(pattern) => self.row_meets(pattern.regex(), false),
                WaitCondition::Prompt(pattern) => self.row_meets(pattern.regex(), true),
                WaitCondition::Cursor { row, column } => {
                    let (at_row, at_column) = self.display.cursor();
                    (*row, *column) == (at_row + 1, at_column + 1)
                }
                _ => false,
            }
    }

    /// Whether the cursor's row has a match. `before`: one that ends at the cursor or before it.
    fn row_meets(&self, pattern: &Regex, before: bool) -> bool {
        [false, true].iter().any(|to_cursor| {
            let (text, fresh) = self.display.fresh_row(*to_cursor);
            let end = if before { self.display.text_before_cursor().len() } else { text.len() };
            answers(pattern, &text, &fresh, end)
        })
    }
}

/// Keys change the display themselves.
impl Echoes for BlockTerminal {}

impl Terminal for BlockTerminal {
    /// What any key does depends on the fields and on the lock.
    fn draws_before(&self, _: Keystroke<'_>) -> bool {
        true
    }

    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal> {
        let sent = match key {
            Keystroke::Key(key) => self.display.press(key)?,
            Keystroke::Character(text) | Keystroke::Paste(text) => {
                text.chars().try_for_each(|character| self.display.type_character(character))?;
                Vec::new()
            }
        };
        Ok(Cow::Owned(sent))
    }

    fn key_sent(&mut self, _: Keystroke<'_>, _: &[u8], _: SentKey, _: &[(u8, u8)], _: &mut Vec<OutputEvent>) {
        self.display.clear_fresh();
        self.unlocks = self.display.unlocks();
        (self.first_output, self.matched) = (None, None);
    }

    fn read(&mut self, bytes: &[u8], received: &Received) {
        self.undrawn.push(bytes);
        self.reads.push_back((*received, 0));
    }

    fn is_full(&self) -> bool {
        self.undrawn.is_full()
    }

    fn is_drawn(&self) -> bool {
        self.reads.is_empty()
    }

    fn draw(&mut self, most: usize, awaited: &[WaitCondition], events: &mut Vec<OutputEvent>) {
        let Some((received, from)) = self.reads.front().copied() else { return };
        let left = (received.len - from).min(most);
        let (taken, is_record) = self.display.feed(self.undrawn.next(left));
        self.undrawn.forget(taken);
        if from + taken == received.len {
            self.reads.pop_front();
        } else if let Some((_, drawn)) = self.reads.front_mut() {
            *drawn += taken;
        }
        if is_record {
            let at = received.at_character(from + taken - 1);
            self.first_output.get_or_insert(at);
            if let Some(condition) = awaited.first() {
                self.check(condition, at);
                events.extend(self.matched.map(OutputEvent::Answer));
            }
        }
    }

    fn replies(&self) -> &[u8] {
        self.display.replies()
    }

    fn forget_replies(&mut self, len: usize) {
        self.display.forget_replies(len);
    }

    fn check_again(&mut self, condition: &WaitCondition, last: Stamp) -> bool {
        self.matched = None;
        if self.is_drawn() {
            self.check(condition, last);
        }
        self.matched.is_some()
    }

    fn first_output(&self, at: Stamp) -> Stamp {
        self.first_output.map_or(at, |first| first.min(at))
    }

    fn is_on_screen(&self, pattern: &Regex) -> bool {
        [false, true].iter().any(|to_cursor| pattern.is_match(self.display.fresh_text(*to_cursor).0.as_bytes()))
    }

    fn row_hashes(&self) -> Option<RowHashes> {
        Some(RowHashes::new(self.display.text().lines(), TypedAt::Cursor(self.display.cursor().0), 0))
    }

    fn cursor_row(&self) -> Option<String> {
        Some(self.display.fresh_row(true).0)
    }

    fn rows(&self) -> Option<Vec<String>> {
        Some(self.display.text().lines().map(str::to_owned).collect())
    }

    fn picture(&mut self, _: &dyn Fn() -> Vec<u8>) -> Picture {
        let text = self.display.text();
        let span = |text: &str| Span { text: text.to_owned(), style: Style::default() };
        let rows = text.lines().map(|row| if row.is_empty() { Vec::new() } else { vec![span(row)] }).collect();
        Picture { columns: self.display.size().0, rows, cursor: Some(self.display.cursor()), is_whole: true }
    }

    fn memory_change(&mut self) -> (usize, usize) {
        let now = size_of::<Self>() + self.display.memory() + self.undrawn.memory();
        (std::mem::replace(&mut self.reported_memory, now), now)
    }
}

/// Whether a pattern has a match that ends by `end` and holds something fresh.
fn answers(pattern: &Regex, text: &str, fresh: &[bool], end: usize) -> bool {
    let mut matches = pattern.find_iter(text.as_bytes());
    matches.any(|part| part.end() <= end && (part.is_empty() || fresh[part.range()].contains(&true)))
}

/// Why a program is not for a 3270.
pub(super) fn find_mismatch<'a>(mut keys: impl Iterator<Item = &'a Key>, program: &Program) -> Option<String> {
    if let Some(key) = keys.find(|key| !Display::has_key(key)) {
        let lacks = key.name().map_or("chords such as Ctrl+C".to_owned(), |name| format!("key for {name}"));
        return Some(format!("a 3270 has no {lacks}: it has Enter, PF1 to PF24, PA1 to PA3, Clear, Tab and the like"));
    }
    let echoes = |op: &Op| matches!(op, Op::Keys { settings, .. } if settings.echo != Echo::Untimed);
    if program.ops.iter().any(echoes) || program.conditions.contains(&WaitCondition::Echo) {
        return Some(
            "a 3270 shows keys itself, so no host echoes them: leave out Set Echo, Set EchoMap and Wait+Echo"
                .to_owned(),
        );
    }
    let text = "a host of 3270s sends screens and no text: write Expect+Screen /…/";
    program.reads_text.then(|| text.to_owned())
}
