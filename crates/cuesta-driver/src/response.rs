//! Judges by the wait condition whether what has come since the last key is the complete response.

use std::time::Duration;

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_screen::vt::StreamParser;
use cuesta_tape::WaitCondition;

use crate::text::Text;

/// This many bytes since the last key are a flood, which is counted once.
const FLOOD: u64 = 16 << 20;

/// Counts what has come since the last key, without echoes, and finds when the response is complete.
#[derive(Debug, Default)]
pub(crate) struct ResponseMatcher {
    bytes: u64,
    /// Characters without control functions and control characters.
    characters: u64,
    stream: StreamParser,
    first: Option<Stamp>,
    last: Option<Stamp>,
    done: Option<Done>,
    /// A key was sent whose input has no response yet.
    input_goes_on: bool,
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
    /// How long after `at` it was accepted. Until then it could have been an echo, because keys waited for theirs.
    pub(crate) held_for: Duration,
}

impl ResponseMatcher {
    /// Whether the last `added` bytes have made it a flood.
    pub(crate) fn floods(&self, added: usize) -> bool {
        self.bytes >= FLOOD && self.bytes - (added as u64) < FLOOD
    }

    /// Whether text is kept from now on.
    pub(crate) fn keep_text(&mut self, with_text: bool) {
        if self.text.is_some() != with_text {
            self.text = with_text.then(Box::default);
        }
    }

    /// Begins again when a key is sent, since output from before the key does not answer it. `typed`: the characters of the key
    /// whose echo may come as text. Says whether the key is the first since the last response.
    pub(crate) fn restart(&mut self, typed: &[u8]) -> bool {
        let begins_input = !self.input_goes_on;
        let text = self.text.take().map(|mut text| {
            text.restart(typed, begins_input);
            text
        });
        *self = Self { text, stream: self.stream, input_goes_on: true, ..Self::default() };
        begins_input
    }

    /// The input's response has come or was given up: the next key begins another input.
    pub(crate) fn end_input(&mut self) {
        self.input_goes_on = false;
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

    /// Takes bytes that are no echoes, from index `from` of a read on.
    pub(crate) fn take(&mut self, condition: Option<&WaitCondition>, bytes: &[u8], from: usize, received: &Received) {
        let Some(last) = bytes.len().checked_sub(1) else { return };
        let before = self.bytes;
        self.bytes += bytes.len() as u64;
        self.first.get_or_insert(received.at_character(from));
        self.last = Some(received.at_character(from + last));
        if let Some(text) = &mut self.text {
            text.push(bytes);
        }
        let completed = match condition {
            Some(WaitCondition::Characters(wanted)) => self.index_of_character(bytes, *wanted),
            Some(WaitCondition::Bytes(wanted)) if self.bytes >= *wanted => {
                Some(wanted.saturating_sub(before + 1) as usize)
            }
            _ => None,
        };
        self.characters += self.stream.count(bytes) as u64;
        if let Some(index) = completed.filter(|_| self.done.is_none()) {
            self.complete(received.at_character(from + index));
        }
    }

    /// The index of the byte with which as many characters as wanted have come.
    fn index_of_character(&self, bytes: &[u8], wanted: u64) -> Option<usize> {
        let (mut stream, mut characters) = (self.stream, self.characters);
        bytes.iter().position(|byte| {
            characters += stream.count(std::slice::from_ref(byte)) as u64;
            characters >= wanted
        })
    }

    /// The wait condition changed: judges what has come again.
    pub(crate) fn judge_again(&mut self, condition: &WaitCondition) {
        self.done = None;
        let Some(last) = self.last else { return };
        let is_met = match condition {
            WaitCondition::Bytes(wanted) => self.bytes >= *wanted,
            WaitCondition::Characters(wanted) => self.characters >= *wanted,
            _ => false,
        };
        if is_met {
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
    fn a_wait_for_characters_counts_no_control_functions() {
        let condition = WaitCondition::Characters(3);
        let mut response = ResponseMatcher::default();
        let come = ["\x1b[1", ";32m\u{6f22}\r\n", "\u{1b}]0;title\x07\u{e9}"];
        for text in come {
            response.take(Some(&condition), text.as_bytes(), 0, &read(100, text.len()));
            assert_eq!(response.done(), None, "{text:?}");
        }
        response.take(Some(&condition), b"xy", 0, &read(200, 2));
        assert_eq!(response.done().expect("complete").at.as_nanos(), 200);
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
        response.restart(b"");
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
