//! Which control function does what (ECMA-48 §8.3, DEC STD 070, xterm's "Control Sequences").

use super::super::cell::{Attributes, Cell, Style};
use super::super::charset::Charset;
use super::super::sequence::{ControlSequence, PARAMETERS, Step, StringKind};
use super::super::tap::{Movement, Tap};
use super::{Cursor, Protection, STRING, Terminal};

impl Terminal {
    /// Takes the next character of the host's output, whose last byte is at index `at` of the read.
    pub(in super::super) fn take(&mut self, character: char, at: usize, tap: &mut impl Tap) {
        match self.state.step(character) {
            Step::Text => return self.print(character, at, tap),
            Step::EscapeBegin => return self.intermediate = None,
            Step::EscapeIntermediate => return self.intermediate = Some(character),
            Step::Parameter => return self.sequence.push(character),
            // One more shows that it is too long.
            Step::StringPart if self.string.len() <= STRING => return self.string.push(character),
            Step::StringPart => return,
            Step::Nothing => {}
            Step::ControlSequenceBegin => return self.sequence = ControlSequence::default(),
            Step::StringBegin => return self.string.clear(),
            Step::Control => self.control(character, tap),
            Step::Escape => self.escape(self.intermediate, character, tap),
            Step::ControlSequence => self.sequence(character, at, tap),
            Step::String(kind) => self.string(kind, character),
        }
        // A function came: there is nothing to repeat.
        self.last = None;
    }

