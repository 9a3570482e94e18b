//! What keys do: most change the buffer, some call for the host and lock the keyboard.

use cuesta_tape::{Held, Key};

use super::address;
use super::attribute::Attribute;
use super::buffer::Content;
use super::display::{DEFAULT_SIZE, Display};
use super::orders::{SET_BUFFER_ADDRESS, START_FIELD};
use super::record;

const BLANK: u8 = 0x40;
const ENTER: u8 = 0x7d;
const CLEAR: u8 = 0x6d;
const PA: [u8; 3] = [0x6c, 0x6e, 0x6b];
#[rustfmt::skip]
const PF: [u8; 24] = [
    0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0x7a, 0x7b, 0x7c,
    0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0x4a, 0x4b, 0x4c,
];
/// Attention and system request are commands of telnet: interrupt process, abort output (RFC 2355 §12.1, §11).
const ATTENTION: &[u8] = &[0xff, 0xf4];
const SYSTEM_REQUEST: &[u8] = &[0xff, 0xf5];

/// Why a key was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The host has not unlocked the keyboard.
    Locked,
    /// The cursor is where nothing can be typed.
    Protected,
    /// The field has no room for another character.
    Full,
    /// The keyboard does not have the key, or the code page the character.
    Unknown,
}

impl Display {
    /// Whether the keyboard has a key.
    pub fn has_key(key: &Key) -> bool {
        match key {
            Key::Escape | Key::PageUp | Key::PageDown | Key::Bytes(_) | Key::Character(_) => false,
            Key::Chord { held, keys } => *held == SHIFT && keys == &[Key::Tab],
            _ => true,
        }
    }

    /// Presses a key; returns the bytes that it sends, none for a key that only changes the buffer.
    ///
    /// # Errors
    /// When the key is not taken; nothing has changed then.
    pub fn press(&mut self, key: &Key) -> Result<Vec<u8>, Refusal> {
        match key {
            Key::Reset => {
                self.inserts = false;
                return Ok(Vec::new());
            }
            Key::Attention => return Ok(ATTENTION.to_vec()),
            Key::SystemRequest => return Ok(SYSTEM_REQUEST.to_vec()),
            _ if self.locked => return Err(Refusal::Locked),
            Key::Enter => return Ok(self.call(ENTER)),
            Key::Clear => {
                self.resize(DEFAULT_SIZE);
                return Ok(self.call(CLEAR));
            }
            Key::ProgramAccess(number) => return Ok(self.call(PA[usize::from(number - 1)])),
            Key::Function(number) => return Ok(self.call(PF[usize::from(number - 1)])),
            _ => {}
        }
        self.edit(key).map(|()| Vec::new())
    }

