//! Which control function does what (ECMA-48 §8.3, DEC STD 070, xterm's "Control Sequences").

use std::ops::Range;

use super::super::cell::{Attributes, Cell, Style};
use super::super::charset::Charset;
use super::super::sequence::{ControlSequence, Step, StringKind};
use super::super::tap::Tap;
use super::super::widths::width;
use super::settings::BLINK;
use super::{Cursor, Erasing, MAX_STRING, Protection, Terminal};

impl Terminal {
    /// Takes the next character of the host's output, whose last byte is at index `at` of the read.
    pub(in super::super) fn take(&mut self, character: char, at: usize, tap: &mut impl Tap) {
        match self.parser.take(character) {
            Step::Text => return self.print(character, at, tap),
            Step::EscapeBegin | Step::EscapeIntermediate | Step::ControlSequenceBegin | Step::Parameter => return,
            Step::Control => self.control(character, tap),
            Step::Escape => self.escape(self.parser.intermediate, character, tap),
            Step::ControlSequence => self.control_sequence(character, at, tap),
            Step::StringBegin => self.string.clear(),
            // A longer one is not obeyed: it keeps one character too many.
            Step::StringPart if self.string.len() <= MAX_STRING => self.string.push(character),
            Step::StringPart | Step::Nothing => {}
            Step::String(kind) => self.string(kind, character),
        }
        // REP repeats only what comes right before it.
        self.last = None;
    }

    /// Whether printable ASCII is text now.
    pub(in super::super) fn is_in_text(&self) -> bool {
        self.parser.is_in_text()
    }

    fn control(&mut self, control: char, tap: &mut impl Tap) {
        match control {
            '\x08' => self.left(1),
            '\t' => self.tab(1, tap),
            '\n'..='\x0c' => {
                self.index(tap);
                if self.settings.starts_rows() {
                    self.carriage_return();
                }
            }
            '\r' => self.carriage_return(),
            '\x0e' => self.cursor.charset = 1,
            '\x0f' => self.cursor.charset = 0,
            _ => {}
        }
    }

    fn escape(&mut self, intermediate: Option<char>, last: char, tap: &mut impl Tap) {
        match (intermediate, last) {
            (None, '6') => self.back_index(),
            (None, '9') => self.forward_index(),
            (None, 'D') => self.index(tap),
            (None, 'E') => {
                self.index(tap);
                self.carriage_return();
            }
            (None, 'H') => self.tabs[self.cursor.column] = true,
            (None, 'M') => self.reverse_index(),
            (None, 'N') => self.single_shift = Some(2),
            (None, 'O') => self.single_shift = Some(3),
            (None, 'n') => self.cursor.charset = 2,
            (None, 'o') => self.cursor.charset = 3,
            (None, 'V') => self.protect(Protection::Always),
            (None, 'W') => self.end_protection(),
            (None, '7') => self.save_cursor(),
            (None, '8') => self.restore_cursor(),
            (None, '=' | '>') => self.settings.keypad(last == '='),
            (None, 'Z') => self.report_primary_attributes(),
            (None, 'c') => self.reset(),
            (Some('#'), '8') => self.align(),
            (Some(set), last) => self.designate(set, last),
            _ => {}
        }
    }

    /// Designates a character set as one of G0 to G3.
    fn designate(&mut self, set: char, last: char) {
        let index = match set {
            '(' => 0,
            ')' | '-' => 1,
            '*' | '.' => 2,
            '+' | '/' => 3,
            _ => return,
        };
        if let Some(charset) = Charset::designated_by(set, last) {
            self.cursor.charsets[index] = charset;
        }
    }

    fn control_sequence(&mut self, last: char, at: usize, tap: &mut impl Tap) {
        let sequence = self.parser.sequence;
        if sequence.has_subparameters() && last != 'm' {
            return;
        }
        match (sequence.private, sequence.intermediate) {
            (None, None) => self.standard_sequence(&sequence, last, at, tap),
            (Some('?'), None) => self.private_sequence(&sequence, last, tap),
            _ => self.other_sequence(&sequence, last),
        }
    }

