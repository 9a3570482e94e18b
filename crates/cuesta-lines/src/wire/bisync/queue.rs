//! Messages that wait to be sent.

use std::collections::VecDeque;

use thiserror::Error;

/// Why text is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OfferError {
    #[error("the queue has no room now")]
    Full,
    #[error("control character {byte:#04x} at {at}, and text may not be sent transparent")]
    ControlCharacter { byte: u8, at: usize },
    #[error("the station is disconnected")]
    Disconnected,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Queue {
    /// Only the last one may be incomplete.
    messages: VecDeque<Message>,
    /// Whether the message being offered was given up: its rest is dropped.
    drops_rest: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Message {
    text: Vec<u8>,
    /// How much of the text is acknowledged.
    acknowledged: usize,
    complete: bool,
}

impl Queue {
    /// Number of characters, and one for each message.
    pub(super) fn len(&self) -> usize {
        self.messages.iter().map(|message| message.text.len() - message.acknowledged + 1).sum()
    }

    /// Adds text to the last message if that is incomplete, otherwise as a new one.
    pub(super) fn offer(&mut self, text: &[u8], complete: bool) {
        if self.drops_rest {
            self.drops_rest = !complete;
            return;
        }
        match self.messages.back_mut() {
            Some(last) if !last.complete => {
                last.text.extend_from_slice(text);
                last.complete = complete;
            }
            _ => self.messages.push_back(Message { text: text.to_vec(), acknowledged: 0, complete }),
        }
    }

    /// The text of the first message that is not acknowledged, and whether it is complete, if there is something to send.
    pub(super) fn head(&self) -> Option<(&[u8], bool)> {
        let Message { text, acknowledged, complete } = self.messages.front()?;
        let text = &text[*acknowledged..];
        (*complete || !text.is_empty()).then_some((text, *complete))
    }

    /// The first `len` characters of the first message were acknowledged.
    pub(super) fn acknowledge(&mut self, len: usize) {
        if let Some(head) = self.messages.front_mut() {
            head.acknowledged = head.text.len().min(head.acknowledged + len);
        }
    }

    /// Removes the first message. Returns whether there was one.
    pub(super) fn remove(&mut self) -> bool {
        let Some(message) = self.messages.pop_front() else { return false };
        self.drops_rest = !message.complete;
        true
    }
}
