//! A row as runs of text in one style, for whoever draws it elsewhere.

use super::{Screen, Style};

/// Text of a row in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub style: Style,
}

impl Screen {
    /// A row's text by style, without the blanks in the plain style at its end. What is hidden is blank.
    pub fn spans(&self, row: u16) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (_, cell) in self.cells(row) {
            if let Some(span) = spans.last_mut().filter(|span| span.style == cell.style()) {
                cell.append_to(&mut span.text);
            } else {
                let mut text = String::new();
                cell.append_to(&mut text);
                spans.push(Span { text, style: cell.style() });
            }
        }
        if let Some(last) = spans.last_mut().filter(|span| span.style == Style::default()) {
            last.text.truncate(last.text.trim_end_matches(' ').len());
        }
        spans.retain(|span| !span.text.is_empty());
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vt::{Attributes, Colour};

    #[test]
    fn a_row_is_cut_where_the_style_changes() {
        let mut screen = Screen::new(20, 2);
        screen.feed("ab\x1b[1;31mc\u{6f22}\x1b[m d \x1b[8mpw\x1b[m  \r\n\x1b[44m ".as_bytes());
        let plain = Style::default();
        let red = Style { foreground: Colour::Palette(1), attributes: Attributes::BOLD, ..plain };
        let hidden = Style { attributes: Attributes::HIDDEN, ..plain };
        let span = |text: &str, style| Span { text: text.to_owned(), style };
        assert_eq!(
            screen.spans(0),
            [span("ab", plain), span("c\u{6f22}", red), span(" d ", plain), span("  ", hidden)]
        );
        assert_eq!(screen.spans(1), [span(" ", Style { background: Colour::Palette(4), ..plain })]);
        assert_eq!(screen.spans(9), []);
    }
}
