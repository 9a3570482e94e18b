//! What the host writes: commands, the write control character, orders, structured fields.

use super::address;
use super::attribute::Attribute;
use super::buffer::Content;
use super::display::{DEFAULT_SIZE, Display};

/// A command, by either of its two codes: of a channel, and of SNA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Write,
    EraseWrite,
    EraseWriteAlternate,
    EraseAllUnprotected,
    ReadBuffer,
    ReadModified,
    ReadModifiedAll,
    WriteStructuredField,
    Nothing,
}

impl Command {
    fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x01 | 0xf1 => Self::Write,
            0x05 | 0xf5 => Self::EraseWrite,
            0x0d | 0x7e => Self::EraseWriteAlternate,
            0x0f | 0x6f => Self::EraseAllUnprotected,
            0x02 | 0xf2 => Self::ReadBuffer,
            0x06 | 0xf6 => Self::ReadModified,
            0x0e | 0x6e => Self::ReadModifiedAll,
            0x11 | 0xf3 => Self::WriteStructuredField,
            0x03 => Self::Nothing,
            _ => return None,
        })
    }
}

/// Bits of the write control character.
const RESET_MODIFIED: u8 = 0x01;
const UNLOCK: u8 = 0x02;

/// Orders.
const PROGRAM_TAB: u8 = 0x05;
const GRAPHIC_ESCAPE: u8 = 0x08;
pub(super) const SET_BUFFER_ADDRESS: u8 = 0x11;
const ERASE_UNPROTECTED_TO_ADDRESS: u8 = 0x12;
const INSERT_CURSOR: u8 = 0x13;
pub(super) const START_FIELD: u8 = 0x1d;
const SET_ATTRIBUTE: u8 = 0x28;
const START_FIELD_EXTENDED: u8 = 0x29;
const MODIFY_FIELD: u8 = 0x2c;
const REPEAT_TO_ADDRESS: u8 = 0x3c;
/// The pair of START FIELD EXTENDED and MODIFY FIELD that holds the field's attribute.
const FIELD_ATTRIBUTE: u8 = 0xc0;

/// Structured fields.
const READ_PARTITION: u8 = 0x01;
const ERASE_RESET: u8 = 0x03;
const OUTBOUND_DATA: u8 = 0x40;
/// Kinds of READ PARTITION.
const QUERY: u8 = 0x02;
const QUERY_LIST: u8 = 0x03;

/// The unread part of a record.
struct Unread<'a>(&'a [u8]);

impl<'a> Unread<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }
}

impl Display {
    /// Carries out a record. `None`: it holds what no 3270 understands, and what stands before that is done.
    pub(super) fn execute(&mut self, record: &[u8]) -> Option<()> {
        let Some((code, data)) = record.split_first() else { return Some(()) };
        match Command::from_code(*code)? {
            Command::Write => return self.write(data),
            Command::EraseWrite => {
                self.resize(DEFAULT_SIZE);
                return self.write(data);
            }
            Command::EraseWriteAlternate => {
                self.resize(self.alternate);
                return self.write(data);
            }
            Command::EraseAllUnprotected => self.erase_all_unprotected(),
            Command::ReadBuffer => {
                let record = self.whole_buffer();
                self.reply(&record);
            }
            Command::ReadModified => {
                let record = self.input_record(self.aid, false);
                self.reply(&record);
            }
            Command::ReadModifiedAll => {
                let record = self.input_record(self.aid, true);
                self.reply(&record);
            }
            Command::WriteStructuredField => return self.structured_fields(data),
            Command::Nothing => {}
        }
        Some(())
    }

    /// The write control character, then orders and characters.
    fn write(&mut self, data: &[u8]) -> Option<()> {
        let Some((control, data)) = data.split_first() else { return Some(()) };
        if control & RESET_MODIFIED != 0 {
            for field in self.buffer.fields().collect::<Vec<_>>() {
                self.buffer.set_field_modified(field, false);
            }
        }
        let done = self.orders(data);
        if control & UNLOCK != 0 {
            self.unlock();
        }
        done
    }