    /// Whether printable ASCII is text now.
    pub(in super::super) fn is_in_text(&self) -> bool {
        self.state == super::SequenceState::Text
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
            (None, '6') => self.back_index(tap),
            (None, '9') => self.forward_index(tap),
            (None, 'D') => self.index(tap),
            (None, 'E') => {
                self.index(tap);
                self.carriage_return();
            }
            (None, 'H') => self.tabs[self.cursor.column] = true,
            (None, 'M') => self.reverse_index(tap),
            (None, 'N') => self.single_shift = Some(2),
            (None, 'O') => self.single_shift = Some(3),
            (None, 'n') => self.cursor.charset = 2,
            (None, 'o') => self.cursor.charset = 3,
            (None, 'V') => self.protect(true, Protection::Always),
            (None, 'W') => self.cursor.style.attributes.remove(Attributes::PROTECTED),
            (None, '7') => self.save_cursor(),
            (None, '8') => self.restore_cursor(),
            (None, '=' | '>') => self.settings.keypad(last == '='),
            (None, 'Z') => self.report_kind(),
            (None, 'c') => self.reset(tap),
            (Some('#'), '8') => self.align(tap),
            (Some(set), last) => self.choose(set, last),
            _ => {}
        }
    }

    /// Chooses one of G0 to G3.
    fn choose(&mut self, set: char, last: char) {
        let index = match set {
            '(' => 0,
            ')' | '-' => 1,
            '*' | '.' => 2,
            '+' | '/' => 3,
            _ => return,
        };
        if let Some(charset) = Charset::chosen_by(set, last) {
            self.cursor.charsets[index] = charset;
        }
    }

    fn sequence(&mut self, last: char, at: usize, tap: &mut impl Tap) {
        let sequence = self.sequence;
        if sequence.has_parts() && last != 'm' {
            return;
        }
        match (sequence.private, sequence.intermediate) {
            (None, None) => self.plain_sequence(&sequence, last, at, tap),
            (Some('?'), None) => self.private_sequence(&sequence, last, tap),
            _ => self.other_sequence(&sequence, last, tap),
        }
    }

    fn plain_sequence(&mut self, sequence: &Sequence, last: char, at: usize, tap: &mut impl Tap) {
        let number = sequence.number(0);
        let (count, second) = (usize::from(sequence.count(0)), usize::from(sequence.count(1)));
        match last {
            '@' => self.changes_cells(|it| it.insert_cells(count, tap)),
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
            'J' => self.erase_screen(number, false, tap),
            'K' => self.erase_row(number, false, tap),
            'L' => self.insert_rows(count, tap),
            'M' => self.delete_rows(count, tap),
            'P' => self.changes_cells(|it| it.delete_cells(count, tap)),
            'S' => self.scroll_up(self.region.clone(), count, tap),
            // It is about the mouse.
            'T' if sequence.numbers().len() > 1 || sequence.is_zero() => {}
            'T' | '^' => self.scroll_down(self.region.clone(), count, tap),
            'X' => self.changes_cells(|it| {
                let Cursor { row, column, .. } = it.cursor;
                it.erase(row, column..(column + count).min(it.grid.columns()), false, tap);
            }),
            'Z' => self.back_tab(count),
            'a' => self.move_to(self.row(), self.cursor.column + count),
            'b' => self.repeat(count, at, tap),
            'c' if number == 0 => self.report_kind(),
            'd' => self.move_to(count - 1, self.cursor.column),
            'e' => self.move_to(self.row() + count, self.cursor.column),
            'g' => self.clear_tabs(number),
            'h' | 'l' => sequence.numbers().iter().for_each(|mode| self.settings.set_plain(*mode, last == 'h')),
            'm' => self.cursor.style.select(sequence),
            'n' => self.report_status(number, ""),
            'r' => self.set_region(count - 1, usize::from(sequence.number(1))),
            's' => self.save_cursor(),
            't' if number == 18 => self.report_size(),
            'u' => self.restore_cursor(),
            _ => {}
        }
    }

    fn private_sequence(&mut self, sequence: &Sequence, last: char, tap: &mut impl Tap) {
        match last {
            'h' | 'l' => sequence.numbers().iter().for_each(|mode| self.set(*mode, last == 'h', tap)),
            'J' => self.erase_screen(sequence.number(0), true, tap),
            'K' => self.erase_row(sequence.number(0), true, tap),
            'n' => self.report_status(sequence.number(0), "?"),
            's' => sequence.numbers().iter().for_each(|mode| self.save(*mode)),
            'r' => sequence.numbers().iter().for_each(|mode| self.restore(*mode, tap)),
            _ => {}
        }
    }

    fn other_sequence(&mut self, sequence: &Sequence, last: char, tap: &mut impl Tap) {
        let count = usize::from(sequence.count(0));
        match (sequence.private, sequence.intermediate, last) {
            (None, Some('!'), 'p') => self.reset_softly(),
            (None, Some(' '), '@') => self.shift_region(|it| it.delete_cells(count, tap)),
            (None, Some(' '), 'A') => self.shift_region(|it| it.insert_cells(count, tap)),
            (None, Some('\''), '}') => self.shift_columns(|it| it.insert_cells(count, tap)),
            (None, Some('\''), '~') => self.shift_columns(|it| it.delete_cells(count, tap)),
            (None, Some(' '), 'q') if sequence.number(0) <= 6 => self.shape = sequence.count(0),
            (None, Some('"'), 'q') if sequence.number(0) <= 2 => {
                self.protect(sequence.number(0) == 1, Protection::Selective);
            }
            (None, Some('$'), 'p') => self.report_plain_mode(sequence.number(0)),
            (Some('?'), Some('$'), 'p') => self.report_mode(sequence.number(0)),
            (Some('>'), None, 'c') if sequence.number(0) == 0 => self.report_version_of_kind(),
            (Some('='), None, 'c') if sequence.number(0) == 0 => self.report_unit(),
            (Some('>'), None, 'q') if sequence.number(0) == 0 => self.report_version(),
            _ => {}
        }
    }

    fn string(&mut self, kind: StringKind, end: char) {
        if self.string.len() > STRING {
            return;
        }
        let string: String = self.string.iter().collect();
        match kind {
            StringKind::Command => self.command(&string, end),
            StringKind::DeviceControl => self.device_control(&string),
            StringKind::Other => {}
        }
    }

    /// Protects the characters that come from erasing, or no longer.
    fn protect(&mut self, on: bool, protection: Protection) {
        self.cursor.style.attributes.set(Attributes::PROTECTED, on);
        self.protection = protection;
    }

    /// A function that changes cells in the cursor's row, after which no wrap is pending.
    fn changes_cells(&mut self, change: impl FnOnce(&mut Self)) {
        self.cursor_moved();
        change(self);
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
    fn back_index(&mut self, tap: &mut impl Tap) {
        if self.cursor.column > 0 {
            self.left(1);
        } else {
            self.shift_region(|it| it.insert_cells(1, tap));
        }
    }

    /// DECFI: moves the cursor right, or, in the last column, the text of the region left.
    fn forward_index(&mut self, tap: &mut impl Tap) {
        if self.cursor.column + 1 < self.grid.columns() {
            self.right(1);
        } else {
            self.shift_region(|it| it.delete_cells(1, tap));
        }
    }

    fn insert_rows(&mut self, count: usize, tap: &mut impl Tap) {
        if self.region.contains(&self.cursor.row) {
            self.scroll_down(self.cursor.row..self.region.end, count, tap);
            self.carriage_return();
        }
    }

    fn delete_rows(&mut self, count: usize, tap: &mut impl Tap) {
        if self.region.contains(&self.cursor.row) {
            self.scroll_up(self.cursor.row..self.region.end, count, tap);
            self.carriage_return();
        }
    }

    fn erase_row(&mut self, part: u16, selective: bool, tap: &mut impl Tap) {
        let Cursor { row, column, .. } = self.cursor;
        let columns = match part {
            0 => column..self.grid.columns(),
            1 => 0..column + 1,
            2 => 0..self.grid.columns(),
            _ => return,
        };
        if columns.end == self.grid.columns() {
            self.grid.set_goes_on(row, false);
        }
        self.cursor_moved();
        self.erase(row, columns, selective, tap);
    }

    fn erase_screen(&mut self, part: u16, selective: bool, tap: &mut impl Tap) {
        let Cursor { row, column, .. } = self.cursor;
        let (last_row, last_column) = (self.grid.rows() - 1, self.grid.columns() - 1);
        let rows = match part {
            0 => row + 1..last_row + 1,
            1 => 0..row,
            2 => 0..last_row + 1,
            _ => return,
        };
        let is_all = part == 2
            || (part == 0 && (row, column) == (0, 0))
            || (part == 1 && (row, column) == (last_row, last_column));
        self.cleared += u64::from(is_all);
        if is_all && !self.spares(selective) {
            self.clear(tap);
            return;
        }
        if part != 2 {
            self.erase_row(part, selective, tap);
        }
        self.cursor_moved();
        for row in rows {
            self.grid.set_goes_on(row, false);
            self.erase(row, 0..last_column + 1, selective, tap);
        }
        if is_all && !self.grid.cells().any(Cell::is_protected) {
            self.protection = Protection::None;
        }
    }

    /// REP: writes the last character again, if nothing came between.
    fn repeat(&mut self, count: usize, at: usize, tap: &mut impl Tap) {
        let Some(last) = self.last else { return };
        // More than a screen shows nothing else.
        for _ in 0..count.min(self.grid.columns() * self.grid.rows()) {
            self.print(last, at, tap);
        }
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
    fn align(&mut self, tap: &mut impl Tap) {
        self.cursor.origin = false;
        self.cursor.style.reset();
        self.region = 0..self.grid.rows();
        self.move_to(0, 0);
        self.grid.fill(Cell::new('E', Style::default()));
        tap.moved(Movement::Aligned);
    }
}

type Sequence = ControlSequence<PARAMETERS>;
