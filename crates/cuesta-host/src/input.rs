//! Input for a service: the line discipline, and type-ahead.
//!
//! Pure: characters in, messages and echo out. [`Input::room`] bounds what it takes.

use std::collections::VecDeque;

use cuesta_lines::Received;
use cuesta_record::Stamp;

/// Telnet's commands in a stream of records.
const IAC: u8 = 255;
const END_OF_RECORD: u8 = 239;

/// The longest row or record; characters beyond it are dropped.
pub(crate) const LONGEST_ROW: usize = 256;
/// Most characters of type-ahead, the row in progress included.
const MOST_CHARACTERS: usize = 512;
/// Most messages of type-ahead.
const MOST_MESSAGES: usize = 64;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A row, after erase and kill.
    Row,
    Character,
    /// A record of a 3270 (IAC EOR behind it, IAC doubled), as its line delivers it.
    Record,
}

/// The line discipline: how input reaches the service, and what is echoed.
#[derive(Debug, Clone)]
pub(crate) struct Discipline {
    pub(crate) unit: Unit,
    /// The erase character, which removes the character before it.
    pub(crate) erase: u8,
    /// The kill character, which removes the row so far.
    pub(crate) kill: u8,
    /// Whether the front end echoes.
    pub(crate) echo: bool,
    /// The echo of each character.
    pub(crate) map: [u8; 256],
}

/// A complete message: a row, a record, or raw characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    /// When its last character arrived.
    pub(crate) arrived: Stamp,
    /// Its length without the end of the row or record.
    pub(crate) len: usize,
}

/// Input that the service has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Input {
    /// The characters of all messages, then those of the row or record in progress.
    characters: VecDeque<u8>,
    messages: VecDeque<Message>,
    /// Characters of the row or record in progress.
    row: usize,
    /// The last character is a `\`, which makes a following erase, kill or `\` an ordinary character.
    escaped: bool,
    /// The last character was CR: an LF or NUL now belongs to it.
    after_return: bool,
    /// The last character of a record was an IAC.
    after_iac: bool,
}

/// Characters that editing removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EditCounts {
    /// Erased and killed characters, and the erase and kill characters themselves.
    pub(crate) erased: u64,
    /// Characters beyond the longest row or record.
    pub(crate) cut: u64,
}

impl Input {
    /// How many characters may be taken now; never 0 when no message waits.
    pub(crate) fn room(&self) -> usize {
        (MOST_CHARACTERS - self.characters.len()).min(MOST_MESSAGES - self.messages.len())
    }

    /// Takes at most [`Self::room`] received characters; gives `echo` their echo, at most two characters for each.
    pub(crate) fn take(
        &mut self,
        discipline: &Discipline,
        typed: &[u8],
        received: &Received,
        mut echo: impl FnMut(&[u8]),
    ) -> EditCounts {
        let mut taken = EditCounts::default();
        for (index, &character) in typed.iter().enumerate() {
            let arrived = received.at_character(index);
            match discipline.unit {
                Unit::Row => self.take_in_row(discipline, character, arrived, &mut taken, &mut echo),
                Unit::Record => self.take_in_record(character, arrived, &mut taken),
                Unit::Character => {
                    self.take_raw(character, arrived);
                    echo(&[discipline.map[usize::from(character)]]);
                }
            }
        }
        taken
    }

    /// Takes the next message; characters that do not fit into `into` remain as the next message.
    pub(crate) fn next(&mut self, into: &mut [u8]) -> Option<Message> {
        let first = self.messages.front_mut()?;
        let len = first.len.min(into.len());
        for (from, to) in self.characters.drain(..len).zip(into) {
            *to = from;
        }
        first.len -= len;
        let message = Message { len, ..*first };
        if first.len == 0 {
            self.messages.pop_front();
        }
        Some(message)
    }

