//! Finds messages in received bytes.

use std::mem;
use std::ops::Range;

use super::header::{Header, LONGEST, Opcode};
use super::sender::apply_mask;
use super::{FrameError, Inflater, LONGEST_MESSAGE, MessageKind, Role};

/// Most fragments of a message: they may be empty. ttyd sends some of 1 KiB.
const MOST_FRAGMENTS: u32 = 100_000;

/// What the other end sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A whole message.
    Message(MessageKind, Content),
    Ping(Vec<u8>),
    Pong,
    /// The other end closes; nothing after it counts. A code and a reason, if it gives them.
    Close(Option<u16>, String),
}

/// The payload of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// In the piece that was received.
    Here(Range<usize>),
    /// It came in several pieces, or compressed.
    Held(Vec<u8>),
}

/// Finds the messages that one end receives. It holds nothing between messages.
#[derive(Debug)]
pub struct Receiver {
    role: Role,
    /// The first bytes of a head that has not come whole.
    head: [u8; LONGEST],
    head_len: u8,
    /// The frame whose payload is not whole, and how many bytes of it were received.
    frame: Option<(Header, usize)>,
    /// A message that is not whole: its type, and whether it is compressed.
    message: Option<(MessageKind, bool)>,
    /// The bytes of the message that were received, and in how many fragments.
    held: Vec<u8>,
    fragments: u32,
    /// The received bytes of a control frame, which may stand within a message.
    control: Vec<u8>,
    inflater: Option<Box<Inflater>>,
}

impl Receiver {
    pub fn new(role: Role) -> Self {
        Self {
            role,
            head: [0; LONGEST],
            head_len: 0,
            frame: None,
            message: None,
            held: Vec::new(),
            fragments: 0,
            control: Vec::new(),
            inflater: None,
        }
    }

    /// Takes compressed messages too.
    #[must_use]
    pub fn with_inflater(self, inflater: Inflater) -> Self {
        Self { inflater: Some(Box::new(inflater)), ..self }
    }

    /// Whether what was received ends within a frame or a message.
    pub fn is_within_a_message(&self) -> bool {
        self.head_len > 0 || self.frame.is_some() || self.message.is_some()
    }

    /// Takes bytes, up to the end of a frame. Returns how many it took, and what became whole. Unmasks in place.
    ///
    /// # Errors
    /// When the other end breaks the protocol; nothing can be received after that.
    pub fn receive(&mut self, piece: &mut [u8]) -> Result<(usize, Option<Event>), FrameError> {
        let (frame, came, begins) = match self.frame.take() {
            Some((frame, came)) => (frame, came, 0),
            None => match self.take_head(piece)? {
                (taken, None) => return Ok((taken, None)),
                (taken, Some(frame)) => (frame, 0, taken),
            },
        };
        let ends = begins + (frame.len - came).min(piece.len() - begins);
        if self.role == Role::Server {
            apply_mask(&mut piece[begins..ends], frame.mask, came);
        }
        let is_whole = came + (ends - begins) == frame.len;
        if !is_whole {
            self.frame = Some((frame, came + (ends - begins)));
        }
        let event = if frame.opcode.is_control() {
            self.control.extend_from_slice(&piece[begins..ends]);
            if is_whole { Some(self.end_control(frame.opcode)?) } else { None }
        } else {
            self.take_content(frame, piece, begins..ends, is_whole)?
        };
        Ok((ends, event))
    }

    /// Takes the bytes of a head. Returns how many, and the head if it is whole.
    fn take_head(&mut self, piece: &[u8]) -> Result<(usize, Option<Header>), FrameError> {
        let before = usize::from(self.head_len);
        let (parsed, taken) = if before == 0 {
            (Header::parse(piece, self.role)?, piece.len().min(LONGEST))
        } else {
            let taken = piece.len().min(LONGEST - before);
            self.head[before..before + taken].copy_from_slice(&piece[..taken]);
            (Header::parse(&self.head[..before + taken], self.role)?, taken)
        };
        let Some((frame, size)) = parsed else {
            self.head[before..before + taken].copy_from_slice(&piece[..taken]);
            self.head_len += taken as u8;
            return Ok((taken, None));
        };
        self.head_len = 0;
        self.check(&frame)?;
        Ok((size - before, Some(frame)))
    }

