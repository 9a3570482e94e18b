//! Whether the screen meets the wait condition, and not only by the echo of the user's own keys.
//!
//! A match counts if it holds more than the echoes of the keys before the last one. While such keys wait for their echo, a
//! match is *held*: a prompt before the echo is no response to what is typed behind it. A host may not echo at all, so a
//! held match counts, from when it came, once no key has been echoed for a multiple of the slowest recent echo. After some
//! inputs without any echo the session is taken not to echo; one input without echo may be a password.
//!
//! Where the host edits a row itself (history, completion), what it will show is not known. A match is then held until the
//! cursor leaves the row after the Return, and what stood in the row is no response.
//!
//! Rows that are typed ahead may all be echoed before the first of them is answered. A match is then held for a while: a
//! shell that goes on with the next row draws that row behind its prompt.

use std::time::Duration;

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_screen::vt::{KeyMatch, MarkedText, ScreenEcho};
use cuesta_tape::WaitCondition;
use regex::bytes::Regex;

use crate::echo_matcher::SlowestEcho;

use super::{ScreenEvent, Terminal, UnshownKey, VtTerminal};

/// How long a match is held in a session in which nothing has been echoed yet.
const FIRST_HOLD: Duration = Duration::from_millis(500);
/// Otherwise a match is held for this multiple of the slowest recent echo, plus `HOLD_MORE`.
const HOLD_TIMES: u32 = 2;
const HOLD_MORE: Duration = Duration::from_millis(20);
/// After this many inputs without any echo, from the first on, a host is taken not to echo.
const NEVER: u32 = 3;

/// How long a match is held, from what is known of echoes so far.
#[derive(Debug, Default)]
pub(super) struct Hold {
    slowest: SlowestEcho,
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
    /// When the last echo came.
    last: Stamp,
    /// Echoes of keys sent up to this instant are not waited for any more.
    given_up: Stamp,
}

impl Hold {
    /// Another input begins: forgets earlier keys that were given up, or all of them if the host does not echo.
    pub(super) fn begin(&mut self, shown: &mut ScreenEcho<UnshownKey>) {
        self.edited_return = false;
        self.prompts = usize::from(!self.host_has_spoken);
        let echoes = !self.never_echoes();
        shown.retain(|unshown| unshown.key.timed || (echoes && unshown.key.sent > self.given_up));
    }

    /// A row is ended.
    pub(super) fn end_row(&mut self, edited: bool) {
        self.edited_return |= edited;
        self.prompts += 1;
    }

    /// Whether the host does not echo.
    fn never_echoes(&self) -> bool {
        self.slowest.0.is_none() && self.unechoed_inputs >= NEVER
    }

    fn length(&self) -> Duration {
        self.slowest.0.map_or(FIRST_HOLD, |slowest| slowest * HOLD_TIMES + HOLD_MORE)
    }
}

impl VtTerminal {
    /// Handles the keys that a piece has shown.
    pub(super) fn handle_matches(&mut self, received: &Received, events: &mut Vec<ScreenEvent>) {
        for matched in self.matches.drain(..) {
            let (unshown, shown) = match matched {
                KeyMatch::Shown(unshown, index, place) => (unshown, Some((received.at_character(index), place))),
                KeyMatch::Overtaken(unshown) => (unshown, None),
            };
            let key = unshown.key;
            if key.timed {
                self.unechoed -= 1;
                events.push(shown.map_or(ScreenEvent::Missed, |(at, _)| ScreenEvent::Key(key, at)));
            }
            let Some((at, place)) = shown else { continue };
            self.hold.slowest.learn(at.since(key.sent));
            self.hold.last = at;
            if let Some(place) = place.filter(|_| !key.ends_input) {
                self.own_echoes.add(&self.screen, place, unshown.character, unshown.row);
                self.changed_rows.follow_cursor(place.behind(&self.screen, unshown.character));
            }
        }
    }

    /// Checks whether the screen meets the condition; if so, since `at`.
    pub(super) fn check(&mut self, condition: &WaitCondition, at: Stamp) {
        if self.ends_input
            && self.first_output.is_none()
            && self.has_output
            && self.changed_rows.fresh_rows(&self.screen, &self.own_echoes, false).has_output()
        {
            self.first_output = Some(at);
        }
        self.matched = if self.meets(condition) { self.matched.or(Some(at)) } else { None };
        self.hold.since = self.hold.since.or(self.matched);
    }

