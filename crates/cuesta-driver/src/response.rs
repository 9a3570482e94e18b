//! Judges by the wait condition whether what has come since the last key is the complete response.

use std::time::Duration;

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_tape::WaitCondition;

use crate::text::Text;

/// This many characters since the last key are a flood, which is counted once.
const FLOOD: u64 = 16 << 20;

/// Counts what has come since the last key, without echoes, and finds when the response is complete.
#[derive(Debug, Default)]
pub(crate) struct ResponseMatcher {
    characters: u64,
    first: Option<Stamp>,
    last: Option<Stamp>,
    done: Option<Done>,
    /// Only if the program looks at text.
    text: Option<Box<Text>>,
}

/// A complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// When its first character came.
    pub(crate) first: Stamp,
    /// When its last character came.
    pub(crate) at: Stamp,
    /// How long the line was silent after `at` before the user took the response for complete; zero unless the wait was for
    /// silence.
    pub(crate) silence: Duration,
    /// How long after `at` it counted as the response. Until then it could have been an echo, because keys waited for theirs.
    pub(crate) held_for: Duration,
}

impl ResponseMatcher {
    /// Whether the last `last` characters make it a flood.
    pub(crate) fn floods(&self, last: usize) -> bool {
        self.characters >= FLOOD && self.characters - (last as u64) < FLOOD
    }

    /// Whether text is kept from now on.
    pub(crate) fn keep_text(&mut self, with_text: bool) {
        if self.text.is_some() != with_text {
            self.text = with_text.then(Box::default);
        }
    }

    /// Begins again when a key is sent, since output from before the key does not answer it. `typed`: the characters of the key
    /// whose echo may come as text. `begins_input`: the key is the first since the last response.
    pub(crate) fn restart(&mut self, typed: &[u8], begins_input: bool) {
        let text = self.text.take().map(|mut text| {
            text.restart(typed, begins_input);
            text
        });
        *self = Self { text, ..Self::default() };
    }

    /// The response, if it is complete. Silence and disconnection are found by the caller.
    pub(crate) fn done(&self) -> Option<Done> {
        self.done
    }

    /// The text without late echoes.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.as_ref().map_or(&[], |text| text.without_late_echo())
    }

    /// How many characters have come since the last key, without echoes.
    pub(crate) fn characters(&self) -> u64 {
        self.characters
    }

    /// When the first character came.
    pub(crate) fn first(&self) -> Option<Stamp> {
        self.first
    }

    /// When the last character came.
    pub(crate) fn last(&self) -> Option<Stamp> {
        self.last
    }

    /// Takes characters that are no echoes, from index `from` of a read on.
    pub(crate) fn take(&mut self, condition: Option<&WaitCondition>, bytes: &[u8], from: usize, received: &Received) {
        let Some(last) = bytes.len().checked_sub(1) else { return };
        let before = self.characters;
        self.characters += bytes.len() as u64;
        self.first.get_or_insert(received.at_character(from));
        self.last = Some(received.at_character(from + last));
        if let Some(text) = &mut self.text {
            text.push(bytes);
        }
        if self.done.is_some() {
            return;
        }
        if let Some(WaitCondition::Bytes(wanted)) = condition
            && self.characters >= *wanted
        {
            let index = from as u64 + wanted.saturating_sub(before + 1);
            self.complete(received.at_character(index as usize));
        }
    }

    /// The wait condition changed: judges what has come again.
    pub(crate) fn judge_again(&mut self, condition: &WaitCondition) {
        self.done = None;
        let Some(last) = self.last else { return };
        if matches!(condition, WaitCondition::Bytes(wanted) if self.characters >= *wanted) {
            self.complete(last);
        }
    }

    /// The screen has met the condition since `at`; the response began at `first`.
    pub(crate) fn complete_on_screen(&mut self, first: Stamp, at: Stamp) {
        if self.done.is_none() {
            self.done = Some(Done { first, at, silence: Duration::ZERO, held_for: Duration::ZERO });
        }
    }

    /// The complete response counts as such only from `until` on.
    pub(crate) fn was_held(&mut self, until: Stamp) {
        if let Some(done) = &mut self.done {
            done.held_for = until.since(done.at);
        }
    }

    /// The echo of the last key came.
    pub(crate) fn complete_by_echo(&mut self, at: Stamp) {
        self.first.get_or_insert(at);
        self.complete(at);
    }

    fn complete(&mut self, at: Stamp) {
        let first = self.first.unwrap_or(at);
        self.done = Some(Done { first, at, silence: Duration::ZERO, held_for: Duration::ZERO });
    }

    /// Nothing came for `silence` after the last character, or after `begun` if there was none.
    pub(crate) fn fell_silent(&self, begun: Stamp, silence: Duration) -> Done {
        let at = self.last.unwrap_or(begun);
        Done { first: self.first.unwrap_or(at), at, silence, held_for: Duration::ZERO }
    }

    /// The host closed the line.
    pub(crate) fn closed(&self, at: Stamp) -> Done {
        Done { first: self.first.unwrap_or(at), ..Self::acknowledged(at) }
    }

    /// The host acknowledged what was sent. Text that came before that is a message of its own, and no first sign of this.
    pub(crate) fn acknowledged(at: Stamp) -> Done {
        Done { first: at, at, silence: Duration::ZERO, held_for: Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(at: u64, len: usize) -> Received {
        Received { len, at: Stamp::from_nanos(at), per_character: Duration::from_nanos(10), ..Received::default() }
    }

    #[test]
    fn a_wait_for_bytes_is_complete_at_the_last_byte() {
        let condition = WaitCondition::Bytes(5);
        let mut response = ResponseMatcher::default();
        response.take(Some(&condition), b"abc", 0, &read(100, 3));
        assert_eq!(response.done(), None);
        response.take(Some(&condition), b"defgh", 2, &read(200, 7));
        let done = response.done().expect("complete");
        assert_eq!((done.first.as_nanos(), done.at.as_nanos()), (100, 230));
    }

    #[test]
    fn silence_is_not_part_of_the_answer() {
        let mut response = ResponseMatcher::default();
        response.take(Some(&WaitCondition::Silence(Duration::from_secs(1))), b"xy", 0, &read(100, 2));
        assert_eq!(response.done(), None);
        let done = response.fell_silent(Stamp::FAR, Duration::from_secs(1));
        assert_eq!((done.first.as_nanos(), done.at.as_nanos()), (100, 110));
    }

    #[test]
    fn text_before_the_last_key_does_not_count() {
        let mut response = ResponseMatcher::default();
        response.keep_text(true);
        response.take(None, b"ready", 0, &read(1, 5));
        response.restart(b"", true);
        response.take(None, b"working", 0, &read(2, 7));
        assert_eq!(response.text(), b"working");
        response.complete_on_screen(Stamp::from_nanos(40), Stamp::from_nanos(50));
        response.complete_on_screen(Stamp::from_nanos(60), Stamp::from_nanos(60));
        let done = response.done().expect("complete");
        assert_eq!((done.first.as_nanos(), done.at.as_nanos()), (40, 50));
        response.judge_again(&WaitCondition::Bytes(8));
        assert_eq!(response.done(), None);
    }
}
