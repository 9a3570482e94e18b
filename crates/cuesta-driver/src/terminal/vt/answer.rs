//! Whether the screen meets the wait condition, and not only by the echo of the user's own keys.
//!
//! A match counts if it contains more than the echoes of the keys before the last one. While such keys wait for their echo, a match is
//! *held*: a prompt that comes before the echo does not answer the keys typed after it. A host may not echo at all, so a held match
//! counts, from the instant at which it came, once no key has been echoed for a multiple of the slowest recent echo. After some inputs
//! without any echo the host is taken not to echo; a single input without echo may be a password.
//!
//! Where the host edits a row itself (history, completion), what it will show is not known. A match is then held until the
//! cursor leaves the row after the Return, and what stood in the row is no response.
//!
//! Rows that are typed ahead may all be echoed before the first of them is answered. A match is then held for a while: a
//! shell that goes on with the next row draws that row behind its prompt.

use std::ops::Range;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_screen::vt::{MarkedText, TypedText};
use cuesta_tape::{Echo, WaitCondition};
use regex::bytes::Regex;

use super::{Terminal, VtTerminal};
use crate::echoes::{AwaitedEcho, SlowestEcho};

/// How long a match is held in a session in which nothing has been echoed yet.
pub(super) const FIRST_HOLD: Duration = Duration::from_millis(500);
/// Otherwise a match is held for this multiple of the slowest recent echo, plus `HOLD_MORE`.
const HOLD_TIMES: u32 = 2;
const HOLD_MORE: Duration = Duration::from_millis(20);
/// After this many inputs without any echo, from the first on, a host is taken not to echo.
const INPUTS_WITHOUT_ECHO: u32 = 3;

/// How long a match is held, from what is known of echoes so far.
#[derive(Debug, Default)]
pub(super) struct Hold {
    pub(super) slowest: SlowestEcho,
    /// Inputs without echo whose match was held.
    unechoed_inputs: u32,
    /// The Return of an edited row was sent, and the end of the row has not come.
    pub(super) edited_return: bool,
    /// The host has sent something in this session.
    pub(super) host_has_spoken: bool,
    /// How many prompts may come for what was typed in this input: one for each row that was ended, and the host's first one
    /// if it had sent nothing before.
    prompts: usize,
    /// When the held match first came since the last key.
    pub(super) since: Option<Stamp>,
    /// When the match came that the screen no longer shows, if there is one.
    pub(super) vanished: Option<Stamp>,
    /// When the last echo came.
    pub(super) last_echo: Stamp,
    /// Echoes of keys sent up to this instant are not waited for any more.
    given_up: Stamp,
}

impl Hold {
    /// Another input begins: forgets earlier keys that were given up, or all of them if the host does not echo.
    pub(super) fn begin(&mut self, typed_text: &mut TypedText<AwaitedEcho, Stamp>) {
        self.edited_return = false;
        self.prompts = usize::from(!self.host_has_spoken);
        let echoes = !self.never_echoes();
        typed_text.retain(|unshown| unshown.key.echo == Echo::Screen || (echoes && unshown.key.sent > self.given_up));
    }

    pub(super) fn end_row(&mut self, edited: bool) {
        self.edited_return |= edited;
        self.prompts += 1;
    }

    /// Whether the host does not echo.
    fn never_echoes(&self) -> bool {
        self.slowest.0.is_none() && self.unechoed_inputs >= INPUTS_WITHOUT_ECHO
    }

    /// For how long a match is held; an echo takes no longer.
    pub(super) fn length(&self) -> Duration {
        self.slowest.0.map_or(FIRST_HOLD, |slowest| slowest * HOLD_TIMES + HOLD_MORE)
    }
}

impl VtTerminal {
    /// Checks whether the screen meets the condition; if so, since `at`.
    pub(super) fn check(&mut self, condition: &WaitCondition, at: Stamp) {
        if self.ends_input
            && self.first_output.is_none()
            && self.has_output
            && self.changed_rows.fresh_rows(&self.screen, &self.own_echoes, false).text.has_output()
        {
            self.first_output = Some(at);
        }
        let row = self.matching_row(condition);
        if row.is_none() && self.waits_for_echo() && !self.may_answer_earlier_row() {
            self.hold.vanished = self.hold.vanished.or(self.matched);
        }
        // What matches in another row is another match.
        let since = self.matched.filter(|_| row == self.matched_row).unwrap_or(at);
        (self.matched, self.matched_row) = (row.map(|_| since), row);
        self.hold.since = self.hold.since.or(self.matched);
    }

    /// Until when a match is held, if one is.
    pub(super) fn held_until(&self) -> Option<Stamp> {
        let matched = self.matched.or(self.hold.vanished)?;
        let frame = self.frame_may_go_on_until;
        if self.may_answer_earlier_row() {
            return Some(matched.max(self.hold.last_echo) + self.hold.length().max(FIRST_HOLD));
        }
        let since = self.hold.since.unwrap_or(matched).max(self.hold.last_echo);
        let echo = self.waits_for_echo().then(|| since + self.hold.length());
        echo.max(frame)
    }

    /// Stops holding the match; returns when it came.
    pub(super) fn accept_held(&mut self) -> Option<Stamp> {
        self.frame_may_go_on_until = None;
        if self.may_answer_earlier_row() || self.waits_for_echo() {
            self.hold.unechoed_inputs += u32::from(self.typed_text.is_waiting());
            self.hold.given_up = self.typed_text.waiting().map(|unshown| unshown.key.sent).max().unwrap_or_default();
            self.hold.edited_return = false;
            self.hold.prompts = 0;
        }
        self.matched.or(self.hold.vanished)
    }

