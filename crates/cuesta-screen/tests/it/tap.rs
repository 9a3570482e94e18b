//! What a tap is told is all that happens: a screen that is drawn from it alone shows the same.

use cuesta_screen::vt::{Attributes, Cell, Movement, Printed, Screen, Style, Tap, Widths};
use proptest::prelude::*;

/// The cells of both screens, drawn from what a tap is told.
struct Mirror {
    shown: Vec<Row>,
    other: Vec<Row>,
    columns: usize,
    /// The rows above each of them, once a resize has moved some off; the nearest one last.
    above: Vec<Row>,
    other_above: Vec<Row>,
}

type Row = Vec<Drawn>;

/// What was drawn into a cell.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
enum Drawn {
    #[default]
    Nothing,
    /// A character with those that joined it.
    Character(String, Style),
    /// The second cell of a wide character.
    Tail(Style),
}

impl Drawn {
    fn style(&self) -> Option<Style> {
        match self {
            Self::Nothing => None,
            Self::Character(_, style) | Self::Tail(style) => Some(*style),
        }
    }

    fn has(&self, attributes: Attributes) -> bool {
        self.style().is_some_and(|style| style.attributes.contains(attributes))
    }

    fn text(&self) -> &str {
        let is_hidden = self.has(Attributes::HIDDEN);
        match self {
            Self::Nothing => " ",
            // Each of its cells is a blank.
            _ if is_hidden => " ",
            Self::Character(text, _) => text,
            Self::Tail(_) => "",
        }
    }
}

impl Mirror {
    fn new(columns: u16, rows: u16) -> Self {
        let empty = vec![vec![Drawn::Nothing; columns.into()]; rows.into()];
        Self { shown: empty.clone(), other: empty, columns: columns.into(), above: Vec::new(), other_above: Vec::new() }
    }

    /// The cells of a row that change from a column on.
    fn from(&mut self, row: u16, column: u16) -> &mut [Drawn] {
        split(&mut self.shown[usize::from(row)], column.into());
        &mut self.shown[usize::from(row)][column.into()..]
    }

    fn rows(&self) -> Vec<String> {
        let text = |row: &Row| row.iter().map(Drawn::text).collect::<String>().trim_end_matches(' ').to_owned();
        self.shown.iter().map(text).collect()
    }
}

/// A wide character that is cut in two before a column shows nothing.
fn split(row: &mut Row, column: usize) {
    if column > 0 && matches!(row.get(column), Some(Drawn::Tail(_))) {
        row[column - 1..=column].fill(Drawn::Nothing);
    }
}

impl Tap for Mirror {
    fn printed(&mut self, Printed { character, row, column, width, style, .. }: Printed) {
        if width == 0 {
            let cell = &mut self.shown[usize::from(row)][usize::from(column)];
            match cell {
                Drawn::Nothing => *cell = Drawn::Character(format!(" {character}"), style),
                Drawn::Character(text, _) => text.push(character),
                Drawn::Tail(_) => {}
            }
            return;
        }
        self.from(row, column + width);
        let cells = self.from(row, column);
        cells[0] = Drawn::Character(character.to_string(), style);
        if width == 2 {
            cells[1] = Drawn::Tail(style);
        }
    }

    fn moved(&mut self, movement: Movement) {
        let empty = vec![Drawn::Nothing; self.columns];
        match movement {
            Movement::ScrolledUp { top, bottom, count } => {
                let rows = &mut self.shown[top.into()..bottom.into()];
                if top == 0 {
                    self.above.extend_from_slice(&rows[..count.into()]);
                }
                rows.rotate_left(count.into());
                rows.iter_mut().rev().take(count.into()).for_each(|row| row.clone_from(&empty));
            }
            Movement::ScrolledDown { top, bottom, count } => {
                let rows = &mut self.shown[top.into()..bottom.into()];
                rows.rotate_right(count.into());
                rows[..count.into()].fill(empty);
            }
            Movement::Inserted { row, column, count } => {
                self.from(row, self.columns as u16 - count);
                let cells = self.from(row, column);
                cells.rotate_right(count.into());
                cells[..count.into()].fill(Drawn::Nothing);
            }
            Movement::Deleted { row, column, count } => {
                self.from(row, column + count);
                let cells = self.from(row, column);
                let kept = cells.len() - usize::from(count);
                let from = kept - usize::from(kept > 0 && matches!(cells[kept], Drawn::Tail(_)));
                cells.rotate_left(count.into());
                cells[from..].fill(Drawn::Nothing);
            }
            Movement::Widened { row, column } => {
                self.from(row, column + 2);
                let cells = self.from(row, column);
                cells[1] = Drawn::Tail(cells[0].style().expect("a character"));
            }
            Movement::Erased { row, from, to, spares } => {
                self.from(row, to);
                for cell in &mut self.from(row, from)[..usize::from(to - from)] {
                    if !(spares && cell.has(Attributes::PROTECTED)) {
                        *cell = Drawn::Nothing;
                    }
                }
            }
            Movement::Cleared => self.shown.fill(empty),
            Movement::Aligned => {
                self.shown.fill(vec![Drawn::Character("E".to_owned(), Style::default()); self.columns]);
            }
            Movement::Alternate(_) => {
                std::mem::swap(&mut self.shown, &mut self.other);
                std::mem::swap(&mut self.above, &mut self.other_above);
            }
            Movement::Resized { columns, rows, moved, other_moved } => {
                self.columns = columns.into();
                let screens =
                    [(&mut self.shown, &mut self.above, moved), (&mut self.other, &mut self.other_above, other_moved)];
                for (screen, above, moved) in screens {
                    let by = usize::from(moved.unsigned_abs());
                    if moved < 0 {
                        above.extend(screen.drain(..by));
                    } else {
                        screen.splice(..0, above.drain(above.len() - by..));
                    }
                    screen.resize(rows.into(), Vec::new());
                    for row in screen {
                        split(row, columns.into());
                        row.resize(columns.into(), Drawn::Nothing);
                    }
                }
            }
            Movement::Frame(_) => {}
        }
    }
}