    /// Whether a message waits.
    pub(crate) fn is_ready(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Each raw character is a message; characters of one instant are stored together.
    fn take_raw(&mut self, character: u8, arrived: Stamp) {
        self.characters.push_back(character);
        match self.messages.back_mut() {
            Some(last) if last.arrived == arrived => last.len += 1,
            _ => self.messages.push_back(Message { arrived, len: 1 }),
        }
    }

    fn take_in_row(
        &mut self,
        discipline: &Discipline,
        character: u8,
        arrived: Stamp,
        taken: &mut EditCounts,
        echo: &mut impl FnMut(&[u8]),
    ) {
        let after_return = std::mem::replace(&mut self.after_return, character == b'\r');
        match character {
            b'\n' | b'\0' if after_return => {}
            b'\r' | b'\n' => {
                echo(b"\r\n");
                self.complete(arrived);
            }
            _ => {
                echo(&[discipline.map[usize::from(character)]]);
                self.edit(discipline, character, taken);
            }
        }
    }

    /// A character in the row in progress.
    fn edit(&mut self, discipline: &Discipline, character: u8, taken: &mut EditCounts) {
        let special = character == discipline.erase || character == discipline.kill || character == b'\\';
        let escaped = std::mem::take(&mut self.escaped);
        if special && escaped {
            if let Some(escape) = self.characters.back_mut() {
                *escape = character;
            }
        } else if character == discipline.erase {
            self.take_back(1, taken);
        } else if character == discipline.kill {
            self.take_back(self.row, taken);
        } else {
            self.escaped = character == b'\\' && self.row < LONGEST_ROW;
            self.add(character, taken);
        }
    }

    fn take_in_record(&mut self, character: u8, arrived: Stamp, taken: &mut EditCounts) {
        match (std::mem::take(&mut self.after_iac), character) {
            (true, END_OF_RECORD) => self.complete(arrived),
            (false, IAC) => self.after_iac = true,
            // Another command, such as attention.
            (true, command) if command != IAC => {}
            _ => self.add(character, taken),
        }
    }

    /// Another character of the row or record in progress.
    fn add(&mut self, character: u8, taken: &mut EditCounts) {
        if self.row == LONGEST_ROW {
            taken.cut += 1;
        } else {
            self.characters.push_back(character);
            self.row += 1;
        }
    }

    fn take_back(&mut self, count: usize, taken: &mut EditCounts) {
        let count = count.min(self.row);
        self.row -= count;
        self.characters.truncate(self.characters.len() - count);
        taken.erased += count as u64 + 1;
    }

    fn complete(&mut self, arrived: Stamp) {
        let len = std::mem::take(&mut self.row);
        self.escaped = false;
        self.messages.push_back(Message { arrived, len });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discipline(unit: Unit) -> Discipline {
        let mut map = std::array::from_fn(|character| character as u8);
        map[usize::from(b'a')] = b'0';
        Discipline { unit, erase: b'#', kill: b'@', echo: true, map }
    }

    /// The rows, the echo and the counts of what is typed in pieces of `size`.
    fn typed(text: &[u8], size: usize) -> (Vec<String>, String, EditCounts) {
        let (mut input, mut rows, mut echo, mut sum) =
            (Input::default(), Vec::new(), Vec::new(), EditCounts::default());
        for piece in text.chunks(size) {
            let put = |echoed: &[u8]| echo.extend_from_slice(echoed);
            let taken = input.take(&discipline(Unit::Row), piece, &Received::default(), put);
            sum.erased += taken.erased;
            sum.cut += taken.cut;
            let mut row = [0; LONGEST_ROW];
            while let Some(message) = input.next(&mut row) {
                rows.push(String::from_utf8_lossy(&row[..message.len]).into_owned());
            }
        }
        (rows, String::from_utf8_lossy(&echo).into_owned(), sum)
    }

    #[test]
    fn rows_are_erased_and_killed_however_they_are_cut() {
        for (text, rows) in [
            ("ab#c\r", &["ac"][..]),
            ("###x\r", &["x"]),
            ("wrong@right\r", &["right"]),
            ("a\\#b\\@c\r", &["a#b@c"]),
            ("a\\\\#b\r", &["ab"]),
            ("a\\b\\\r", &["a\\b\\"]),
            ("one\rtwo\nthree\r\nfour\r\0five\n", &["one", "two", "three", "four", "five"]),
            ("\r\r\n\n", &["", "", ""]),
            ("\\\r#x\r", &["\\", "x"]),
        ] {
            for size in 1..4 {
                assert_eq!(typed(text.as_bytes(), size).0, rows, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn the_echo_ends_rows_with_cr_lf() {
        let (_, echo, taken) = typed(b"ab#@x\r\ny\n", 1);
        assert_eq!(echo, "0b#@x\r\ny\r\n");
        assert_eq!(taken, EditCounts { erased: 4, cut: 0 });
    }

    #[test]
    fn a_row_that_is_too_long_is_cut_and_counted() {
        let (rows, _, taken) = typed(&[&[b'x'; LONGEST_ROW + 3][..], b"#\r"].concat(), 7);
        assert_eq!((rows[0].len(), taken.cut, taken.erased), (LONGEST_ROW - 1, 3, 2));
    }

    #[test]
    fn a_flood_waits_until_the_service_reads() {
        for (unit, text) in [
            (Unit::Row, &b"\n"[..]),
            (Unit::Row, b"xyz\n"),
            (Unit::Character, b"q"),
            (Unit::Record, b"\xff\xef"),
            (Unit::Record, b"xyz\xff\xef"),
        ] {
            let mut input = Input::default();
            let mut taken = 0;
            let flood: Vec<u8> = text.iter().copied().cycle().take(MOST_CHARACTERS + LONGEST_ROW).collect();
            while input.room() > 0 {
                let end = flood.len().min(taken + input.room());
                input.take(&discipline(unit), &flood[taken..end], &Received::default(), |_| {});
                taken = end;
            }
            assert!(taken <= MOST_CHARACTERS + MOST_MESSAGES && input.is_ready(), "{text:?}");
            while input.next(&mut [0; LONGEST_ROW]).is_some() {}
            assert!(input.room() > 0, "{text:?}");
        }
    }

    #[test]
    fn records_are_taken_whole_however_they_are_cut() {
        let stream = b"\x7d\x40\x40ab\xff\xff\xff\xef\xff\xf3\x6d\xff\xef\xff\xef";
        for size in 1..stream.len() {
            let (mut input, mut records) = (Input::default(), Vec::new());
            for piece in stream.chunks(size) {
                let taken = input.take(&discipline(Unit::Record), piece, &Received::default(), |_| {
                    unreachable!("records are not echoed");
                });
                assert_eq!(taken, EditCounts::default());
            }
            let mut into = [0; LONGEST_ROW];
            while let Some(message) = input.next(&mut into) {
                records.push(into[..message.len].to_vec());
            }
            assert_eq!(records, [&b"\x7d\x40\x40ab\xff"[..], b"\x6d", b""], "in pieces of {size}");
        }
    }

    #[test]
    fn raw_characters_keep_their_instants() {
        let mut input = Input::default();
        let second = std::time::Duration::from_secs(1);
        let received = Received { per_character: second, ..Received::default() };
        input.take(&discipline(Unit::Character), b"a\r", &received, |_| {});
        let mut into = [0; 9];
        let first = input.next(&mut into).unwrap();
        assert_eq!((first, into[0]), (Message { arrived: Stamp::ZERO, len: 1 }, b'a'));
        let next = input.next(&mut into).unwrap();
        assert_eq!((next, into[0]), (Message { arrived: Stamp::ZERO + second, len: 1 }, b'\r'));
        assert_eq!(input.next(&mut into), None);
    }
}
