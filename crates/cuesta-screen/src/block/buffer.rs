//! The cells of the screen and their fields. A field begins behind its attribute, which takes a cell, and ends before the next
//! attribute; the last field goes on at the top of the screen. A screen without attributes is one unprotected field.

use super::attribute::Attribute;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) content: Content,
    /// The host has written it since the user's last key.
    pub(super) fresh: bool,
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A character in EBCDIC; 0 is nothing, shown as a blank and not sent.
    Character(u8),
    /// A graphic character of another set, shown as a blank.
    Graphic(u8),
    /// The attribute of the field behind it, shown as a blank.
    Attribute(Attribute),
}

const NOTHING: Content = Content::Character(0);

#[derive(Debug, Clone)]
pub(super) struct Buffer {
    columns: usize,
    cells: Vec<Cell>,
    /// Index of the cell where the cursor is.
    pub(super) cursor: usize,
}

impl Buffer {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        let cell = Cell { content: NOTHING, fresh: false };
        Self { columns, cells: vec![cell; columns * rows], cursor: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.len() / self.columns
    }

    pub(super) fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
    }

    pub(super) fn cell(&self, place: usize) -> Cell {
        self.cells[place]
    }

    /// The host or the user puts something into a cell.
    pub(super) fn put(&mut self, place: usize, content: Content, by_host: bool) {
        self.cells[place] = Cell { content, fresh: by_host };
    }

    /// Makes all cells empty, with the cursor in the first one.
    pub(super) fn erase(&mut self, by_host: bool) {
        self.cells.fill(Cell { content: NOTHING, fresh: by_host });
        self.cursor = 0;
    }

    /// From now on, nothing counts as written since the last key.
    pub(super) fn clear_fresh(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.fresh = false);
    }

    /// The place behind another; the first is behind the last.
    pub(super) fn next_place(&self, place: usize) -> usize {
        (place + 1) % self.len()
    }

    pub(super) fn previous_place(&self, place: usize) -> usize {
        (place + self.len() - 1) % self.len()
    }

    pub(super) fn attribute(&self, place: usize) -> Option<Attribute> {
        match self.cells[place].content {
            Content::Attribute(attribute) => Some(attribute),
            _ => None,
        }
    }

    /// Places of all attributes, from the top.
    pub(super) fn fields(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|place| self.attribute(*place).is_some())
    }

    /// The place of the attribute of the field that a place is in; `None` on a screen without fields.
    pub(super) fn field_of(&self, place: usize) -> Option<usize> {
        let is_attribute = |place: &usize| self.attribute(*place).is_some();
        (0..=place).rev().find(is_attribute).or_else(|| (place + 1..self.len()).rev().find(is_attribute))
    }

    /// The attribute of the field that a place is in.
    pub(super) fn attribute_of(&self, place: usize) -> Option<Attribute> {
        self.field_of(place).and_then(|field| self.attribute(field))
    }

    /// Places of a field's text: behind its attribute, up to the next attribute or back to its own.
    pub(super) fn text_of(&self, field: usize) -> impl Iterator<Item = usize> {
        let places = (1..self.len()).map(move |step| (field + step) % self.len());
        places.take_while(|place| self.attribute(*place).is_none())
    }

    /// Whether a character can be typed at a place.
    pub(super) fn accepts_input(&self, place: usize) -> bool {
        self.attribute(place).is_none() && !self.attribute_of(place).is_some_and(Attribute::is_protected)
    }

    /// Marks the field that a place is in as changed.
    pub(super) fn set_modified(&mut self, place: usize) {
        if let Some(field) = self.field_of(place) {
            self.set_field_modified(field, true);
        }
    }

    pub(super) fn set_field_modified(&mut self, field: usize, modified: bool) {
        if let Content::Attribute(attribute) = &mut self.cells[field].content {
            *attribute = attribute.with_modified(modified);
        }
    }

    /// The first place of the next field from a place on that can be typed into.
    pub(super) fn next_input(&self, from: usize) -> Option<usize> {
        let places = (0..self.len()).map(|step| (from + step) % self.len());
        let fields = places.filter(|place| self.attribute(*place).is_some_and(|field| !field.is_protected()));
        fields.map(|field| self.next_place(field)).find(|place| self.attribute(*place).is_none())
    }

    /// Each cell of a row as it is shown, and whether the host wrote it since the last key.
    pub(super) fn for_each_shown(&self, row: usize, mut cell: impl FnMut(char, bool)) {
        let places = row * self.columns..(row + 1) * self.columns;
        let mut hidden = self.attribute_of(places.start).is_some_and(Attribute::is_hidden);
        for place in places {
            let Cell { content, fresh } = self.cells[place];
            let shown = match content {
                Content::Attribute(attribute) => {
                    hidden = attribute.is_hidden();
                    ' '
                }
                Content::Character(byte) if byte >= 0x40 && byte != 0xff && !hidden => cuesta_ebcdic::character(byte),
                Content::Character(_) | Content::Graphic(_) => ' ',
            };
            cell(shown, fresh);
        }
    }
}
