//! Answers each message with a fixed number of characters: the interactive transaction of the 1979 tests (13 in, 150 out).

use std::io;

use cuesta_record::{Stamp, clock};

use super::listing::{self, ROW};
use crate::input::{LONGEST_ROW, Unit};
use crate::terminal::Terminal;

/// The first prompt.
const READY: &[u8; 2] = b"> ";
/// How each answer ends.
const PROMPT: &[u8; 4] = b"\r\n> ";

pub(super) async fn serve(terminal: &mut Terminal, reply: u64) -> io::Result<()> {
    terminal.write(clock::now(), READY.len() as u64, |at, into| copy(READY, at, into)).await?;
    // With raw input each character is a message.
    let most = if terminal.front().settings.discipline.unit == Unit::Character { 1 } else { LONGEST_ROW };
    while let Some(message) = terminal.read(&mut [0; LONGEST_ROW][..most]).await? {
        let due = terminal.front().due(message.taken);
        terminal.wait_until(due).await?;
        // Due at once: the delay counts from the message, and was waited for above.
        terminal.write(Stamp::ZERO, reply, |at, into| answer(reply, at, into)).await?;
        terminal.count_answer();
    }
    Ok(())
}

/// The characters of an answer of `len` from `at` on: rows of a listing, and the prompt.
fn answer(len: u64, at: u64, into: &mut [u8]) {
    let text = len - PROMPT.len() as u64;
    let before = usize::try_from(text.saturating_sub(at)).unwrap_or(usize::MAX).min(into.len());
    let (rows, prompt) = into.split_at_mut(before);
    listing::fill(at, rows);
    // A text cut within the end of a row would end in a bare CR.
    if before > 0 && at + before as u64 == text && text % ROW as u64 == ROW as u64 - 1 {
        rows[before - 1] = b'.';
    }
    copy(PROMPT, (at + before as u64).saturating_sub(text), prompt);
}

fn copy(text: &[u8], at: u64, into: &mut [u8]) {
    into.copy_from_slice(&text[at as usize..][..into.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(len: usize, piece: usize) -> Vec<u8> {
        let mut text = vec![0; len];
        for (index, into) in text.chunks_mut(piece).enumerate() {
            answer(len as u64, (index * piece) as u64, into);
        }
        text
    }

    #[test]
    fn an_answer_has_its_length_and_ends_in_the_prompt() {
        for len in (4..400).chain([4096, 10_000]) {
            let text = whole(len, len);
            assert!(text.ends_with(PROMPT), "{len}");
            let returns = text.windows(2).filter(|pair| pair[0] == b'\r').all(|pair| pair[1] == b'\n');
            let printable = text.iter().all(|c| c.is_ascii_graphic() || b" \r\n".contains(c));
            assert!(returns && printable, "{len}");
        }
        assert_eq!(whole(4, 4), PROMPT);
    }

    #[test]
    fn an_answer_is_the_same_in_any_pieces() {
        for len in [4, 77, 78, 79, 150, 500] {
            for piece in [1, 2, 3, 7, 64, 100] {
                assert_eq!(whole(len, piece), whole(len, len), "{len} in pieces of {piece}");
            }
        }
    }
}