/// What may happen to a screen.
#[derive(Debug, Clone)]
enum Event {
    Output(String),
    Resize(u16, u16),
}

fn event() -> impl Strategy<Value = Event> {
    let output = prop_oneof![
        4 => "[a-z]{1,12}",
        1 => "[漢字é]{1,4}",
        1 => "[a漢\u{2764}]\u{301}",
        1 => "[a漢\u{2764}1]\u{fe0f}",
        2 => "[\r\n\t\u{8}]{1,2}",
        4 => "\x1b\\[[0-9]{0,2}[@-HI-MPSTXZabde`]",
        2 => "\x1b\\[[0-9]{1,2};[0-9]{1,2}[Hfr]",
        1 => "\x1b\\[\\??[0-2]?[JK]",
        1 => "\x1b\\[\\?(6|7|47|1047|1048|1049)[hlsr]",
        1 => "\x1b\\[(4|20)[hl]",
        1 => "\x1b[DEMH78cVW69]|\x1b#8|\x1b\\[!p",
        1 => "\x1b\\[[0-9] [@A]|\x1b\\[[0-9]'[}~]",
        1 => "\x1b\\[[01]\"q|\x1b\\[(1|8|28|41)?m",
    ];
    prop_oneof![20 => output.prop_map(Event::Output), 1 => (2u16..30, 1u16..9).prop_map(|size| Event::Resize(size.0, size.1))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_tap_is_told_all_that_changes_cells(
        events in prop::collection::vec(event(), 0..60),
        widths in prop::sample::select(&[Widths::Xterm, Widths::Wcwidth][..]),
    ) {
        let (columns, rows) = (20, 6);
        let (mut screen, mut mirror) = (Screen::with_widths(columns, rows, widths), Mirror::new(columns, rows));
        for event in &events {
            match event {
                Event::Output(output) => screen.feed_with(output.as_bytes(), &mut mirror),
                Event::Resize(columns, rows) => screen.resize_with(*columns, *rows, &mut mirror),
            }
            prop_assert_eq!(mirror.rows(), screen.rows().collect::<Vec<_>>(), "{:?}", event);
            for (row, cells) in (0..).zip(&mirror.shown) {
                for (column, cell) in (0..).zip(cells) {
                    // Of erased cells no style is told.
                    let style = screen.cell(row, column).map(Cell::style).filter(|_| cell.style().is_some());
                    prop_assert_eq!(style, cell.style(), "{:?}", event);
                }
            }
        }
    }
}

/// The characters that a tap is told, each with the index of its byte.
#[derive(Default)]
struct Characters(Vec<(char, usize)>);

impl Tap for Characters {
    fn printed(&mut self, printed: Printed) {
        self.0.push((printed.character, printed.at));
    }
}

#[test]
fn each_character_comes_with_the_index_of_its_last_byte() {
    let mut characters = Characters::default();
    let mut screen = Screen::new(4, 2);
    screen.feed_with("a\x1b[1mbé\r\ncdefg\x1b(0q".as_bytes(), &mut characters);
    let wanted = [('a', 0), ('b', 5), ('é', 7), ('c', 10), ('d', 11), ('e', 12), ('f', 13), ('g', 14), ('─', 18)];
    assert_eq!(characters.0, wanted);
    // A character that is cut is told with the read that ends it.
    let mut characters = Characters::default();
    screen.feed_with(&"漢".as_bytes()[..2], &mut characters);
    screen.feed_with(&"漢".as_bytes()[2..], &mut characters);
    assert_eq!(characters.0, [('漢', 0)]);
}
