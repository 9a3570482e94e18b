//! Replaces secrets that the host printed later by stars.

use std::collections::BTreeSet;

use cuesta_screen::vt::StreamParser;

use crate::cast::{Event, EventKind};

/// Replaces each of these texts in the output by stars, also across events.
pub(crate) fn without_texts(events: &mut [Vec<Event>], texts: &BTreeSet<&str>) {
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    let mut recent = String::new();
    let mut found = Vec::new();
    each_readable(events, |number, c| {
        recent.push(c);
        let ends = texts.iter().filter(|text| recent.ends_with(*text)).map(|text| text.chars().count());
        found.extend(ends.max().map(|length| (number + 1 - length, number)));
        if recent.len() > 2 * longest + 64 {
            let keep = recent.char_indices().rev().take_while(|(at, _)| recent.len() - at <= longest).last();
            recent.drain(..keep.map_or(0, |(at, _)| at));
        }
        c
    });
    if found.is_empty() {
        return;
    }
    let mut found = found.into_iter().peekable();
    each_readable(events, |number, c| {
        while found.next_if(|(_, last)| *last < number).is_some() {}
        let hidden = found.peek().is_some_and(|(first, _)| *first <= number);
        if hidden && c != ' ' { '*' } else { c }
    });
}

/// Maps each readable character; `change` gets its index.
fn each_readable(events: &mut [Vec<Event>], mut change: impl FnMut(usize, char) -> char) {
    let mut parser = StreamParser::default();
    let mut number = 0;
    for event in events.iter_mut().flatten() {
        let EventKind::Output(text) = &mut event.kind else { continue };
        let changed = text.chars().map(|c| {
            if !parser.is_readable(c) {
                return c;
            }
            number += 1;
            change(number - 1, c)
        });
        *text = changed.collect();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_text_is_found_across_events_and_control_functions() {
        let outputs = ["ok hun", "\x1b[1mter\x1b[m2 hu", "nter hunter2hunter2"];
        let event = |text: &&str| vec![Event { at: Duration::ZERO, kind: EventKind::Output((*text).into()) }];
        let mut events: Vec<_> = outputs.iter().map(event).collect();
        without_texts(&mut events, &BTreeSet::from(["hunter2", "other"]));
        let texts: Vec<_> = events.concat().into_iter().map(|event| event.kind).collect();
        let wanted = ["ok ***", "\x1b[1m***\x1b[m* hu", "nter **************"];
        assert_eq!(texts, wanted.map(|text| EventKind::Output(text.into())));
    }
}
