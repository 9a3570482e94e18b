//! What was typed while nothing was shown: it becomes `${password}` and is in no file.
//!
//! Where the line says that it echoes nothing, that is known. Elsewhere (a program echoes by itself, a line over a network,
//! somebody else's cast) it is inferred: a row of input that Enter ended and of which not half was shown, on the main screen.
//! On the alternate screen, where programs take commands unseen, and where no Enter follows, the row of the cursor must ask
//! for a password too.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use crate::cast::{Cast, Event, What};
use crate::keys::Typed;
use crate::strokes::{Stroke, strokes};

/// Words of a row that asks for a secret, in small letters.
const ASKS: [&str; 7] = ["password", "passphrase", "passwort", "passcode", "mot de passe", "secret", "token"];
/// The same, only as whole words.
const ASKS_WHOLE: [&str; 3] = ["pin", "otp", "puk"];

/// So much of what was typed is looked for in so much of what was shown, in characters.
const MOST_TYPED: usize = 1024;
const MOST_SHOWN: usize = 16 << 10;

impl Cast {
    /// The same with no secret in it: a marker stands in the place of each, and all that happened while it was typed stands
    /// at the instant of its last key. How fast somebody types a password tells much of it.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let strokes = strokes(self).strokes;
        let mut events: Vec<Vec<Event>> = self.events.iter().map(|event| vec![event.clone()]).collect();
        let secrets = secrets(&strokes);
        // A key may begin in one input and end in the next: both lie between the ends of the rows.
        let inputs = |place: &Range<usize>| strokes[place.start].pressed.input..=strokes[place.end - 1].pressed.ends;
        // What the line hid goes even where it could be no key, as behind half an answer of the terminal's.
        let hid = |index: &usize| matches!(self.events[*index].what, What::Input { echoes: Some(false), .. });
        let touched: BTreeSet<usize> = secrets.iter().flat_map(inputs).chain((0..events.len()).filter(hid)).collect();
        for index in &touched {
            events[*index].retain(|event| !matches!(event.what, What::Input { .. } | What::Secret));
        }
        for (number, stroke) in strokes.iter().enumerate().filter(|(_, key)| touched.contains(&key.pressed.input)) {
            let what = match secrets.iter().find(|place| place.contains(&number)) {
                Some(place) if place.start == number => What::Secret,
                Some(_) if !stroke.ends_row() => continue,
                _ => What::Input { text: stroke.pressed.raw.clone(), echoes: stroke.echoes },
            };
            events[stroke.pressed.input].push(Event { at: stroke.at(), what });
        }
        for (first, last) in secrets.iter().map(|place| inputs(place).into_inner()) {
            at_one_instant(&mut events[first..=last], self.events[last].at);
        }
        Self { events: events.concat(), ..self.clone() }
    }
}

/// Moves what happened while a secret was typed; `events` begin with the input in which it begins.
fn at_one_instant(events: &mut [Vec<Event>], instant: Duration) {
    let secret = events[0].iter().position(|event| event.what == What::Secret).unwrap_or(0);
    for event in events.iter_mut().flatten().skip(secret) {
        event.at = instant;
    }
}

/// Where secrets stand among the keys: rows of input, together where one goes on after the host wrote a row of its own.
fn secrets(strokes: &[Stroke]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for row in rows(strokes) {
        let begin = end;
        end += row.strokes.len();
        let goes_on = begin > 0 && !strokes[begin - 1].ends_row() && !asks(&row.strokes[0].row);
        match found.last_mut() {
            _ if !row.is_secret() => {}
            Some(before) if goes_on && before.end == begin => before.end = end,
            _ => found.push(begin..end),
        }
    }
    found
}

/// A row of input: up to the key that ends it, or up to where the host went on to another row by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputRow<'a> {
    /// At least one.
    pub(crate) strokes: &'a [Stroke],
    /// How many rows stand before it in the input that it begins in: they came at once, and so do their echoes.
    lead: usize,
    /// What came when all of the input that it ends in had been typed.
    after: &'a str,
}

