//! What a cell of the screen shows.

use bitflags::bitflags;

use super::widths::width;

/// Most combining characters of a cell, as in xterm.
const MAX_MARKS: usize = 2;
/// In a cell that nothing was written to since it was erased.
const ERASED: char = '\0';
/// In the second cell of a wide character.
const TAIL: char = '\u{ffff}';

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    character: char,
    /// Combining characters; `ERASED` where there is none.
    marks: [char; MAX_MARKS],
    style: Style,
}

/// How characters are drawn.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub foreground: Colour,
    pub background: Colour,
    pub attributes: Attributes,
}

/// A colour, as the host chose it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Default,
    /// One of the palette: 0 to 7 are the plain colours, 8 to 15 the bright ones.
    Palette(u8),
    /// Red, green and blue.
    Direct(u8, u8, u8),
}

bitflags! {
    /// Attributes of a character (SGR), and whether selective erasing spares it (DECSCA).
    #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
    pub struct Attributes: u16 {
        const BOLD = 1;
        const FAINT = 1 << 1;
        const ITALIC = 1 << 2;
        const UNDERLINED = 1 << 3;
        const BLINKING = 1 << 4;
        const INVERSE = 1 << 5;
        const HIDDEN = 1 << 6;
        const CROSSED_OUT = 1 << 7;
        const DOUBLY_UNDERLINED = 1 << 8;
        const PROTECTED = 1 << 9;
    }
}

impl Cell {
    /// An erased cell: only the background is kept.
    pub(super) fn erased(background: Colour) -> Self {
        let style = Style { background, ..Style::default() };
        Self { character: ERASED, marks: [ERASED; MAX_MARKS], style }
    }

    pub(super) fn new(character: char, style: Style) -> Self {
        // The noncharacter has a meaning of its own here.
        let character = if character == TAIL { char::REPLACEMENT_CHARACTER } else { character };
        Self { character, marks: [ERASED; MAX_MARKS], style }
    }

    /// The second cell of a wide character.
    pub(super) fn tail(style: Style) -> Self {
        Self { character: TAIL, marks: [ERASED; MAX_MARKS], style }
    }

    /// Adds a combining character; false if there is no room.
    pub(super) fn combine(&mut self, mark: char) -> bool {
        let free = self.marks.iter_mut().find(|mark| **mark == ERASED);
        free.map(|free| *free = mark).is_some()
    }

    /// The character that it shows: a blank if it is hidden; `None` if nothing was written there, or if it is the second cell of a
    /// wide character.
    pub fn character(&self) -> Option<char> {
        let shown = if self.is_hidden() { ' ' } else { self.character };
        self.is_written().then_some(shown)
    }

    /// By its attribute, or because its character has the colour of its ground. Terminals show bold and faint ones in another colour.
    fn is_hidden(&self) -> bool {
        let Style { foreground, background, attributes } = self.style;
        let is_alike = foreground == background && foreground != Colour::Default;
        attributes.contains(Attributes::HIDDEN)
            || is_alike && !attributes.intersects(Attributes::BOLD | Attributes::FAINT)
    }

    /// The combining characters that are joined to its character.
    pub fn marks(&self) -> impl Iterator<Item = char> + '_ {
        self.marks.iter().copied().take_while(|mark| *mark != ERASED)
    }

    /// Whether it shows nothing: it is erased, hidden, or a blank.
    pub fn is_blank(&self) -> bool {
        !self.is_tail() && matches!(self.character(), None | Some(' '))
    }

    /// Whether it shows a character, combining ones aside; an erased cell shows a blank.
    pub fn shows(&self, character: char) -> bool {
        if character == ' ' { self.is_blank() } else { self.character() == Some(character) }
    }

    /// Whether a character was written there.
    pub(super) fn is_written(&self) -> bool {
        !matches!(self.character, ERASED | TAIL)
    }

    /// Whether it is the second cell of a wide character.
    pub fn is_tail(&self) -> bool {
        self.character == TAIL
    }

    /// Whether selective erasing spares it.
    pub(super) fn is_protected(&self) -> bool {
        self.style.attributes.contains(Attributes::PROTECTED)
    }

    pub fn style(&self) -> Style {
        self.style
    }

    /// Appends what it shows: a blank if it is erased, one for each column if it is hidden, nothing for the second cell of a wide
    /// character.
    pub fn append_to(&self, text: &mut String) {
        if self.is_tail() {
            return;
        }
        let columns = if self.is_hidden() && self.is_written() { width(self.character) } else { 1 };
        text.extend(std::iter::repeat_n(self.character().unwrap_or(' '), columns));
        text.extend(self.marks().filter(|_| !self.is_hidden()));
    }
}
