//! How the host chooses the style of characters (SGR; ECMA-48 §8.3.117, xterm's "Control Sequences").

use super::cell::{Attributes, Colour, Style};
use super::sequence::ControlSequence;

impl Style {
    /// Obeys an SGR sequence.
    pub(super) fn select(&mut self, sequence: &ControlSequence) {
        let mut groups = sequence.groups();
        while let Some(group) = groups.next() {
            match group {
                // All in one parameter: 38:5:n, 38:2:r:g:b or 38:2:space:r:g:b.
                [number @ (38 | 48 | 58), parts @ ..] if !parts.is_empty() => self.set_colour(*number, colour(parts)),
                // As parameters of their own: 38;5;n or 38;2;r;g;b. What is left out is 0.
                [number @ (38 | 48 | 58)] => {
                    let mut next = || groups.next().and_then(|group| group.first()).copied().unwrap_or(0);
                    let colour = match next() {
                        5 => colour(&[5, next()]),
                        2 => colour(&[2, next(), next(), next()]),
                        _ => None,
                    };
                    self.set_colour(*number, colour);
                }
                [4, 0] => self.attributes.remove(UNDERLINES),
                // Underlined in one of several ways.
                [number] | [number @ 4, _] => self.select_one(*number),
                // No others have parts.
                _ => {}
            }
        }
    }

    fn set_colour(&mut self, number: u16, colour: Option<Colour>) {
        match (number, colour) {
            (38, Some(colour)) => self.foreground = colour,
            (48, Some(colour)) => self.background = colour,
            _ => {}
        }
    }

    /// Chooses the plain style; protection is none of it.
    pub(super) fn reset(&mut self) {
        *self = Self { attributes: self.attributes & Attributes::PROTECTED, ..Self::default() };
    }

    fn select_one(&mut self, number: u16) {
        match number {
            0 => self.reset(),
            1 => self.attributes |= Attributes::BOLD,
            2 => self.attributes |= Attributes::FAINT,
            3 => self.attributes |= Attributes::ITALIC,
            4 => self.attributes |= Attributes::UNDERLINED,
            5 | 6 => self.attributes |= Attributes::BLINKING,
            7 => self.attributes |= Attributes::INVERSE,
            8 => self.attributes |= Attributes::HIDDEN,
            9 => self.attributes |= Attributes::CROSSED_OUT,
            21 => self.attributes |= Attributes::DOUBLY_UNDERLINED,
            22 => self.attributes.remove(Attributes::BOLD | Attributes::FAINT),
            23 => self.attributes.remove(Attributes::ITALIC),
            24 => self.attributes.remove(UNDERLINES),
            25 => self.attributes.remove(Attributes::BLINKING),
            27 => self.attributes.remove(Attributes::INVERSE),
            28 => self.attributes.remove(Attributes::HIDDEN),
            29 => self.attributes.remove(Attributes::CROSSED_OUT),
            30..=37 => self.foreground = Colour::Palette(number as u8 - 30),
            39 => self.foreground = Colour::Default,
            40..=47 => self.background = Colour::Palette(number as u8 - 40),
            49 => self.background = Colour::Default,
            90..=97 => self.foreground = Colour::Palette(number as u8 - 90 + 8),
            100..=107 => self.background = Colour::Palette(number as u8 - 100 + 8),
            _ => {}
        }
    }