/// The rows of a session's input.
pub(crate) fn rows(strokes: &[Stroke]) -> impl Iterator<Item = InputRow<'_>> {
    let mut begin = 0;
    let mut lead = 0;
    strokes.chunk_by(|before, _| !before.ends_row() && !before.answer.text.contains('\n')).map(move |row| {
        let input = row[0].pressed.input;
        let same_input = begin > 0 && strokes[begin - 1].pressed.input == input;
        lead = if same_input { lead + 1 } else { 0 };
        begin += row.len();
        let last = row[row.len() - 1].pressed.input;
        let more = strokes[begin..].iter().take_while(|stroke| stroke.pressed.input == last).count();
        InputRow { strokes: row, lead, after: &strokes[begin + more - 1].answer.text }
    })
}

impl InputRow<'_> {
    pub(crate) fn is_secret(&self) -> bool {
        let Self { strokes, .. } = self;
        if strokes.iter().any(|stroke| stroke.pressed.typed == Typed::Secret) {
            return true;
        }
        if strokes.iter().any(|stroke| !stroke.ends_row() && stroke.echoes == Some(false)) {
            return true;
        }
        let known = strokes.iter().any(|stroke| stroke.echoes == Some(true));
        let asked = asks(&strokes[0].row);
        let ended = strokes[strokes.len() - 1].is_enter();
        let elsewhere = strokes.iter().any(|stroke| stroke.alternate);
        let typed = self.typed();
        let suspect = !typed.is_empty() && (asked || (ended && !elsewhere));
        suspect && !known && self.shown(&typed) * 2 < typed.chars().count().min(MOST_TYPED)
    }

    /// The text that was typed.
    pub(crate) fn typed(&self) -> String {
        let mut text = String::new();
        for stroke in self.strokes {
            match &stroke.pressed.typed {
                Typed::Char(c) => text.push(*c),
                Typed::Paste(pasted) => text.push_str(pasted),
                Typed::Key(_) | Typed::Secret => {}
            }
        }
        text
    }

    /// How many characters of `typed` appear, in their order, in what came back up to the end of the row.
    pub(crate) fn shown(&self, typed: &str) -> usize {
        if self.lead > 0 {
            // Where several rows came at once it is not known where the echo of this one ends: it must be there whole.
            return if self.after.contains(typed) { typed.chars().count() } else { 0 };
        }
        let before = &self.strokes[..self.strokes.len() - 1];
        let echo = self.after.split('\n').next().unwrap_or_default();
        let came = before.iter().flat_map(|stroke| stroke.answer.text.chars()).chain(echo.chars());
        // From the end backwards, so that what was passed can be cut off.
        let mut rest: Vec<char> = came.take(MOST_SHOWN).collect();
        rest.reverse();
        let mut count = 0;
        for c in typed.chars().take(MOST_TYPED) {
            if let Some(found) = rest.iter().rposition(|shown| *shown == c) {
                rest.truncate(found);
                count += 1;
            }
        }
        count
    }
}