    fn standard_sequence(&mut self, sequence: &ControlSequence, last: char, at: usize, tap: &mut impl Tap) {
        let number = sequence.number(0);
        let (count, second) = (usize::from(sequence.count(0)), usize::from(sequence.count(1)));
        match last {
            '@' => {
                self.cursor_moved();
                self.insert_cells(count);
            }
            'A' => self.up(count),
            'B' => self.down(count),
            'C' => self.right(count),
            'D' => self.left(count),
            'E' => {
                self.down(count);
                self.carriage_return();
            }
            'F' => {
                self.up(count);
                self.carriage_return();
            }
            'G' | '`' => self.move_to(self.row(), count - 1),
            'H' | 'f' => self.move_to(count - 1, second - 1),
            'I' => self.tab(count, tap),
            'J' => self.erase_screen(number, Erasing::Plain),
            'K' => self.erase_row(number, Erasing::Plain),
            'L' => self.insert_rows(count),
            'M' => self.delete_rows(count, tap),
            'P' => {
                self.cursor_moved();
                self.delete_cells(count);
            }
            'S' => self.scroll_up(self.region.clone(), count, tap),
            // It is about the mouse.
            'T' if sequence.numbers().len() > 1 || sequence.is_zero() => {}
            'T' | '^' => self.scroll_down(self.region.clone(), count),
            'X' => {
                self.cursor_moved();
                let Cursor { row, column, .. } = self.cursor;
                self.erase(row, column..(column + count).min(self.grid.columns()), Erasing::Plain);
            }
            'Z' => self.back_tab(count),
            'a' => self.move_to(self.row(), self.cursor.column + count),
            'b' => self.repeat(count, at, tap),
            'c' if number == 0 => self.report_primary_attributes(),
            'd' => self.move_to(count - 1, self.cursor.column),
            'e' => self.move_to(self.row() + count, self.cursor.column),
            'g' => self.clear_tabs(number),
            'h' | 'l' => sequence.numbers().iter().for_each(|mode| self.settings.set_ansi(*mode, last == 'h')),
            'm' => self.cursor.style.select(sequence),
            'n' => self.report_status(number, ""),
            'r' => self.set_region(count - 1, usize::from(sequence.number(1))),
            's' => self.save_cursor(),
            't' if number == 18 => self.report_size(),
            'u' => self.restore_cursor(),
            _ => {}
        }
    }

    fn private_sequence(&mut self, sequence: &ControlSequence, last: char, tap: &mut impl Tap) {
        match last {
            'h' | 'l' => sequence.numbers().iter().for_each(|mode| self.set(*mode, last == 'h', tap)),
            'J' => self.erase_screen(sequence.number(0), Erasing::Selective),
            'K' => self.erase_row(sequence.number(0), Erasing::Selective),
            'n' => self.report_status(sequence.number(0), "?"),
            's' => sequence.numbers().iter().for_each(|mode| self.save(*mode)),
            'r' => sequence.numbers().iter().for_each(|mode| self.restore(*mode, tap)),
            _ => {}
        }
    }

    fn other_sequence(&mut self, sequence: &ControlSequence, last: char) {
        let count = usize::from(sequence.count(0));
        match (sequence.private, sequence.intermediate, last) {
            (None, Some('!'), 'p') => self.reset_softly(),
            (None, Some(' '), '@') => self.shift_region(|it| it.delete_cells(count)),
            (None, Some(' '), 'A') => self.shift_region(|it| it.insert_cells(count)),
            (None, Some('\''), '}') => self.shift_columns(|it| it.insert_cells(count)),
            (None, Some('\''), '~') => self.shift_columns(|it| it.delete_cells(count)),
            (None, Some(' '), 'q') if sequence.number(0) <= 6 => self.set_shape(sequence.count(0)),
            (None, Some('"'), 'q') if sequence.number(0) == 1 => self.protect(Protection::Selective),
            (None, Some('"'), 'q') if matches!(sequence.number(0), 0 | 2) => self.end_protection(),
            (None, Some('$'), 'p') => self.report_ansi_mode(sequence.number(0)),
            (Some('?'), Some('$'), 'p') => self.report_mode(sequence.number(0)),
            (Some('>'), None, 'c') if sequence.number(0) == 0 => self.report_secondary_attributes(),
            (Some('='), None, 'c') if sequence.number(0) == 0 => self.report_tertiary_attributes(),
            (Some('>'), None, 'q') if sequence.number(0) == 0 => self.report_version(),
            _ => {}
        }
    }

    fn string(&mut self, kind: StringKind, end: char) {
        if self.string.len() > MAX_STRING {
            return;
        }
        let string = std::mem::take(&mut self.string);
        match kind {
            StringKind::Command => self.command(&string, end),
            StringKind::DeviceControl => self.device_control(&string),
            StringKind::Other => {}
        }
    }

    /// Protects the characters that come from erasing.
    fn protect(&mut self, protection: Protection) {
        self.cursor.style.attributes.insert(Attributes::PROTECTED);
        self.protection = protection;
    }

    /// Protects the characters that come no longer; those that are there stay protected.
    fn end_protection(&mut self) {
        self.cursor.style.attributes.remove(Attributes::PROTECTED);
    }

    /// Does the same in each row of the region, if the cursor is in it, from the first column on.
    fn shift_region(&mut self, change: impl FnMut(&mut Self)) {
        let column = std::mem::take(&mut self.cursor.column);
        self.shift_columns(change);
        self.cursor.column = column;
    }

