//! What several kinds put their characters in: events in JSON, and base64. Both are decoded in place: the characters are never longer.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use data_encoding::BASE64;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::head_of_text;

/// An array of JSON that begins with a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The event that carries characters: where they stand now.
    Characters(Range<usize>),
    /// Another one, by its name.
    Other(String),
}

/// Parses an event, and decodes in place what the event called `carrier` carries. None if this is no event.
pub(super) fn take_event(message: &mut [u8], carrier: &str) -> Option<Event> {
    let mut parser = serde_json::Deserializer::from_slice(message);
    let head = parser.deserialize_seq(HeadVisitor(carrier)).ok()?;
    parser.end().ok()?;
    match head {
        Head::Other(name) => Some(Event::Other(name)),
        Head::Text(Cow::Borrowed(text)) => {
            let begins = text.as_ptr().addr() - message.as_ptr().addr();
            Some(Event::Characters(begins..begins + text.len()))
        }
        Head::Text(Cow::Owned(text)) => {
            message[..text.len()].copy_from_slice(text.as_bytes());
            Some(Event::Characters(0..text.len()))
        }
    }
}

/// Appends an event: an array of its name and what belongs to it.
pub(super) fn put_event(name: &str, value: impl Serialize, payload: &mut Vec<u8>) {
    // Text and numbers always have a form in JSON, and a vector takes all of it.
    drop(serde_json::to_writer(payload, &(name, value)));
}

enum Head<'a> {
    Text(Cow<'a, str>),
    Other(String),
}

/// A text that is borrowed from the message if nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Finds the name of an event and the text of the one that carries characters. All else is skipped, and takes no memory.
struct HeadVisitor<'n>(&'n str);

impl<'de> Visitor<'de> for HeadVisitor<'_> {
    type Value = Head<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array that begins with a name")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Head<'de>, A::Error> {
        let Text(name) = items.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let head = if name == self.0 {
            let Text(text) = items.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
            Head::Text(text)
        } else {
            Head::Other(name.into_owned())
        };
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(head)
    }
}

/// Decodes base64 in place; returns the number of bytes, which are then at its head. None if it is no base64.
pub(super) fn decode_base64(encoded: &mut [u8]) -> Option<usize> {
    const PIECE: usize = 64;
    let mut len = 0;
    for begins in (0..encoded.len()).step_by(PIECE) {
        let size = PIECE.min(encoded.len() - begins);
        let (mut piece, mut bytes) = ([0; PIECE], [0; PIECE / 4 * 3]);
        piece[..size].copy_from_slice(&encoded[begins..begins + size]);
        let most = BASE64.decode_len(size).ok()?;
        let decoded = BASE64.decode_mut(&piece[..size], &mut bytes[..most]).ok()?;
        encoded[len..len + decoded].copy_from_slice(&bytes[..decoded]);
        len += decoded;
    }
    Some(len)
}

/// Appends bytes as base64.
pub(super) fn put_base64(bytes: &[u8], payload: &mut Vec<u8>) {
    let before = payload.len();
    payload.resize(before + BASE64.encode_len(bytes.len()), 0);
    BASE64.encode_mut(bytes, &mut payload[before..]);
}

/// The head of a host's output as text, at most `most` bytes of it, and its length there. What is no UTF-8 becomes U+FFFD, as in
/// Python's and Node's servers.
pub(super) fn head_of_output(output: &[u8], most: usize) -> (usize, &str) {
    match (head_of_text(output, most), output.utf8_chunks().next()) {
        (Ok(text), _) => (text.len(), text),
        (Err(_), Some(chunk)) => (chunk.invalid().len(), "\u{fffd}"),
        (Err(_), None) => (0, ""),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take(json: &str) -> Option<String> {
        let mut message = json.as_bytes().to_vec();
        match take_event(&mut message, "stdout")? {
            Event::Characters(range) => Some(String::from_utf8(message[range].to_vec()).unwrap()),
            Event::Other(name) => Some(format!("<{name}>")),
        }
    }

    #[test]
    fn events_are_parsed_however_they_are_written() {
        assert_eq!(take(r#"["stdout","plain"]"#).as_deref(), Some("plain"));
        assert_eq!(
            take(" [ \"stdout\" ,\n\"\\u001b[1m\\ud83d\\ude00\\/\\n\" , 5 ] ").as_deref(),
            Some("\u{1b}[1m😀/\n")
        );
        assert_eq!(take(r#"["st\u0064out",""]"#).as_deref(), Some(""));
        assert_eq!(take(r#"["setup", {"a":[1,null]}]"#).as_deref(), Some("<setup>"));
        let half_a_pair = r#"["stdout","\ud83d"]"#;
        for other in ["", "[]", "{}", r#"["stdout"]"#, r#"["stdout",5]"#, r#"["stdout","x"]]"#, "[5]", half_a_pair] {
            assert_eq!(take(other), None, "{other}");
        }
        let deep = format!(r#"["setup",{}"#, "[".repeat(1 << 20));
        assert_eq!(take(&deep), None);
    }

    #[test]
    fn output_that_is_no_text_is_replaced_as_far_as_it_is_none() {
        assert_eq!(head_of_output("äb".as_bytes(), 3), (3, "äb"));
        assert_eq!(head_of_output("ää".as_bytes(), 3), (2, "ä"));
        assert_eq!(head_of_output(b"\xf0\x9f\x98", 9), (3, "\u{fffd}"));
        assert_eq!(head_of_output(b"\xff\xffa", 9), (1, "\u{fffd}"));
    }

    proptest! {
        #[test]
        fn any_text_comes_back_from_json(text in any::<String>()) {
            let mut message = Vec::new();
            put_event("stdout", &text, &mut message);
            prop_assert_eq!(take(&String::from_utf8(message).unwrap()), Some(text));
        }

        #[test]
        fn any_bytes_come_back_from_base64(bytes in prop::collection::vec(any::<u8>(), 0..300), at: prop::sample::Index) {
            let mut message = Vec::new();
            put_base64(&bytes, &mut message);
            let mut copy = message.clone();
            let len = decode_base64(&mut copy);
            prop_assert_eq!(len.map(|len| &copy[..len]), Some(&bytes[..]));
            if !message.is_empty() {
                let at = at.index(message.len());
                message[at] = b'!';
                prop_assert_eq!(decode_base64(&mut message), None);
            }
        }
    }
}
