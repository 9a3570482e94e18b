//! Output that waits for its line: characters with their due instants.

use std::collections::VecDeque;
use std::ops::Range;

use cuesta_record::Stamp;

/// Capacity that an empty output keeps, so that idle lines are small.
const KEPT_CAPACITY: usize = 256;
/// Most due instants of one line: each takes as much memory as 16 characters.
const MOST_DUE: usize = 512;

/// The output queue of one line, in order. An answer never overtakes an earlier one.
#[derive(Debug, Default)]
pub(crate) struct Output {
    characters: Vec<u8>,
    /// How many at the head of `characters` were sent.
    gone: usize,
    /// Due instants, each with a number of characters; the numbers add up to the waiting characters.
    due: VecDeque<(Stamp, usize)>,
}

impl Output {
    /// Number of waiting characters.
    pub(crate) fn len(&self) -> usize {
        self.characters.len() - self.gone
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether no more due instants fit.
    pub(crate) fn is_crowded(&self) -> bool {
        self.due.len() >= MOST_DUE
    }

    /// Adds `len` characters that are due at `due`, written by `fill`.
    pub(crate) fn push(&mut self, due: Stamp, len: usize, fill: impl FnOnce(&mut [u8])) {
        self.characters.drain(..std::mem::take(&mut self.gone));
        let end = self.characters.len();
        self.characters.resize(end + len, 0);
        fill(&mut self.characters[end..]);
        match self.due.back_mut() {
            Some((last, count)) if *last >= due => *count += len,
            _ => self.due.push_back((due, len)),
        }
    }

    /// The characters at the head that are due at `now`.
    pub(crate) fn ready(&self, now: Stamp) -> &[u8] {
        let count: usize = self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, count)| count).sum();
        &self.characters[self.waiting(count)]
    }

    /// When the first waiting character is due.
    pub(crate) fn next_due(&self) -> Option<Stamp> {
        self.due.front().map(|(due, _)| *due)
    }

    /// Removes `count` characters that the line took.
    pub(crate) fn sent(&mut self, mut count: usize) {
        self.gone += count;
        while let Some((_, first)) = self.due.front_mut() {
            if *first > count {
                *first -= count;
                break;
            }
            count -= *first;
            self.due.pop_front();
        }
        if self.is_empty() {
            self.gone = 0;
            self.characters.clear();
            self.characters.shrink_to(KEPT_CAPACITY);
            self.due.shrink_to(KEPT_CAPACITY / size_of::<(Stamp, usize)>());
        }
    }

    fn waiting(&self, count: usize) -> Range<usize> {
        self.gone..self.gone + count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: Stamp = Stamp::from_nanos(10);
    const LATE: Stamp = Stamp::from_nanos(20);

    fn push(output: &mut Output, due: Stamp, text: &[u8]) {
        output.push(due, text.len(), |into| into.copy_from_slice(text));
    }

    #[test]
    fn characters_leave_when_due_and_in_order() {
        let mut output = Output::default();
        push(&mut output, EARLY, b"one");
        push(&mut output, LATE, b"two");
        assert_eq!(output.ready(Stamp::from_nanos(9)), b"");
        assert_eq!(output.ready(EARLY), b"one");
        output.sent(2);
        assert_eq!((output.ready(EARLY), output.ready(LATE)), (&b"e"[..], &b"etwo"[..]));
        output.sent(1);
        assert_eq!(output.next_due(), Some(LATE));
        push(&mut output, EARLY, b"!");
        assert_eq!((output.ready(EARLY), output.ready(LATE)), (&b""[..], &b"two!"[..]));
        output.sent(4);
        assert!(output.is_empty() && output.next_due().is_none());
    }

    #[test]
    fn an_idle_line_is_small() {
        let mut output = Output::default();
        push(&mut output, EARLY, &[b'x'; 4096]);
        output.sent(4096);
        for instant in 0..MOST_DUE as u64 {
            assert!(!output.is_crowded());
            push(&mut output, Stamp::from_nanos(instant), b"x");
        }
        assert!(output.is_crowded());
        output.sent(MOST_DUE);
        assert!(output.characters.capacity() <= KEPT_CAPACITY && output.due.capacity() <= KEPT_CAPACITY / 16);
    }
}
