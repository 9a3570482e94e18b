//! Compressed messages (RFC 7692), received only: a client may leave each of its own as it is (§6).

use flate2::{Decompress, FlushDecompress, Status};

use super::{FrameError, LONGEST_MESSAGE};

/// What a sender leaves out at the end of each message (§7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Memory for the output of one turn.
const PIECE: usize = 16 * 1024;

/// The state that inflates messages: some 43 KB. It is always kept from one message to the next: ttyd 1.7.7 refers to earlier messages
/// also where it promised not to, and a server that does not is read as well.
#[derive(Debug)]
pub struct Inflater {
    state: Decompress,
}

impl Default for Inflater {
    fn default() -> Self {
        Self { state: Decompress::new(false) }
    }
}

impl Inflater {
    /// Inflates a message.
    ///
    /// # Errors
    /// When it is invalid, or longer than [`LONGEST_MESSAGE`].
    pub(super) fn inflate(&mut self, mut message: Vec<u8>) -> Result<Vec<u8>, FrameError> {
        message.extend_from_slice(&TAIL);
        let mut inflated = Vec::with_capacity((message.len() * 4).clamp(64, PIECE));
        let mut rest = message.as_slice();
        loop {
            let (read, written) = (self.state.total_in(), inflated.len());
            let status = self.state.decompress_vec(rest, &mut inflated, FlushDecompress::Sync);
            let status = status.map_err(|_| FrameError::Deflate)?;
            let read = (self.state.total_in() - read) as usize;
            rest = &rest[read..];
            if inflated.len() > LONGEST_MESSAGE {
                return Err(FrameError::TooLong);
            }
            let is_full = inflated.len() == inflated.capacity();
            if is_full {
                inflated.reserve(PIECE);
            } else if status == Status::StreamEnd {
                // The last block of a stream ends its message (§7.2.3.4); the next one begins another.
                self.state.reset(false);
                break;
            } else if rest.is_empty() {
                break;
            } else if read == 0 && inflated.len() == written {
                return Err(FrameError::Deflate);
            }
        }
        Ok(inflated)
    }
}