    /// The parameters of the SGR sequence that chooses this style, in the order in which xterm reports them.
    pub(super) fn parameters(&self) -> String {
        const NUMBERS: [(Attributes, &str); 9] = [
            (Attributes::BOLD, ";1"),
            (Attributes::UNDERLINED, ";4"),
            (Attributes::BLINKING, ";5"),
            (Attributes::INVERSE, ";7"),
            (Attributes::HIDDEN, ";8"),
            (Attributes::FAINT, ";2"),
            (Attributes::ITALIC, ";3"),
            (Attributes::CROSSED_OUT, ";9"),
            (Attributes::DOUBLY_UNDERLINED, ";21"),
        ];
        let set =
            NUMBERS.iter().filter(|(attribute, _)| self.attributes.contains(*attribute)).map(|(_, number)| *number);
        let colours = [(self.foreground, 30), (self.background, 40)].map(|(colour, from)| match colour {
            Colour::Default => String::new(),
            Colour::Palette(index @ 0..=7) => format!(";{}", from + u16::from(index)),
            Colour::Palette(index @ 8..=15) => format!(";{}", from + 60 + u16::from(index - 8)),
            Colour::Palette(index) => format!(";{}:5:{index}", from + 8),
            Colour::Direct(red, green, blue) => format!(";{}:2::{red}:{green}:{blue}", from + 8),
        });
        ["0"].into_iter().chain(set).chain(colours.iter().map(String::as_str)).collect()
    }
}

const UNDERLINES: Attributes = Attributes::UNDERLINED.union(Attributes::DOUBLY_UNDERLINED);

/// A colour as in `5:n`, `2:r:g:b` or `2:space:r:g:b`.
fn colour(parts: &[u16]) -> Option<Colour> {
    let byte = |part: &u16| u8::try_from(*part).ok();
    match parts {
        [5, index] => byte(index).map(Colour::Palette),
        [2, red, green, blue] | [2, _, red, green, blue, ..] => {
            Some(Colour::Direct(byte(red)?, byte(green)?, byte(blue)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::vt::Screen;

    use super::*;

    fn style(sequence: &str) -> Style {
        let mut screen = Screen::new(10, 1);
        screen.feed(format!("{sequence}x").as_bytes());
        screen.cell(0, 0).expect("a cell").style()
    }

    #[test]
    fn colours_come_in_one_parameter_or_in_several() {
        let direct = Colour::Direct(1, 2, 3);
        for sequence in ["\x1b[38;2;1;2;3m", "\x1b[38:2:1:2:3m", "\x1b[38:2::1:2:3m", "\x1b[38:2:0:1:2:3m"] {
            assert_eq!(style(sequence).foreground, direct, "{}", sequence.escape_debug());
        }
        assert_eq!(style("\x1b[48;5;200;1m").background, Colour::Palette(200));
        assert_eq!(style("\x1b[48;5;200;1m").attributes, Attributes::BOLD);
        assert_eq!(style("\x1b[58;5;1;31m").foreground, Colour::Palette(1));
        assert_eq!(style("\x1b[97;44m").foreground, Colour::Palette(15));
    }

    #[test]
    fn a_character_in_the_colour_of_its_ground_is_hidden() {
        let is_blank = |sequence: &str| {
            let mut screen = Screen::new(10, 1);
            screen.feed(format!("{sequence}x").as_bytes());
            screen.cell(0, 0).expect("a cell").is_blank()
        };
        for sequence in ["8", "30;40", "38;5;7;47", "7;37;47", "38;2;1;2;3;48;2;1;2;3"] {
            assert!(is_blank(&format!("\x1b[{sequence}m")), "{sequence}");
        }
        for sequence in ["0", "7", "30", "40", "1;30;40", "2;37;47", "90;40", "38;2;1;2;3;48;2;1;2;4"] {
            assert!(!is_blank(&format!("\x1b[{sequence}m")), "{sequence}");
        }
    }

    #[test]
    fn attributes_are_set_and_reset() {
        assert_eq!(style("\x1b[1;4:3m").attributes, Attributes::BOLD | Attributes::UNDERLINED);
        assert_eq!(style("\x1b[1;4m\x1b[4:0m").attributes, Attributes::BOLD);
        assert_eq!(style("\x1b[1;2;3m\x1b[22m").attributes, Attributes::ITALIC);
        assert_eq!(style("\x1b[1;31m\x1b[m"), Style::default());
        assert_eq!(style("\x1b[1;31m\x1b[;4m").attributes, Attributes::UNDERLINED);
    }
}