    /// A key that changes only the buffer or the cursor.
    fn edit(&mut self, key: &Key) -> Result<(), Refusal> {
        let buffer = &mut self.buffer;
        let (columns, cells) = (buffer.columns(), buffer.len());
        match key {
            Key::Space => return self.type_character(' '),
            Key::Tab => buffer.cursor = buffer.next_input(buffer.cursor).unwrap_or(0),
            Key::Chord { .. } if Self::has_key(key) => self.tab_back(),
            Key::Home => self.home(),
            Key::Newline => {
                let next_row = (buffer.cursor / columns + 1) * columns % cells;
                let mut places = (0..cells).map(|step| (next_row + step) % cells);
                buffer.cursor = places.find(|place| buffer.accepts_input(*place)).unwrap_or(0);
            }
            Key::Up => buffer.cursor = (buffer.cursor + cells - columns) % cells,
            Key::Down => buffer.cursor = (buffer.cursor + columns) % cells,
            Key::Left => buffer.cursor = buffer.previous_place(buffer.cursor),
            Key::Right => buffer.cursor = buffer.next_place(buffer.cursor),
            Key::Insert => self.inserts = !self.inserts,
            Key::Backspace => {
                let before = buffer.previous_place(buffer.cursor);
                // At the beginning of a field there is nothing to take back.
                if buffer.attribute(before).is_some() {
                    return Ok(());
                }
                if !buffer.accepts_input(buffer.cursor) {
                    return Err(Refusal::Protected);
                }
                buffer.cursor = before;
                self.delete();
            }
            Key::Delete | Key::EraseToEndOfField if !buffer.accepts_input(buffer.cursor) => {
                return Err(Refusal::Protected);
            }
            Key::Delete => self.delete(),
            Key::EraseToEndOfField => {
                for place in self.rest_of_field() {
                    self.buffer.put(place, Content::Character(0), false);
                }
                self.buffer.set_modified(self.buffer.cursor);
            }
            Key::EraseInput => self.erase_input(),
            Key::End => {
                // Behind the field's text without blanks at its end, if it can be typed into.
                let Some(field) = buffer.field_of(buffer.cursor).filter(|_| buffer.accepts_input(buffer.cursor)) else {
                    return Ok(());
                };
                let places: Vec<_> = buffer.text_of(field).collect();
                let blank = [Content::Character(0), Content::Character(BLANK)];
                let last = places.iter().rposition(|place| !blank.contains(&self.buffer.cell(*place).content));
                let end = last.map_or(places.first(), |last| places.get(last + 1).or(places.get(last)));
                self.buffer.cursor = end.copied().unwrap_or(self.buffer.cursor);
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    /// Types a character.
    ///
    /// # Errors
    /// When the key is not taken; nothing has changed then.
    pub fn type_character(&mut self, character: char) -> Result<(), Refusal> {
        if self.locked {
            return Err(Refusal::Locked);
        }
        let byte = cuesta_ebcdic::byte(character).filter(|byte| *byte >= 0x40).ok_or(Refusal::Unknown)?;
        let at = self.buffer.cursor;
        if !self.buffer.accepts_input(at) {
            return Err(Refusal::Protected);
        }
        if self.inserts {
            self.make_room()?;
        }
        self.buffer.put(at, Content::Character(byte), false);
        self.buffer.set_modified(at);
        self.buffer.cursor = self.buffer.next_place(at);
        self.leave_full_field();
        Ok(())
    }

    /// A cursor that has come to the next field's attribute goes into that field, or over it where the host has set autoskip.
    fn leave_full_field(&mut self) {
        let Some(attribute) = self.buffer.attribute(self.buffer.cursor) else { return };
        let behind = self.buffer.next_place(self.buffer.cursor);
        self.buffer.cursor =
            if attribute.is_autoskip() { self.buffer.next_input(behind).unwrap_or(behind) } else { behind };
    }

    /// Moves what is at the cursor and behind it one place to the right, up to the first empty cell.
    fn make_room(&mut self) -> Result<(), Refusal> {
        let places = self.movable();
        let empty = places.iter().position(|place| self.is_empty(*place)).ok_or(Refusal::Full)?;
        for index in (1..=empty).rev() {
            let content = self.buffer.cell(places[index - 1]).content;
            self.buffer.put(places[index], content, false);
        }
        Ok(())
    }

    /// Takes the character at the cursor out of its field.
    fn delete(&mut self) {
        let places = self.movable();
        for pair in places.windows(2) {
            let content = self.buffer.cell(pair[1]).content;
            self.buffer.put(pair[0], content, false);
        }
        if let Some(last) = places.last() {
            self.buffer.put(*last, Content::Character(0), false);
        }
        self.buffer.set_modified(self.buffer.cursor);
    }

    /// Places from the cursor to the end of its field.
    fn rest_of_field(&self) -> Vec<usize> {
        let cursor = self.buffer.cursor;
        match self.buffer.field_of(cursor) {
            Some(field) => self.buffer.text_of(field).skip_while(|place| *place != cursor).collect(),
            None => (cursor..self.buffer.len()).collect(),
        }
    }

    /// The part of them that moves when a character is inserted or deleted: on a screen without fields the rest of the row.
    fn movable(&self) -> Vec<usize> {
        let mut places = self.rest_of_field();
        if self.buffer.field_of(self.buffer.cursor).is_none() {
            let columns = self.buffer.columns();
            places.truncate(columns - self.buffer.cursor % columns);
        }
        places
    }

    fn is_empty(&self, place: usize) -> bool {
        self.buffer.cell(place).content == Content::Character(0)
    }

    fn tab_back(&mut self) {
        let inputs: Vec<_> = self.inputs().collect();
        let before = inputs.iter().rev().find(|place| **place < self.buffer.cursor);
        self.buffer.cursor = before.or(inputs.last()).copied().unwrap_or(0);
    }

    /// The first places of all fields that can be typed into, from the top.
    fn inputs(&self) -> impl Iterator<Item = usize> {
        let fields = self.buffer.fields().map(|field| self.buffer.next_place(field));
        fields.filter(|place| self.buffer.accepts_input(*place))
    }

    /// Puts the cursor into the first field that can be typed into.
    pub(super) fn home(&mut self) {
        self.buffer.cursor = self.inputs().min().unwrap_or(0);
    }

    fn erase_input(&mut self) {
        for place in 0..self.buffer.len() {
            if self.buffer.accepts_input(place) {
                self.buffer.put(place, Content::Character(0), false);
            }
        }
        self.reset_inputs();
    }

    /// No field that can be typed into counts as changed; the cursor goes to the first.
    pub(super) fn reset_inputs(&mut self) {
        let fields: Vec<_> = self.buffer.fields().collect();
        for field in fields {
            if self.buffer.attribute(field).is_some_and(|attribute| !attribute.is_protected()) {
                self.buffer.set_field_modified(field, false);
            }
        }
        self.home();
    }

    /// Calls for the host: locks the keyboard, and returns the record to be sent.
    fn call(&mut self, aid: u8) -> Vec<u8> {
        (self.aid, self.locked, self.inserts) = (aid, true, false);
        let mut sent = Vec::new();
        record::append(&mut sent, &self.input_record(aid, false));
        sent
    }

    /// The record of a key: its AID, the cursor, and the fields that have changed. Clear and the PA keys send their AID alone
    /// unless the host asks for all.
    pub(super) fn input_record(&self, aid: u8, all: bool) -> Vec<u8> {
        let mut record = vec![aid];
        if !all && (aid == CLEAR || PA.contains(&aid)) {
            return record;
        }
        record.extend(address::encode(self.buffer.cursor, self.buffer.len()));
        let text = |record: &mut Vec<u8>, place| match self.buffer.cell(place).content {
            Content::Character(0) | Content::Attribute(_) => {}
            Content::Character(byte) => record.push(byte),
            Content::Graphic(byte) => record.extend([0x08, byte]),
        };
        let mut has_fields = false;
        for field in self.buffer.fields() {
            has_fields = true;
            if self.buffer.attribute(field).is_some_and(Attribute::is_modified) {
                record.push(SET_BUFFER_ADDRESS);
                record.extend(address::encode(self.buffer.next_place(field), self.buffer.len()));
                self.buffer.text_of(field).for_each(|place| text(&mut record, place));
            }
        }
        if !has_fields {
            (0..self.buffer.len()).for_each(|place| text(&mut record, place));
        }
        record
    }

    /// The answer to Read Buffer: the AID, the cursor, and every cell.
    pub(super) fn whole_buffer(&self) -> Vec<u8> {
        let mut record = vec![self.aid];
        record.extend(address::encode(self.buffer.cursor, self.buffer.len()));
        for place in 0..self.buffer.len() {
            match self.buffer.cell(place).content {
                Content::Attribute(attribute) => record.extend([START_FIELD, attribute.printable()]),
                Content::Character(byte) => record.push(byte),
                Content::Graphic(byte) => record.extend([0x08, byte]),
            }
        }
        record
    }
}

const SHIFT: Held = Held { shift: true, alt: false, ctrl: false };