    /// Until when a match is held, if one is.
    pub(super) fn held_until(&self) -> Option<Stamp> {
        let matched = self.matched.filter(|_| self.is_match_held())?;
        if self.may_answer_earlier_row() {
            return Some(matched.max(self.hold.last) + self.hold.length().max(FIRST_HOLD));
        }
        Some(self.hold.since.unwrap_or(matched).max(self.hold.last) + self.hold.length())
    }

    /// Stops holding the match.
    pub(super) fn accept_held(&mut self) {
        self.hold.unechoed_inputs += u32::from(self.screen_echo.keys().next().is_some());
        self.hold.given_up = self.screen_echo.keys().map(|unshown| unshown.key.sent).max().unwrap_or_default();
        self.hold.edited_return = false;
        self.hold.prompts = 0;
    }

    /// Whether a match may be the response to a row before the last one. Programs that draw the whole screen read keys, not
    /// rows.
    fn may_answer_earlier_row(&self) -> bool {
        self.hold.prompts > 1 && !self.screen.is_alternate()
    }

    /// Whether a match is held: keys before the last one still wait for their echo, or the match may answer an earlier row.
    pub(super) fn is_match_held(&self) -> bool {
        let waits = |unshown: &UnshownKey| !unshown.key.ends_input && unshown.key.sent > self.hold.given_up;
        self.may_answer_earlier_row()
            || !self.hold.never_echoes() && (self.hold.edited_return || self.screen_echo.keys().any(waits))
    }

    /// Whether the screen meets the condition by something that came after the last key and is not only an echo.
    fn meets(&self, condition: &WaitCondition) -> bool {
        self.has_output
            && match condition {
                WaitCondition::Screen(pattern) => {
                    self.is_on_screen(pattern.regex()) && self.is_in_new_rows(pattern.regex())
                }
                WaitCondition::Line(pattern) => self.row_matches(pattern.regex(), false),
                WaitCondition::Prompt(pattern) => self.row_matches(pattern.regex(), true),
                WaitCondition::Cursor { row, column } => {
                    let (at_row, at_column) = self.screen.cursor();
                    (*row, *column) == (at_row + 1, at_column + 1)
                }
                WaitCondition::Echo
                | WaitCondition::Bytes(_)
                | WaitCondition::Silence(_)
                | WaitCondition::Unlock
                | WaitCondition::Delivered
                | WaitCondition::Disconnect => false,
            }
    }

    /// Whether rows that are new since the last key show a pattern. Slower than `is_on_screen`, which is asked first.
    fn is_in_new_rows(&self, pattern: &Regex) -> bool {
        [false, true].iter().any(|to_cursor| {
            let shown = self.changed_rows.fresh_rows(&self.screen, &self.own_echoes, *to_cursor);
            answers(pattern, &shown, shown.text.len())
        })
    }

    /// Whether the cursor's row matches, without blanks at its end or with those up to the cursor. `before`: the match must
    /// end at the cursor or before it.
    fn row_matches(&self, pattern: &Regex, before: bool) -> bool {
        let (row, column) = self.screen.next_cell();
        let up_to_cursor = self.screen.text_before((row, column));
        let text = self.screen.row(row);
        // Most output matches nothing, so match first and then look for echoes.
        let candidates = [(false, &text), (true, &up_to_cursor)];
        let mut candidates = candidates.into_iter().filter(|(to_cursor, shown)| {
            (!to_cursor || shown.len() > text.len()) && pattern.is_match(shown.as_bytes())
        });
        candidates.any(|(to_cursor, _)| {
            let shown = self.own_echoes.marked_row(&self.screen, row, to_cursor);
            answers(pattern, &shown, if before { up_to_cursor.len() } else { shown.text.len() })
        }) && self.changed_rows.is_row_fresh(&self.screen, &self.own_echoes)
    }
}

/// Whether a pattern has a match that ends by `end` and holds more than echoes.
fn answers(pattern: &Regex, shown: &MarkedText, end: usize) -> bool {
    let mut found = pattern.find_iter(shown.text.as_bytes());
    found.any(|found| found.end() <= end && shown.is_answer(found.range()))
}
