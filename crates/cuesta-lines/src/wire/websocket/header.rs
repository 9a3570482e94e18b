//! The head of a frame (RFC 6455 §5.2).

use super::{FrameError, LONGEST_MESSAGE, MessageKind, Role};

/// The longest head: two bytes, a length of eight, a mask of four.
pub(super) const LONGEST: usize = 14;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation,
    Message(MessageKind),
    Close,
    Ping,
    Pong,
}

impl Opcode {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Message(MessageKind::Text) => 1,
            Self::Message(MessageKind::Binary) => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }

    fn from_number(number: u8) -> Result<Self, FrameError> {
        Ok(match number {
            0 => Self::Continuation,
            1 => Self::Message(MessageKind::Text),
            2 => Self::Message(MessageKind::Binary),
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return Err(FrameError::Opcode(number)),
        })
    }

    pub(super) fn is_control(self) -> bool {
        self.number() >= 8
    }
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) opcode: Opcode,
    /// It ends its message.
    pub(super) is_last: bool,
    /// RSV1: its message is compressed.
    pub(super) is_compressed: bool,
    /// Bytes of the payload.
    pub(super) len: usize,
    pub(super) mask: [u8; 4],
}

impl Header {
    /// Reads a head that `role` receives, with its size; none if it is not whole.
    pub(super) fn parse(bytes: &[u8], role: Role) -> Result<Option<(Self, usize)>, FrameError> {
        let [first, second, ..] = *bytes else { return Ok(None) };
        if first & 0x30 != 0 {
            return Err(FrameError::ReservedBit);
        }
        match (role, second & 0x80 != 0) {
            (Role::Client, true) => return Err(FrameError::Masked),
            (Role::Server, false) => return Err(FrameError::Unmasked),
            _ => {}
        }
        let opcode = Opcode::from_number(first & 0x0f)?;
        let (is_last, is_compressed) = (first & 0x80 != 0, first & 0x40 != 0);
        let short = second & 0x7f;
        if opcode.is_control() && (!is_last || short > 125) {
            return Err(FrameError::Control);
        }
        if is_compressed && !matches!(opcode, Opcode::Message(_)) {
            return Err(FrameError::ReservedBit);
        }
        let Some((len, size)) = parse_length(bytes, short)? else { return Ok(None) };
        let frame = Self { opcode, is_last, is_compressed, len, mask: [0; 4] };
        if role == Role::Client {
            return Ok(Some((frame, size)));
        }
        let mask = bytes.get(size..size + 4).and_then(|mask| mask.try_into().ok());
        Ok(mask.map(|mask| (Self { mask, ..frame }, size + 4)))
    }
}

/// The length of the payload and the size of what precedes the mask; none if it is not whole.
fn parse_length(bytes: &[u8], short: u8) -> Result<Option<(usize, usize)>, FrameError> {
    let (len, size, least) = match (short, bytes) {
        (126, [_, _, a, b, ..]) => (u64::from(u16::from_be_bytes([*a, *b])), 4, 126),
        (127, [_, _, long @ ..]) if long.len() >= 8 => {
            let long = long.first_chunk().copied().unwrap_or_default();
            (u64::from_be_bytes(long), 10, 1 << 16)
        }
        (126 | 127, _) => return Ok(None),
        (short, _) => (u64::from(short), 2, 0),
    };
    if len < least || len >> 63 == 1 {
        return Err(FrameError::Length);
    }
    match usize::try_from(len) {
        Ok(len) if len <= LONGEST_MESSAGE => Ok(Some((len, size))),
        _ => Err(FrameError::TooLong),
    }
}
