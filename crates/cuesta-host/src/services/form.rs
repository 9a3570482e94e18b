//! Answers each record that a 3270 sends with a screen. The screen shows the name of the key that was pressed, the first characters of
//! a listing, as many as the plan says, and a field to type into. The record that writes the screen also unlocks the keyboard, so that
//! both arrive together.

use std::io;

use cuesta_record::Stamp;

use super::listing::{self, ROW};
use crate::input::LONGEST_ROW;
use crate::terminal::Terminal;

/// A screen shows at most this many rows of the listing.
const ROWS: usize = 20;
/// It shows this many characters of each row.
const SHOWN: usize = ROW - 2;
/// The longest text that a screen has room for.
pub(crate) const LONGEST_FORM: u32 = (ROWS * SHOWN) as u32;
/// Columns of the screen.
const COLUMNS: usize = 80;
/// The row of the field, from 0.
const FIELD: usize = 22;

/// Commands and orders of the data stream (GA23-0059).
const ERASE_WRITE: u8 = 0xf5;
/// Unlock the keyboard, and forget which fields were modified.
const RESTORE: u8 = 0xc3;
const SET_ADDRESS: u8 = 0x11;
const START_FIELD: u8 = 0x1d;
const INSERT_CURSOR: u8 = 0x13;
/// Attributes of fields: protected and skipped, and for typing.
const TEXT: u8 = 0xf0;
const INPUT: u8 = 0x40;
/// What ends a record.
const END: [u8; 2] = [0xff, 0xef];

pub(super) async fn serve(terminal: &mut Terminal, reply: u32) -> io::Result<()> {
    terminal.wait_for_terminal_name(Stamp::FAR).await?;
    show(terminal, 0, "READY").await?;
    let mut record = [0; LONGEST_ROW];
    while let Some(message) = terminal.read(&mut record).await? {
        let due = terminal.front().due(message.taken);
        terminal.wait_until(due).await?;
        show(terminal, reply as usize, &key(record[..message.len].first().copied())).await?;
        terminal.count_answer();
    }
    Ok(())
}

async fn show(terminal: &mut Terminal, text: usize, key: &str) -> io::Result<()> {
    let record = screen(text, key);
    terminal
        .write(Stamp::ZERO, record.len() as u64, |at, into| into.copy_from_slice(&record[at as usize..][..into.len()]))
        .await
}

/// The record that writes a screen.
fn screen(text: usize, key: &str) -> Vec<u8> {
    let mut listed = vec![0; text.div_ceil(SHOWN) * ROW];
    listing::fill(0, &mut listed);
    let mut record = vec![ERASE_WRITE, RESTORE];
    put(&mut record, 0, TEXT, format!("CUESTA  {key}").as_bytes());
    for (row, listed) in listed.chunks(ROW).enumerate() {
        put(&mut record, row + 1, TEXT, &listed[..SHOWN.min(text - row * SHOWN)]);
    }
    put(&mut record, FIELD, TEXT, b"===>");
    record.extend([START_FIELD, INPUT, INSERT_CURSOR]);
    put(&mut record, FIELD + 1, TEXT, b"");
    record.extend(END);
    record
}

/// A field at the beginning of a row.
fn put(record: &mut Vec<u8>, row: usize, attribute: u8, text: &[u8]) {
    // Places of 14 bits.
    let [high, low] = ((row * COLUMNS) as u16).to_be_bytes();
    record.extend([SET_ADDRESS, high, low, START_FIELD, attribute]);
    record.extend(text.iter().filter_map(|character| cuesta_ebcdic::byte(char::from(*character))));
}

/// The name of the key that sent a record.
fn key(aid: Option<u8>) -> String {
    const KEYS: [u8; 24] = [
        0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0x7a, 0x7b, 0x7c, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6,
        0xc7, 0xc8, 0xc9, 0x4a, 0x4b, 0x4c,
    ];
    match aid {
        Some(0x7d) => "ENTER".to_owned(),
        Some(0x6d) => "CLEAR".to_owned(),
        Some(0x6c) => "PA1".to_owned(),
        Some(0x6e) => "PA2".to_owned(),
        Some(0x6b) => "PA3".to_owned(),
        Some(aid) => KEYS.iter().position(|key| *key == aid).map_or("?".to_owned(), |at| format!("PF{}", at + 1)),
        None => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_has_as_many_characters_as_asked() {
        let empty = screen(0, "READY").len();
        for text in [1, 71, 72, 73, 150, LONGEST_FORM as usize] {
            let record = screen(text, "READY");
            let rows = text.div_ceil(SHOWN);
            assert_eq!(record.len(), empty + text + 5 * rows, "{text}");
            // IAC in the text would have to be doubled.
            assert_eq!(record.iter().position(|byte| *byte == 0xff), Some(record.len() - 2), "{text}");
        }
    }

    #[test]
    fn keys_have_their_names() {
        let names = [0x7d, 0x6d, 0xf3, 0x7c, 0xc1, 0x4c, 0x60].map(|aid| key(Some(aid)));
        assert_eq!(names, ["ENTER", "CLEAR", "PF3", "PF12", "PF13", "PF24", "?"]);
    }
}
