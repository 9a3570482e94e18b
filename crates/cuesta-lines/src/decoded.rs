//! A line's edge towards the user: what passes it is UTF-8. What the host sends in a character set of eight bits is decoded, what is
//! typed is encoded. The last rows of the host are kept, because they often say why a line ended.

use std::io;
use std::task::{Context, Poll, Waker, ready};

use crate::tail::Tail;
use crate::{Charset, Line, Received};

/// The most bytes of UTF-8 that a byte of a set becomes.
const GROWTH: usize = 3;
/// Most characters that are encoded at once.
const ROOM: usize = 256;
/// What is sent for a character that the set does not have. The driver refuses tapes that type one.
const NO_CHARACTER: u8 = b'?';
/// The rest of a lost line's output is read in at most this many pieces, because the kernel holds no more.
const MOST_PIECES: usize = 64;
const PIECE: usize = 1024;

/// A line whose characters are UTF-8.
pub(crate) struct Decoded<L> {
    line: L,
    /// The host's character set; none = UTF-8, which passes as it is.
    charset: Option<Box<Charset>>,
    /// The beginning of a character of UTF-8 whose rest has not come.
    partial: Box<[u8]>,
    transcript: Transcript,
}

/// What the host has said.
#[derive(Debug, Default)]
pub struct Transcript {
    undecoded: u64,
    last: Tail,
}

impl Transcript {
    /// How many received bytes were no character of the line's character set so far.
    pub fn undecoded(&self) -> u64 {
        self.undecoded
    }

    /// The last rows that were read: at most 256 characters, and whole rows only if more was read.
    pub fn rows(&self) -> Vec<u8> {
        self.last.rows()
    }
}

/// What the other end of a lost line said last, as far as it can be read without waiting, whatever the line's speed; see
/// [`Transcript::rows`]. Nothing on lines that carry no text.
pub fn last_rows(line: &mut dyn Line) -> Vec<u8> {
    if line.transcript().is_none() {
        return Vec::new();
    }
    if let Some(pace) = line.pace() {
        pace.lift();
    }
    let mut cx = Context::from_waker(Waker::noop());
    let mut piece = [0; PIECE];
    for _ in 0..MOST_PIECES {
        let Poll::Ready(Ok(Received { len: 1.., .. })) = line.poll_receive(&mut cx, &mut piece) else { break };
    }
    line.transcript().map_or_else(Vec::new, Transcript::rows)
}

impl<L: Line> Decoded<L> {
    pub(crate) fn new(line: L, charset: Option<Charset>) -> Self {
        Self { line, charset: charset.map(Box::new), partial: Box::default(), transcript: Transcript::default() }
    }

    /// Decodes the first `len` bytes in place; returns their new length.
    fn decode(&mut self, into: &mut [u8], len: usize) -> usize {
        let bytes = &into[..len];
        if self.partial.is_empty() && bytes.is_ascii() {
            return len;
        }
        let Some(charset) = &self.charset else {
            self.check(bytes);
            return len;
        };
        let mut text = String::with_capacity(len * GROWTH);
        self.transcript.undecoded += charset.decode(bytes, &mut text);
        into[..text.len()].copy_from_slice(text.as_bytes());
        text.len()
    }

    /// Counts the bytes that are no UTF-8. A character may be cut anywhere.
    fn check(&mut self, bytes: &[u8]) {
        let joined = [&std::mem::take(&mut self.partial), bytes].concat();
        let mut rest = &joined[..];
        while let Err(error) = std::str::from_utf8(rest) {
            let bad = &rest[error.valid_up_to()..];
            let Some(len) = error.error_len() else {
                self.partial = bad.into();
                return;
            };
            self.transcript.undecoded += len as u64;
            rest = &bad[len..];
        }
    }
}

/// Encodes the head of a text; returns the bytes, and how many bytes of the text each of them stands for.
fn encode(charset: &Charset, bytes: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if valid.is_empty() {
        return (vec![NO_CHARACTER], vec![1]);
    }
    let characters = valid.chars().take(ROOM);
    characters.map(|c| (charset.encode(c).unwrap_or(NO_CHARACTER), c.len_utf8())).unzip()
}