    /// Whether a match may be the response to a row before the last one. Programs that draw the whole screen read keys, not
    /// rows.
    fn may_answer_earlier_row(&self) -> bool {
        self.hold.prompts > 1 && !self.screen.is_alternate()
    }

    /// Whether a match is held: keys before the last one still wait for their echo, the match may answer an earlier row, or the frame
    /// may go on.
    pub(super) fn is_match_held(&self) -> bool {
        self.may_answer_earlier_row() || self.waits_for_echo() || self.frame_may_go_on_until.is_some()
    }

    /// Whether keys before the last one still wait for their echo, so that a match may be before it.
    fn waits_for_echo(&self) -> bool {
        let waits = |unshown: &AwaitedEcho| !unshown.key.ends_input && unshown.key.sent > self.hold.given_up;
        !self.hold.never_echoes() && (self.hold.edited_return || self.typed_text.waiting().any(waits))
    }

    /// The row, counted from the first that has scrolled off, by which the screen meets the condition: by something that came after the
    /// last key and is not only an echo.
    fn matching_row(&self, condition: &WaitCondition) -> Option<u64> {
        let (row, column) = self.screen.cursor();
        let is_met = self.has_output
            && match condition {
                WaitCondition::Screen(pattern) => return self.matching_new_row(pattern.regex()),
                WaitCondition::Line(pattern) => self.is_in_line(pattern.regex()),
                WaitCondition::Prompt(pattern) => self.is_at_prompt(pattern.regex()),
                WaitCondition::Cursor { row: wanted, column: in_column } => {
                    (*wanted, *in_column) == (row + 1, column + 1)
                }
                _ => false,
            };
        is_met.then(|| self.screen.scrolled() + u64::from(row))
    }

    /// The row in which a match of a pattern ends that is new since the last key.
    fn matching_new_row(&self, pattern: &Regex) -> Option<u64> {
        // Most output matches nothing, so the whole screen is looked at first, which is quicker.
        if !self.has_output || !self.is_on_screen(pattern) {
            return None;
        }
        [false, true].iter().find_map(|to_cursor| {
            let fresh = self.changed_rows.fresh_rows(&self.screen, &self.own_echoes, *to_cursor);
            let is_new = |end, matched: &str| self.changed_rows.is_new(&self.screen, &fresh, end, matched);
            let end = answer_in(pattern, &fresh.text, is_new)?;
            let row = fresh.text.text[..end].matches('\n').count();
            Some(self.screen.scrolled() + row as u64)
        })
    }

    /// Whether the cursor's row has a new match.
    fn is_in_line(&self, pattern: &Regex) -> bool {
        let (row, column) = self.screen.next_cell();
        let (text, up_to_cursor) = (self.screen.row(row), self.screen.text_before((row, column)));
        let is_new = |_, matched: &str| self.changed_rows.is_new_at_cursor(&self.screen, &self.own_echoes, matched);
        let has_match = |to_cursor| {
            let shown = self.own_echoes.marked_row(&self.screen, row, to_cursor);
            answer_in(pattern, &shown, is_new).is_some()
        };
        // Most output matches nothing, so the text is looked at first, and then what of it is an echo.
        (pattern.is_match(text.as_bytes()) && has_match(false)
            || up_to_cursor.len() > text.len() && pattern.is_match(up_to_cursor.as_bytes()) && has_match(true))
            && self.changed_rows.is_row_fresh(&self.screen, &self.own_echoes, false)
    }

    /// Whether a prompt stands before the cursor, with or without the blanks there. What is behind the cursor is no part of it.
    fn is_at_prompt(&self, pattern: &Regex) -> bool {
        let (row, column) = self.screen.next_cell();
        let before = self.screen.text_before((row, column));
        let text = before.trim_end_matches(' ');
        let has_match = |to: usize| {
            pattern.is_match(&before.as_bytes()[..to]) && {
                let mut shown = self.own_echoes.marked_row(&self.screen, row, true);
                shown.truncate(to);
                answer_in(pattern, &shown, |_, _| true).is_some()
            }
        };
        (has_match(before.len()) || text.len() < before.len() && has_match(text.len()))
            && self.changed_rows.is_row_fresh(&self.screen, &self.own_echoes, true)
    }
}

/// The end of a pattern's first match that is new and holds more than echoes. `is_new`: by where a match ends, and its text.
fn answer_in(pattern: &Regex, shown: &MarkedText, is_new: impl Fn(usize, &str) -> bool) -> Option<usize> {
    let is_answer = |part: Range<usize>| {
        shown.is_answer(part.clone()) && is_new(part.end, shown.text.get(part).unwrap_or_default())
    };
    pattern
        .find_iter(shown.text.as_bytes())
        .map(|part| part.range())
        .find(|part| is_answer(part.clone()))
        .map(|part| part.end)
}

/// Finds in a text what conditions wait for.
pub(super) fn finder(awaited: &[WaitCondition]) -> impl Fn(&str) -> Vec<Range<usize>> + '_ {
    move |text| {
        let patterns = awaited.iter().filter_map(|condition| match condition {
            WaitCondition::Screen(pattern) | WaitCondition::Line(pattern) => Some(pattern.regex()),
            _ => None,
        });
        patterns.flat_map(|pattern| pattern.find_iter(text.as_bytes())).map(|part| part.range()).collect()
    }
}