    /// Checks that a frame may follow, and begins its message.
    fn check(&mut self, frame: &Header) -> Result<(), FrameError> {
        if frame.is_compressed && self.inflater.is_none() {
            return Err(FrameError::ReservedBit);
        }
        match (frame.opcode, self.message) {
            (Opcode::Continuation, None) => Err(FrameError::NothingToContinue),
            (Opcode::Message(_), Some(_)) => Err(FrameError::Interleaved),
            (Opcode::Message(kind), None) => {
                (self.message, self.fragments) = (Some((kind, frame.is_compressed)), 1);
                Ok(())
            }
            (Opcode::Continuation, Some(_)) => {
                self.fragments += 1;
                let is_too_long = self.held.len() + frame.len > LONGEST_MESSAGE || self.fragments > MOST_FRAGMENTS;
                if is_too_long { Err(FrameError::TooLong) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Takes a piece of a message; returns the message if it is whole.
    fn take_content(
        &mut self,
        frame: Header,
        piece: &[u8],
        range: Range<usize>,
        is_whole: bool,
    ) -> Result<Option<Event>, FrameError> {
        let is_last = is_whole && frame.is_last;
        let (kind, is_compressed) = self.message.unwrap_or((MessageKind::Binary, false));
        if is_last && self.held.is_empty() && !is_compressed {
            self.message = None;
            check_text(kind, &piece[range.clone()])?;
            return Ok(Some(Event::Message(kind, Content::Here(range))));
        }
        self.held.extend_from_slice(&piece[range]);
        if !is_last {
            return Ok(None);
        }
        self.message = None;
        let mut message = mem::take(&mut self.held);
        if let (true, Some(inflater)) = (is_compressed, &mut self.inflater) {
            message = inflater.inflate(message)?;
        }
        check_text(kind, &message)?;
        Ok(Some(Event::Message(kind, Content::Held(message))))
    }

    fn end_control(&mut self, opcode: Opcode) -> Result<Event, FrameError> {
        let payload = mem::take(&mut self.control);
        match opcode {
            Opcode::Ping => Ok(Event::Ping(payload)),
            Opcode::Pong => Ok(Event::Pong),
            _ => parse_close(&payload),
        }
    }
}

fn check_text(kind: MessageKind, message: &[u8]) -> Result<(), FrameError> {
    if kind == MessageKind::Text && std::str::from_utf8(message).is_err() {
        return Err(FrameError::NotUtf8);
    }
    Ok(())
}

/// Reads the payload of a close frame. Codes that must not be sent (1005, 1006, 1015) are taken as they are: ttyd 1.7.7 sends 1006.
fn parse_close(payload: &[u8]) -> Result<Event, FrameError> {
    let [high, low, reason @ ..] = payload else {
        return if payload.is_empty() { Ok(Event::Close(None, String::new())) } else { Err(FrameError::Close) };
    };
    let code = u16::from_be_bytes([*high, *low]);
    match std::str::from_utf8(reason) {
        Ok(reason) if (1000..5000).contains(&code) => Ok(Event::Close(Some(code), reason.to_owned())),
        _ => Err(FrameError::Close),
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Compress, Compression, FlushCompress};
    use proptest::prelude::*;

    use super::*;
    use crate::wire::websocket::Sender;

    /// All events in bytes that come in pieces of `size`, with the messages' payloads.
    fn receive(receiver: &mut Receiver, bytes: &[u8], size: usize) -> Result<Vec<Event>, FrameError> {
        let mut events = Vec::new();
        for piece in bytes.chunks(size) {
            let mut piece = piece.to_vec();
            let mut at = 0;
            while at < piece.len() {
                let (taken, event) = receiver.receive(&mut piece[at..])?;
                let event = event.map(|event| match event {
                    Event::Message(kind, Content::Here(range)) => {
                        Event::Message(kind, Content::Held(piece[at..][range].to_vec()))
                    }
                    other => other,
                });
                events.extend(event);
                at += taken;
            }
        }
        Ok(events)
    }

    fn client(bytes: &[u8], size: usize) -> Result<Vec<Event>, FrameError> {
        receive(&mut Receiver::new(Role::Client), bytes, size)
    }

    fn message(kind: MessageKind, payload: &[u8]) -> Event {
        Event::Message(kind, Content::Held(payload.to_vec()))
    }

    #[test]
    fn the_examples_of_the_standard_are_read() {
        let hello = |text: &str| message(MessageKind::Text, text.as_bytes());
        for size in 1..8 {
            assert_eq!(client(b"\x81\x05Hello", size), Ok(vec![hello("Hello")]));
            let fragments = b"\x01\x03Hel\x89\x02hi\x80\x02lo";
            assert_eq!(client(fragments, size), Ok(vec![Event::Ping(b"hi".to_vec()), hello("Hello")]));
            let mut server = Receiver::new(Role::Server);
            let masked = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
            assert_eq!(receive(&mut server, masked, size), Ok(vec![hello("Hello")]));
        }
    }

    #[test]
    fn a_compressed_message_is_inflated_and_may_refer_to_the_one_before() {
        // RFC 7692 §7.2.3.2.
        let mut receiver = Receiver::new(Role::Client).with_inflater(Inflater::default());
        let bytes = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00";
        let hello = || message(MessageKind::Text, b"Hello");
        assert_eq!(receive(&mut receiver, bytes, 3), Ok(vec![hello(), hello()]));
    }

    #[test]
    fn a_message_may_end_its_stream() {
        // RFC 7692 §7.2.3.4: a block that says that it is the last.
        let mut receiver = Receiver::new(Role::Client).with_inflater(Inflater::default());
        let bytes = b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00".repeat(2);
        let hello = || message(MessageKind::Text, b"Hello");
        assert_eq!(receive(&mut receiver, &bytes, 3), Ok(vec![hello(), hello()]));
    }

    #[test]
    fn a_message_that_inflates_for_ever_is_refused() {
        let mut deflated = Compress::new(Compression::best(), false);
        let mut bomb = Vec::with_capacity(64 << 10);
        let zeros = vec![0; LONGEST_MESSAGE + 1];
        deflated.compress_vec(&zeros, &mut bomb, FlushCompress::Sync).unwrap();
        assert!(bomb.len() < 32 << 10);
        let head = [&[0xc2, 0x7e][..], &(bomb.len() as u16).to_be_bytes()].concat();
        let mut receiver = Receiver::new(Role::Client).with_inflater(Inflater::default());
        assert_eq!(receive(&mut receiver, &[head, bomb].concat(), 4096), Err(FrameError::TooLong));
    }

    #[test]
    fn what_the_standard_forbids_is_refused() {
        use FrameError as E;
        for (bytes, error) in [
            (&b"\xa1\x00"[..], E::ReservedBit),
            (b"\xc1\x00", E::ReservedBit),
            (b"\x83\x00", E::Opcode(3)),
            (b"\x81\x80\0\0\0\0", E::Masked),
            (b"\x81\x7e\x00\x05", E::Length),
            (b"\x09\x00", E::Control),
            (b"\x89\x7e\x00\x7e", E::Control),
            (b"\x80\x00", E::NothingToContinue),
            (b"\x01\x01a\x81\x01b", E::Interleaved),
            (b"\x81\x01\xff", E::NotUtf8),
            (b"\x88\x01\x03", E::Close),
            (b"\x88\x02\x00\x01", E::Close),
            (b"\x88\x03\x03\xe8\xff", E::Close),
            (b"\x82\x7f\x00\x00\x00\x00\x40\x00\x00\x00", E::TooLong),
            (b"\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00", E::Length),
        ] {
            for size in 1..12 {
                assert_eq!(client(bytes, size), Err(error), "{bytes:x?} in pieces of {size}");
            }
        }
        assert_eq!(receive(&mut Receiver::new(Role::Server), b"\x81\x00", 2), Err(E::Unmasked));
    }

    #[test]
    fn a_close_code_that_must_not_be_sent_is_no_error() {
        assert_eq!(client(b"\x88\x02\x03\xee", 1), Ok(vec![Event::Close(Some(1006), String::new())]));
        assert_eq!(client(b"\x88\x00", 1), Ok(vec![Event::Close(None, String::new())]));
    }

    #[test]
    fn fragments_for_ever_are_refused_before_they_take_more_memory() {
        let mut receiver = Receiver::new(Role::Client);
        let mut fragment = vec![0x00, 0x7e, 0xff, 0xff];
        fragment.resize(4 + 0xffff, b'x');
        let mut first = fragment.clone();
        first[0] = 0x02;
        assert_eq!(receive(&mut receiver, &first, 4096), Ok(vec![]));
        let refused = (0..1000).find_map(|_| receive(&mut receiver, &fragment, 4096).err());
        assert_eq!(refused, Some(FrameError::TooLong));
        assert!(receiver.held.capacity() <= 2 * LONGEST_MESSAGE);
    }

    #[test]
    fn empty_fragments_for_ever_are_refused() {
        let mut receiver = Receiver::new(Role::Client);
        let bytes = [&b"\x02\x00"[..], &b"\x00\x00".repeat(MOST_FRAGMENTS as usize)].concat();
        assert_eq!(receive(&mut receiver, &bytes, 4096), Err(FrameError::TooLong));
    }

    proptest! {
        #[test]
        fn what_one_end_sends_the_other_receives(
            messages in prop::collection::vec((any::<bool>(), ".{0,300}", 0..3_usize), 1..8),
            size in 1..400_usize,
            seed: u32,
        ) {
            for (role, other) in [(Role::Client, Role::Server), (Role::Server, Role::Client)] {
                let mut sender = Sender::new(role, seed);
                let (mut bytes, mut sent) = (Vec::new(), Vec::new());
                for (is_text, text, times) in &messages {
                    let kind = if *is_text { MessageKind::Text } else { MessageKind::Binary };
                    let text = text.repeat(100_usize.pow(*times as u32));
                    sender.put_message(kind, text.as_bytes(), &mut bytes);
                    sent.push(message(kind, text.as_bytes()));
                    sender.put_ping(b"ping", &mut bytes);
                    sent.push(Event::Ping(b"ping".to_vec()));
                }
                let mut receiver = Receiver::new(other);
                prop_assert_eq!(receive(&mut receiver, &bytes, size), Ok(sent));
                prop_assert!(!receiver.is_within_a_message());
            }
        }
    }
}
