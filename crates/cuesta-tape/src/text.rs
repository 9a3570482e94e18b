//! Typed text with `${column}` places.

use crate::script::Piece;

/// Most characters of a column's name.
const LONGEST_NAME: usize = 64;

/// Cuts a text at each `${column}`; everything else is typed as it stands.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find("${").map(|found| at + found) {
        at = open + 2;
        let Some(name) = name(&text[at..]) else { continue };
        if literal < open {
            pieces.push(Piece::Literal(text[literal..open].to_owned()));
        }
        pieces.push(Piece::Column(name.to_owned()));
        at += name.len() + 1;
        literal = at;
    }
    if literal < text.len() {
        pieces.push(Piece::Literal(text[literal..].to_owned()));
    }
    pieces
}

/// The name before the closing brace, if it is one.
fn name(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('}')?;
    let sound = !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(['$', '{']);
    (sound && !name.contains(char::is_control)).then_some(name)
}

/// How many characters a text has; a column counts as one, since only the driver knows its values.
pub(crate) fn characters(pieces: &[Piece]) -> u64 {
    let one = |piece: &Piece| match piece {
        Piece::Literal(text) => text.chars().count() as u64,
        Piece::Column(_) => 1,
    };
    pieces.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_columns() {
        let literal = |text: &str| Piece::Literal(text.to_owned());
        let column = |text: &str| Piece::Column(text.to_owned());
        for (text, wanted) in [
            ("", vec![]),
            ("plain", vec![literal("plain")]),
            ("${user}", vec![column("user")]),
            ("a${user}b${pass word}", vec![literal("a"), column("user"), literal("b"), column("pass word")]),
            ("$user ${} ${open", vec![literal("$user ${} ${open")]),
            ("${${x}}", vec![literal("${"), column("x"), literal("}")]),
            ("é${ü}é", vec![literal("é"), column("ü"), literal("é")]),
        ] {
            assert_eq!(pieces(text), wanted, "{text}");
        }
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(characters(&pieces("héé${user}")), 4);
    }
}
