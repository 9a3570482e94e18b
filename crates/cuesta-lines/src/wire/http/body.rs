//! The body of a message (RFC 9112 §6, §7.1).

use super::{HttpError, LONGEST_BODY};

/// Most bytes of a row that gives a chunk's size, and of the rows after the last chunk.
const LONGEST_ROW: usize = 4096;

/// How much of a body is still to come.
#[derive(Debug)]
pub(super) enum Rest {
    Bytes(usize),
    Chunks(Chunks),
    /// Until the connection is closed.
    All,
}

/// Where a chunked body is.
#[derive(Debug)]
pub(super) enum Chunks {
    /// In the row with a chunk's size: the bytes of it that were received.
    Size(Vec<u8>),
    /// In a chunk: how many bytes are missing, with the line end after its data.
    Chunk(usize),
    /// In the rows after the last chunk: how many of their bytes were received, and whether the current row is empty so far.
    Trailers(usize, bool),
    Ended,
}

impl Rest {
    /// Takes a piece of the body; returns how many bytes of it belong to the body.
    pub(super) fn take(&mut self, piece: &[u8], body: &mut Vec<u8>) -> Result<usize, HttpError> {
        match self {
            Self::Bytes(rest) => {
                let taken = piece.len().min(*rest);
                *rest -= taken;
                append(body, &piece[..taken])?;
                Ok(taken)
            }
            Self::All => append(body, piece).map(|()| piece.len()),
            Self::Chunks(chunks) => {
                let mut taken = 0;
                while taken < piece.len() && !matches!(chunks, Chunks::Ended) {
                    taken += chunks.take(&piece[taken..], body)?;
                }
                Ok(taken)
            }
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Bytes(0) | Self::Chunks(Chunks::Ended))
    }
}

impl Chunks {
    fn take(&mut self, piece: &[u8], body: &mut Vec<u8>) -> Result<usize, HttpError> {
        match self {
            Self::Size(row) => {
                row.push(piece[0]);
                if row.len() > LONGEST_ROW {
                    return Err(HttpError::Length);
                }
                if let Some(size) = parse_size(row)? {
                    // The two bytes after a chunk's data end its row.
                    *self = if size == 0 { Self::Trailers(0, true) } else { Self::Chunk(size + 2) };
                }
                Ok(1)
            }
            Self::Chunk(rest) => {
                let taken = piece.len().min(*rest);
                let data = taken.min(rest.saturating_sub(2));
                append(body, &piece[..data])?;
                *rest -= taken;
                if *rest == 0 {
                    *self = Self::Size(Vec::new());
                }
                Ok(taken)
            }
            Self::Trailers(len, is_empty) => {
                *len += 1;
                match piece[0] {
                    b'\n' if *is_empty => *self = Self::Ended,
                    b'\n' => *is_empty = true,
                    b'\r' => {}
                    _ => *is_empty = false,
                }
                if matches!(self, Self::Trailers(len, _) if *len > LONGEST_ROW) {
                    Err(HttpError::Length)
                } else {
                    Ok(1)
                }
            }
            Self::Ended => Ok(0),
        }
    }
}

/// The size of the chunk that a row announces; none if the row is not whole.
fn parse_size(row: &[u8]) -> Result<Option<usize>, HttpError> {
    match httparse::parse_chunk_size(row) {
        Ok(httparse::Status::Complete((_, size))) => {
            usize::try_from(size).ok().filter(|size| *size <= LONGEST_BODY).ok_or(HttpError::LongBody).map(Some)
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(HttpError::Length),
    }
}

fn append(body: &mut Vec<u8>, piece: &[u8]) -> Result<(), HttpError> {
    if body.len() + piece.len() > LONGEST_BODY {
        return Err(HttpError::LongBody);
    }
    body.extend_from_slice(piece);
    Ok(())
}