    fn orders(&mut self, data: &[u8]) -> Option<()> {
        let mut rest = Unread(data);
        let mut at = self.buffer.cursor;
        // PROGRAM TAB right behind characters erases the rest of their field; if it comes to the top, another one goes on there.
        let mut tab_erases = false;
        while let Some(byte) = rest.byte() {
            let erases = std::mem::take(&mut tab_erases);
            match byte {
                SET_BUFFER_ADDRESS => at = self.address(&mut rest)?,
                INSERT_CURSOR => self.buffer.cursor = at,
                START_FIELD => {
                    let attribute = Attribute::new(rest.byte()?);
                    at = self.store(at, Content::Attribute(attribute));
                }
                START_FIELD_EXTENDED => {
                    let attribute = field_attribute(&mut rest, Attribute::new(0))?;
                    at = self.store(at, Content::Attribute(attribute));
                }
                MODIFY_FIELD => {
                    let before = self.buffer.attribute(at)?;
                    let attribute = field_attribute(&mut rest, before)?;
                    at = self.store(at, Content::Attribute(attribute));
                }
                // Colours and the like are not shown.
                SET_ATTRIBUTE => _ = rest.take(2)?,
                PROGRAM_TAB => {
                    at = self.tab_by_host(at, erases);
                    tab_erases = erases && at == 0;
                }
                REPEAT_TO_ADDRESS => {
                    let end = self.address(&mut rest)?;
                    let content = character(&mut rest)?;
                    at = self.fill(at, end, |_, _| Some(content));
                }
                ERASE_UNPROTECTED_TO_ADDRESS => {
                    let end = self.address(&mut rest)?;
                    at = self.fill(at, end, |display, place| {
                        display.buffer.accepts_input(place).then_some(Content::Character(0))
                    });
                }
                GRAPHIC_ESCAPE => {
                    at = self.store(at, Content::Graphic(rest.byte()?));
                    tab_erases = true;
                }
                byte => {
                    at = self.store(at, Content::Character(byte));
                    tab_erases = true;
                }
            }
        }
        Some(())
    }

    /// A place that an order names.
    fn address(&self, rest: &mut Unread<'_>) -> Option<usize> {
        let bytes = rest.take(2)?;
        Some(address::decode([bytes[0], bytes[1]])).filter(|place| *place < self.buffer.len())
    }

    /// Puts something into a cell; returns the place behind it.
    fn store(&mut self, at: usize, content: Content) -> usize {
        self.buffer.put(at, content, true);
        self.buffer.next_place(at)
    }

    /// Fills the cells from one place up to another with what `content` says, all of them if both are the same; returns the
    /// latter place.
    fn fill(&mut self, from: usize, end: usize, content: impl Fn(&Self, usize) -> Option<Content>) -> usize {
        let mut at = from;
        loop {
            if let Some(content) = content(self, at) {
                self.buffer.put(at, content, true);
            }
            at = self.buffer.next_place(at);
            if at == end {
                return end;
            }
        }
    }

    /// PROGRAM TAB: to the next field that can be typed into, or to the top.
    fn tab_by_host(&mut self, at: usize, erases: bool) -> usize {
        if self.buffer.attribute(at).is_some_and(|attribute| !attribute.is_protected()) {
            return self.buffer.next_place(at);
        }
        let next = self.buffer.next_input(at).filter(|next| *next >= at).unwrap_or(0);
        let mut place = at;
        while erases && place != next && self.buffer.attribute(place).is_none() {
            place = self.store(place, Content::Character(0));
        }
        next
    }

    fn erase_all_unprotected(&mut self) {
        for place in 0..self.buffer.len() {
            if self.buffer.accepts_input(place) {
                self.buffer.put(place, Content::Character(0), true);
            }
        }
        self.reset_inputs();
        self.unlock();
    }

    fn structured_fields(&mut self, mut data: &[u8]) -> Option<()> {
        while let [high, low, rest @ ..] = data {
            // A length of 0 stands for all that is left.
            let len = match usize::from(u16::from_be_bytes([*high, *low])) {
                0 => data.len(),
                len => len,
            };
            let field = rest.get(..len.checked_sub(2)?)?;
            data = &data[len..];
            match field {
                [READ_PARTITION, _, QUERY | QUERY_LIST, ..] => self.answer_query(),
                [ERASE_RESET, _, 0x80, ..] => self.resize(self.alternate),
                [ERASE_RESET, ..] => self.resize(DEFAULT_SIZE),
                // Structured fields within structured fields are none.
                [READ_PARTITION | OUTBOUND_DATA, _, record @ ..] if !is_structured(record) => self.execute(record)?,
                _ => {}
            }
        }
        Some(())
    }
}

fn is_structured(record: &[u8]) -> bool {
    record.first().is_some_and(|code| Command::from_code(*code) == Some(Command::WriteStructuredField))
}

/// A character, plain or of another set.
fn character(rest: &mut Unread<'_>) -> Option<Content> {
    match rest.byte()? {
        GRAPHIC_ESCAPE => rest.byte().map(Content::Graphic),
        byte => Some(Content::Character(byte)),
    }
}

/// The field's attribute among pairs of types and values, else the one before. `None`: the pairs are not complete.
fn field_attribute(rest: &mut Unread<'_>, before: Attribute) -> Option<Attribute> {
    let count = rest.byte()?;
    let pairs = rest.take(2 * usize::from(count))?;
    let mut attributes = pairs.chunks_exact(2).filter(|pair| pair[0] == FIELD_ATTRIBUTE);
    Some(attributes.next_back().map_or(before, |pair| Attribute::new(pair[1])))
}