impl<L: Line> Line for Decoded<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let room = if self.charset.is_some() { into.len() / GROWTH } else { into.len() };
        // A caller without room for the growth reads again when it has more.
        if room == 0 {
            return Poll::Pending;
        }
        let mut received = ready!(self.line.poll_receive(cx, &mut into[..room]))?;
        if received.len == 0 {
            self.transcript.undecoded += std::mem::take(&mut self.partial).len() as u64;
            return Poll::Ready(Ok(received));
        }
        let len = self.decode(into, received.len);
        if len != received.len {
            // The characters of one read come evenly, however many bytes each has become.
            received.per_character = received.per_character.mul_f64(received.len as f64 / len as f64);
            received.len = len;
        }
        self.transcript.last.push(&into[..len]);
        Poll::Ready(Ok(received))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &self.charset {
            Some(charset) if !bytes.is_ascii() => {
                let (encoded, lengths) = encode(charset, bytes);
                let sent = ready!(self.line.poll_send(cx, &encoded))?;
                Poll::Ready(Ok(lengths[..sent].iter().sum()))
            }
            _ => self.line.poll_send(cx, bytes),
        }
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }

    fn transcript(&self) -> Option<&Transcript> {
        Some(&self.transcript)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cuesta_record::clock::{self, Time};

    use super::*;
    use crate::{RateLimited, loopback, receive, send};

    fn driven<T: 'static>(test: impl Future<Output = T> + 'static) -> T {
        clock::run(Time::Virtual, test).unwrap()
    }

    /// Everything that comes until the other end closes.
    async fn text(line: &mut impl Line) -> String {
        let (mut text, mut room) = (Vec::new(), [0; 64]);
        while let Ok(Received { len: len @ 1.., .. }) = receive(line, &mut room).await {
            text.extend(&room[..len]);
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    #[test]
    fn a_set_of_eight_bits_is_utf_8_for_the_user() {
        driven(async {
            let (near, mut far) = loopback::pair(999);
            let mut line = Decoded::new(near, Charset::named("cp437"));
            send(&mut far, b"\xc9\xcd\xbb caf\x82").await.unwrap();
            send(&mut line, "Ä\u{a0}ls".as_bytes()).await.unwrap();
            let mut room = [0; 9];
            let received = receive(&mut far, &mut room).await.unwrap();
            assert_eq!(&room[..received.len], b"\x8e\xffls");
            drop(far);
            assert_eq!(text(&mut line).await, "╔═╗ café");
            assert_eq!((line.transcript.undecoded(), line.transcript.rows()), (0, "╔═╗ café".as_bytes().to_vec()));
        });
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_counted_however_they_are_cut() {
        for size in [1, 2, 5, 99] {
            let undecoded = driven(async move {
                let (near, mut far) = loopback::pair(999);
                let mut line = Decoded::new(near, None);
                for piece in b"na\xc3\xafve \xe4\xf6 \xe2\x94\x80 \xe2\x94".chunks(size) {
                    send(&mut far, piece).await.unwrap();
                    receive(&mut line, &mut [0; 99]).await.unwrap();
                }
                drop(far);
                text(&mut line).await;
                line.transcript.undecoded()
            });
            assert_eq!(undecoded, 4, "pieces of {size}");
        }
    }

    #[test]
    fn decoding_does_not_change_the_line_speed() {
        driven(async {
            let (near, mut far) = loopback::pair(999);
            let begin = clock::now();
            let mut line = Decoded::new(RateLimited::new(near, 100), Charset::named("cp437"));
            send(&mut far, &[0xc4; 20]).await.unwrap();
            drop(far);
            let (mut last, mut room) = (begin, [0; 96]);
            while let Ok(received @ Received { len: 1.., .. }) = receive(&mut line, &mut room).await {
                last = received.at_character(received.len - 1);
            }
            let took = last.since(begin);
            assert!((Duration::from_millis(1900)..=Duration::from_millis(2100)).contains(&took), "{took:?}");
        });
    }
}
