//! The stream of frames (`ipc.net.ts`, `PersistentProtocol`): a kind, a number, the number of the last one received, a length, a body. A
//! message of the WebSocket holds several, or a piece of one that is longer than 256 KiB.

use std::mem;
use std::ops::Range;

use super::super::{Messages, SessionError};
use super::values::{Value, write_message};
use crate::wire::websocket::LONGEST_MESSAGE;

/// Length of a frame's head.
pub(super) const HEAD: usize = 13;

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// Calls and events. Only these have numbers.
    Regular = 1,
    /// The handshake.
    Control = 2,
    Disconnect = 5,
    KeepAlive = 9,
}

/// A frame that was received. A kind of none means that it does not matter on one connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) kind: Option<Kind>,
    pub(super) body: &'a [u8],
}

/// Both directions of the stream.
#[derive(Debug, Default)]
pub(super) struct Frames {
    sent: u32,
    received: u32,
    /// The first bytes of a frame that is not whole.
    held: Vec<u8>,
    /// The characters of frames that came in pieces.
    overflow: Vec<u8>,
}

impl Frames {
    /// Takes a message: passes each whole frame to `take`, and puts the text that it returns to the message's front. Returns where.
    pub(super) fn receive(
        &mut self,
        message: &mut [u8],
        take: impl FnMut(&mut Self, Frame) -> Result<Option<String>, SessionError>,
    ) -> Result<Range<usize>, SessionError> {
        if self.held.is_empty() {
            return self.take_frames(message, take).map(|len| 0..len);
        }
        self.held.extend_from_slice(message);
        if find_end(&self.held)?.is_none() {
            return Ok(0..0);
        }
        let mut bytes = mem::take(&mut self.held);
        let len = self.take_frames(&mut bytes, take)?;
        self.overflow.extend_from_slice(&bytes[..len]);
        Ok(0..0)
    }

    pub(super) fn take_overflow(&mut self) -> Vec<u8> {
        mem::take(&mut self.overflow)
    }

    fn take_frames(
        &mut self,
        bytes: &mut [u8],
        mut take: impl FnMut(&mut Self, Frame) -> Result<Option<String>, SessionError>,
    ) -> Result<usize, SessionError> {
        let (mut at, mut len) = (0, 0);
        while let Some(end) = find_end(&bytes[at..])?.map(|end| at + end) {
            let head = &bytes[at..at + HEAD];
            let kind = read_kind(head[0]);
            if kind == Some(Kind::Regular) {
                self.received = read_number(head, 1);
            }
            // Text is never longer than the frame that held it.
            if let Some(text) = take(self, Frame { kind, body: &bytes[at + HEAD..end] })? {
                bytes[len..len + text.len()].copy_from_slice(text.as_bytes());
                len += text.len();
            }
            at = end;
        }
        self.held.extend_from_slice(&bytes[at..]);
        Ok(len)
    }

    /// Adds a frame with this body.
    pub(super) fn put(&mut self, kind: Kind, body: &[u8], messages: &mut Messages) {
        let mut frame = Vec::with_capacity(HEAD + body.len());
        self.write_head(kind, &mut frame);
        frame.extend_from_slice(body);
        finish_frame(&mut frame, 0);
        if kind == Kind::Regular {
            self.note_sent();
        }
        messages.binary(frame);
    }

    /// Adds a frame with this value.
    pub(super) fn put_value(&mut self, value: &Value, messages: &mut Messages) {
        let mut body = Vec::new();
        value.write(&mut body);
        self.put(Kind::Regular, &body, messages);
    }

    /// Adds a frame with a message of a channel.
    pub(super) fn put_message(&mut self, head: Vec<Value>, value: &Value, messages: &mut Messages) {
        let mut body = Vec::new();
        write_message(head, value, &mut body);
        self.put(Kind::Regular, &body, messages);
    }

    /// Appends the head of a frame whose body is appended next; [`finish_frame`] writes its length.
    pub(super) fn write_head(&self, kind: Kind, frame: &mut Vec<u8>) {
        let number = if kind == Kind::Regular { self.sent + 1 } else { 0 };
        frame.push(kind as u8);
        frame.extend_from_slice(&number.to_be_bytes());
        frame.extend_from_slice(&self.received.to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
    }

    /// Notes that a regular frame was sent.
    pub(super) fn note_sent(&mut self) {
        self.sent += 1;
    }
}

/// Writes the length of the frame that begins at `begins`.
pub(super) fn finish_frame(frame: &mut [u8], begins: usize) {
    let len = (frame.len() - begins - HEAD) as u32;
    frame[begins + HEAD - 4..begins + HEAD].copy_from_slice(&len.to_be_bytes());
}

/// Where the first frame ends; none if it is not whole.
fn find_end(bytes: &[u8]) -> Result<Option<usize>, SessionError> {
    if bytes.len() < HEAD {
        return Ok(None);
    }
    let end = HEAD + read_number(bytes, 9) as usize;
    if end > LONGEST_MESSAGE {
        return Err(SessionError::OtherProtocol(format!(
            "expected frames of VS Code of at most {} MiB",
            LONGEST_MESSAGE >> 20
        )));
    }
    Ok((bytes.len() >= end).then_some(end))
}

fn read_number(head: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

fn read_kind(byte: u8) -> Option<Kind> {
    [Kind::Regular, Kind::Control, Kind::Disconnect, Kind::KeepAlive].into_iter().find(|kind| *kind as u8 == byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_pass_in_pieces_of_any_size() {
        let (mut sender, mut messages) = (Frames::default(), Messages::default());
        for text in ["first", "", "the third"] {
            sender.put(Kind::Regular, text.as_bytes(), &mut messages);
        }
        sender.put(Kind::KeepAlive, b"", &mut messages);
        let stream: Vec<u8> = messages.0.into_iter().flat_map(|(_, frame)| frame).collect();
        for size in [1, 7, 14, 30, 1000] {
            let (mut receiver, mut text, mut kinds) = (Frames::default(), Vec::new(), Vec::new());
            for piece in stream.chunks(size) {
                let mut piece = piece.to_vec();
                let range = receiver
                    .receive(&mut piece, |_, frame| {
                        kinds.push(frame.kind);
                        Ok(Some(String::from_utf8(frame.body.to_vec()).unwrap()))
                    })
                    .unwrap();
                text.extend_from_slice(&piece[range]);
                text.extend(receiver.take_overflow());
            }
            assert_eq!(text, b"firstthe third");
            assert_eq!(kinds.len(), 4);
            assert_eq!((receiver.received, receiver.held.len()), (3, 0));
        }
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused() {
        let mut head = [&[1; 9][..], &[0xff; 4]].concat();
        assert!(Frames::default().receive(&mut head, |_, _| Ok(None)).is_err());
    }
}