    /// Does the same in each row of the region, if the cursor is in it.
    fn shift_columns(&mut self, mut change: impl FnMut(&mut Self)) {
        let row = self.cursor.row;
        if self.region.contains(&row) {
            for row in self.region.clone() {
                self.cursor.row = row;
                change(self);
            }
            self.cursor.row = row;
        }
    }

    /// DECBI: moves the cursor left, or, in the first column, the text of the region right.
    fn back_index(&mut self) {
        if self.cursor.column > 0 {
            self.left(1);
        } else {
            self.shift_region(|it| it.insert_cells(1));
        }
    }

    /// DECFI: moves the cursor right, or, in the last column, the text of the region left.
    fn forward_index(&mut self) {
        if self.cursor.column + 1 < self.grid.columns() {
            self.right(1);
        } else {
            self.shift_region(|it| it.delete_cells(1));
        }
    }

    fn insert_rows(&mut self, count: usize) {
        if self.region.contains(&self.cursor.row) {
            self.scroll_down(self.cursor.row..self.region.end, count);
            self.carriage_return();
        }
    }

    fn delete_rows(&mut self, count: usize, tap: &mut impl Tap) {
        if self.region.contains(&self.cursor.row) {
            self.scroll_up(self.cursor.row..self.region.end, count, tap);
            self.carriage_return();
        }
    }

    fn erase_row(&mut self, part: u16, erasing: Erasing) {
        let Cursor { row, column, .. } = self.cursor;
        let columns = match part {
            0 => column..self.grid.columns(),
            1 => 0..column + 1,
            2 => 0..self.grid.columns(),
            _ => return,
        };
        if columns.end == self.grid.columns() {
            self.grid.set_wrapped(row, false);
        }
        self.cursor_moved();
        self.erase(row, columns, erasing);
    }

    fn erase_screen(&mut self, part: u16, erasing: Erasing) {
        let Cursor { row, column, .. } = self.cursor;
        let (rows, columns) = (self.grid.rows(), self.grid.columns());
        match part {
            0 if (row, column) == (0, 0) => self.erase_all(erasing),
            0 => {
                self.erase_row(part, erasing);
                self.erase_rows(row + 1..rows, erasing);
            }
            1 if (row + 1, column + 1) == (rows, columns) => self.erase_all(erasing),
            1 => {
                self.erase_rows(0..row, erasing);
                self.erase_row(part, erasing);
            }
            2 => self.erase_all(erasing),
            3 => self.grid.forget_above(),
            _ => {}
        }
    }

    pub(super) fn erase_all(&mut self, erasing: Erasing) {
        self.cleared += 1;
        if !self.spares(erasing) {
            self.clear();
            return;
        }
        self.cursor_moved();
        self.erase_rows(0..self.grid.rows(), erasing);
        if !self.grid.cells().any(Cell::is_protected) {
            self.protection = Protection::None;
        }
    }

    fn erase_rows(&mut self, rows: Range<usize>, erasing: Erasing) {
        for row in rows {
            self.grid.set_wrapped(row, false);
            self.erase(row, 0..self.grid.columns(), erasing);
        }
    }

    /// REP: writes the last character again, if nothing came between.
    fn repeat(&mut self, count: usize, at: usize, tap: &mut impl Tap) {
        let Some(last) = self.last else { return };
        // When two screens are full of it, each further row leaves all as it is.
        let in_row = self.grid.columns() / width(last).max(1);
        let many = 2 * in_row * self.grid.rows();
        let count = if count > many { many + (count - many) % in_row } else { count };
        for _ in 0..count {
            self.print(last, at, tap);
        }
    }

    /// DECSCUSR: odd shapes blink.
    fn set_shape(&mut self, shape: u16) {
        self.shape = shape.next_multiple_of(2);
        self.settings.set(BLINK, shape % 2 == 1);
    }

    fn clear_tabs(&mut self, which: u16) {
        match which {
            0 => self.tabs[self.cursor.column] = false,
            3 => self.tabs.fill(false),
            _ => {}
        }
    }

    /// Sets the rows that scroll, from `top` up to `end`, or to the last one if that is 0 or too large.
    fn set_region(&mut self, top: usize, end: usize) {
        let rows = self.grid.rows();
        let end = if end == 0 || end > rows { rows } else { end };
        if top + 1 < end {
            self.region = top..end;
            self.move_to(0, 0);
        }
    }

    /// DECALN: fills the screen.
    fn align(&mut self) {
        self.cursor.origin = false;
        self.cursor.style.attributes &= Attributes::PROTECTED;
        self.region = 0..self.grid.rows();
        self.move_to(0, 0);
        self.grid.fill(Cell::new('E', Style::default()));
    }
}
