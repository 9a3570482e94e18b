//! The rows of a screen: writing, erasing, inserting, deleting and scrolling cells. A wide character that is cut in two by any of
//! these becomes blanks.

use std::collections::VecDeque;
use std::ops::Range;

use super::cell::{Cell, Colour, Style};

/// A grid of cells.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    rows: Vec<Row>,
    columns: usize,
    /// The rows right above, the nearest one last: as many as resizes left no room for. They come back when there is room.
    above: VecDeque<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    cells: Box<[Cell]>,
    /// The text goes on in the next row.
    wrapped: bool,
}

impl Row {
    fn new(columns: usize, background: Colour) -> Self {
        Self { cells: vec![Cell::erased(background); columns].into(), wrapped: false }
    }
}

impl Grid {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self { rows: (0..rows).map(|_| Row::new(columns, Colour::Default)).collect(), columns, above: VecDeque::new() }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Its memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let rows = self.rows.iter().chain(&self.above);
        rows.map(|row| size_of_val(&*row.cells) + size_of::<Row>()).sum()
    }

    /// The cells of a row, from 0.
    pub(super) fn row(&self, row: usize) -> &[Cell] {
        self.rows.get(row).map_or(&[], |row| &row.cells)
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flat_map(|row| &row.cells)
    }

    pub(super) fn is_wrapped(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|row| row.wrapped)
    }

    pub(super) fn set_wrapped(&mut self, row: usize, wrapped: bool) {
        self.rows[row].wrapped = wrapped;
    }

    /// Writes a character of one column.
    pub(super) fn write(&mut self, row: usize, column: usize, cell: Cell) {
        self.split(row, column);
        self.split(row, column + 1);
        self.rows[row].cells[column] = cell;
    }

    /// Writes ASCII, which fits into the row.
    pub(super) fn write_text(&mut self, row: usize, column: usize, text: &[u8], style: Style) {
        self.split(row, column);
        self.split(row, column + text.len());
        for (cell, byte) in self.rows[row].cells[column..].iter_mut().zip(text) {
            *cell = Cell::new(char::from(*byte), style);
        }
    }

    /// Writes a character of two columns, of which the second one exists.
    pub(super) fn write_wide(&mut self, row: usize, column: usize, cell: Cell) {
        self.write(row, column, cell);
        self.widen(row, column);
    }

    /// Gives a character of one column a second one, which exists.
    pub(super) fn widen(&mut self, row: usize, column: usize) {
        self.split(row, column + 2);
        let style = self.rows[row].cells[column].style();
        self.rows[row].cells[column + 1] = Cell::tail(style);
    }

    /// Joins a combining character to the one at a position; false if there is no room.
    pub(super) fn combine(&mut self, row: usize, column: usize, mark: char) -> bool {
        self.rows[row].cells[column].combine(mark)
    }

    /// Erases cells of a row for which `spares` is false.
    pub(super) fn erase(
        &mut self,
        row: usize,
        columns: Range<usize>,
        background: Colour,
        spares: impl Fn(&Cell) -> bool,
    ) {
        self.split(row, columns.start);
        self.split(row, columns.end);
        for cell in self.rows[row].cells[columns].iter_mut().filter(|cell| !spares(cell)) {
            *cell = Cell::erased(background);
        }
    }

    /// Shifts the cells of a row from a column on to the right.
    pub(super) fn insert(&mut self, row: usize, column: usize, count: usize, background: Colour) {
        let count = count.min(self.columns - column);
        self.split(row, column);
        self.split(row, self.columns - count);
        let cells = &mut self.rows[row].cells[column..];
        cells.rotate_right(count);
        cells[..count].fill(Cell::erased(background));
    }

    /// Deletes cells of a row; those behind them move up to the left. Where the second cell of a wide character stood behind the last
    /// one that stays, that one is erased, as in xterm.
    pub(super) fn delete(&mut self, row: usize, column: usize, count: usize, background: Colour) {
        let count = count.min(self.columns - column);
        self.split(row, column);
        self.split(row, column + count);
        self.rows[row].wrapped = false;
        let cells = &mut self.rows[row].cells[column..];
        let kept = cells.len() - count;
        let from = kept - usize::from(kept > 0 && cells[kept].is_tail());
        cells.rotate_left(count);
        cells[from..].fill(Cell::erased(background));
    }

    /// Moves rows up; new ones come in at the bottom.
    pub(super) fn scroll_up(&mut self, rows: Range<usize>, count: usize, background: Colour) {
        let is_at_top = rows.start == 0;
        let rows = &mut self.rows[rows];
        let count = count.min(rows.len());
        if is_at_top && !self.above.is_empty() {
            for row in &rows[..count] {
                self.above.pop_front();
                self.above.push_back(row.clone());
            }
        }
        rows.rotate_left(count);
        let kept = rows.len() - count;
        rows[kept..].iter_mut().for_each(|row| row.erase(background));
    }

    /// Moves rows down; new ones come in at the top.
    pub(super) fn scroll_down(&mut self, rows: Range<usize>, count: usize, background: Colour) {
        let rows = &mut self.rows[rows];
        let count = count.min(rows.len());
        rows.rotate_right(count);
        rows[..count].iter_mut().for_each(|row| row.erase(background));
    }

    pub(super) fn fill(&mut self, cell: Cell) {
        for row in &mut self.rows {
            row.cells.fill(cell);
            row.wrapped = false;
        }
    }

    /// Forgets the rows above.
    pub(super) fn forget_above(&mut self) {
        self.above.clear();
    }

    /// Changes the size; returns how many rows down the text moved. If there is no room, rows below the cursor go first, then those
    /// at the top, which come back when there is room again. Columns go and come at the right.
    pub(super) fn resize(&mut self, columns: usize, rows: usize, cursor_row: usize) -> isize {
        let gone = (cursor_row + 1).saturating_sub(rows);
        self.above.extend(self.rows.drain(..gone));
        self.rows.truncate(rows);
        let back = self.above.len().min(rows - self.rows.len());
        self.rows.splice(..0, self.above.drain(self.above.len() - back..));
        self.columns = columns;
        for row in 0..self.rows.len() {
            self.split(row, columns);
            let mut cells = std::mem::take(&mut self.rows[row].cells).into_vec();
            cells.resize(columns, Cell::erased(Colour::Default));
            self.rows[row].cells = cells.into();
        }
        self.rows.resize_with(rows, || Row::new(columns, Colour::Default));
        back.cast_signed() - gone.cast_signed()
    }

    /// Makes blanks of a wide character that has one cell before this column and one in it.
    fn split(&mut self, row: usize, column: usize) {
        let cells = &mut self.rows[row].cells;
        if column > 0 && cells.get(column).is_some_and(Cell::is_tail) {
            for cell in &mut cells[column - 1..=column] {
                *cell = Cell::erased(cell.style().background);
            }
        }
    }
}

impl Row {
    fn erase(&mut self, background: Colour) {
        self.cells.fill(Cell::erased(background));
        self.wrapped = false;
    }
}
