//! Makes frames.

use super::header::{LONGEST, Opcode};
use super::{MessageKind, Role};

/// Room for the head of a frame, before its payload.
pub const HEAD: usize = LONGEST;

/// Makes the frames that one end sends.
#[derive(Debug)]
pub struct Sender {
    role: Role,
    /// The state of a xorshift generator. RFC 6455 §5.3 wants masks that web pages cannot predict; no web page chooses what is typed here.
    masks: u32,
}

impl Sender {
    /// An end whose masks follow from a seed.
    pub fn new(role: Role, seed: u32) -> Self {
        Self { role, masks: seed | 1 }
    }

    /// Makes a frame of a message: `frame` is [`HEAD`] bytes of room and the payload. Returns where in it the frame begins.
    pub fn seal_message(&mut self, kind: MessageKind, frame: &mut [u8]) -> usize {
        self.seal(Opcode::Message(kind), frame)
    }

    /// Appends a message.
    pub fn put_message(&mut self, kind: MessageKind, payload: &[u8], out: &mut Vec<u8>) {
        self.put(Opcode::Message(kind), payload, out);
    }

    /// Appends a ping.
    pub fn put_ping(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.put(Opcode::Ping, payload, out);
    }

    /// Appends the answer to a ping.
    pub fn put_pong(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.put(Opcode::Pong, payload, out);
    }

    /// Appends a close frame; no code = an empty one.
    pub fn put_close(&mut self, code: Option<u16>, out: &mut Vec<u8>) {
        let code = code.map(u16::to_be_bytes);
        self.put(Opcode::Close, code.as_ref().map_or(&[], <[u8; 2]>::as_slice), out);
    }

    fn put(&mut self, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
        let before = out.len();
        out.resize(before + HEAD, 0);
        out.extend_from_slice(payload);
        let begins = self.seal(opcode, &mut out[before..]);
        out.drain(before..before + begins);
    }

    fn seal(&mut self, opcode: Opcode, frame: &mut [u8]) -> usize {
        let (head, payload) = frame.split_at_mut(HEAD);
        let mut begins = HEAD;
        let mut second = 0;
        if self.role == Role::Client {
            let mask = self.next_mask();
            apply_mask(payload, mask, 0);
            begins -= 4;
            head[begins..].copy_from_slice(&mask);
            second = 0x80;
        }
        let len = payload.len();
        match (u16::try_from(len), len) {
            (_, 0..=125) => second |= len as u8,
            (Ok(len), _) => {
                second |= 0x7e;
                head[begins - 2..begins].copy_from_slice(&len.to_be_bytes());
                begins -= 2;
            }
            _ => {
                second |= 0x7f;
                head[begins - 8..begins].copy_from_slice(&(len as u64).to_be_bytes());
                begins -= 8;
            }
        }
        head[begins - 2] = 0x80 | opcode.number();
        head[begins - 1] = second;
        begins - 2
    }

    fn next_mask(&mut self) -> [u8; 4] {
        // Marsaglia, "Xorshift RNGs" (2003), §4.
        self.masks ^= self.masks << 13;
        self.masks ^= self.masks >> 17;
        self.masks ^= self.masks << 5;
        self.masks.to_be_bytes()
    }
}

/// Masks or unmasks a piece of a payload that begins at `from`.
pub(super) fn apply_mask(piece: &mut [u8], mask: [u8; 4], from: usize) {
    for (index, byte) in piece.iter_mut().enumerate() {
        *byte ^= mask[(from + index) % 4];
    }
}