fn asks(row: &str) -> bool {
    let row = row.to_lowercase();
    let mut words = row.split(|c: char| !c.is_alphanumeric());
    words.any(|word| ASKS_WHOLE.contains(&word)) || ASKS.iter().any(|word| row.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> What {
        What::Output(text.into())
    }

    fn input(text: &str) -> What {
        What::Input { text: text.into(), echoes: None }
    }

    fn seen(text: &str, echoes: bool) -> What {
        What::Input { text: text.into(), echoes: Some(echoes) }
    }

    fn cast(events: &[What]) -> Cast {
        let event = |(number, what): (usize, &What)| Event {
            at: Duration::from_millis(100 * number as u64),
            what: what.clone(),
        };
        Cast { events: events.iter().enumerate().map(event).collect(), ..Cast::default() }
    }

    /// What is left of the input when secrets are taken out.
    fn left(events: &[What]) -> Vec<String> {
        let kept = cast(events).without_secrets();
        let said = |event: Event| match event.what {
            What::Input { text, .. } => Some(text),
            What::Secret => Some("SECRET".into()),
            _ => None,
        };
        kept.events.into_iter().filter_map(said).collect()
    }

    #[test]
    fn what_is_echoed_is_no_secret() {
        assert_eq!(
            left(&[output("$ "), input("l"), output("l"), input("s\r"), output("s\r\nfile\r\n$ ")]),
            ["l", "s\r"]
        );
    }

    #[test]
    fn what_a_line_says_it_hides_is_one() {
        let events =
            [output("name: "), seen("hun", false), seen("t\x7fter2\r", false), output("\r\n$ "), seen("l", true)];
        assert_eq!(left(&events), ["SECRET", "\r", "l"]);
    }

    #[test]
    fn what_was_not_shown_is_one_wherever_it_came_from() {
        assert_eq!(left(&[output("Code? "), input("hunter2"), input("\r"), output("\r\nok\r\n")]), ["SECRET", "\r"]);
        assert_eq!(
            left(&[output("Passphrase: "), input("a"), output("*"), input("b"), output("*"), input("\r")]),
            ["SECRET", "\r"]
        );
        // It was interrupted before Enter.
        assert_eq!(left(&[output("Password: "), input("hun"), input("\x03"), output("\r\n$ ")]), ["SECRET", "\x03"]);
    }

    #[test]
    fn what_happens_while_one_is_typed_has_one_instant() {
        let events = [
            output("Password: "),
            input("a"),
            output("*"),
            input("b"),
            output("*\r\nmail\r\n"),
            input("c"),
            input("\r"),
            output("\r\n$ "),
        ];
        let kept = cast(&events).without_secrets();
        let instants: Vec<u128> = kept.events.iter().map(|event| event.at.as_millis()).collect();
        assert_eq!(instants, [0, 600, 600, 600, 600, 700]);
        assert_eq!(left(&events), ["SECRET", "\r"]);
        // Asked again, it is another.
        let twice = [output("PIN: "), input("12"), output("\r\nPIN again: "), input("12"), output("\r\nok")];
        assert_eq!(left(&twice), ["SECRET", "SECRET"]);
    }

    #[test]
    fn all_in_one_input_is_taken_apart() {
        let events = [output("Password: "), input("hunter2\rls\r"), output("\r\n$ ls\r\nfile\r\n$ ")];
        assert_eq!(left(&events)[..2], ["SECRET", "\r"]);
        assert_eq!(left(&events)[2..].concat(), "ls\r");
        let pasted = [output("$ "), input("ls\rpwd\r"), output("ls\r\nfile\r\n$ pwd\r\n/\r\n$ ")];
        assert_eq!(left(&pasted), ["ls\rpwd\r"]);
    }

    #[test]
    fn commands_of_a_whole_screen_are_none() {
        let events =
            [output("\x1b[?1049h~\r\n~"), input("dd"), output("\x1b[H"), input("ZZ"), input("\r"), output("$ ")];
        assert_eq!(left(&events), ["dd", "ZZ", "\r"]);
        let asked = [output("\x1b[?1049hPIN: "), input("1234"), output("****"), input("\r"), output("ok")];
        assert_eq!(left(&asked), ["SECRET", "\r"]);
    }

    #[test]
    fn pages_of_a_pager_on_the_main_screen_are_none() {
        let events = [
            output("--More--"),
            input(" "),
            output("\r\nrow\r\n--More--"),
            input("q"),
            output("\r\n$ "),
            input("ls\r"),
            output("ls\r\n"),
        ];
        assert_eq!(left(&events), [" ", "q", "ls\r"]);
    }

    #[test]
    fn a_secret_that_is_none_already_stays_one() {
        assert_eq!(left(&[output("Password: "), What::Secret, input("\r"), output("\r\n$ ")]), ["SECRET", "\r"]);
    }
}
