//! Values as VS Code's channels write them (`ipc.ts`, `serialize`): a tag byte, then for most a length in 7-bit groups and the content.

use serde::Serialize;

/// Most values in one, itself included.
const MOST_VALUES: usize = 1000;

/// Tags.
const UNDEFINED: u8 = 0;
const TEXT: u8 = 1;
const BUFFER: u8 = 2;
const VS_BUFFER: u8 = 3;
const ARRAY: u8 = 4;
const OBJECT: u8 = 5;
const NUMBER: u8 = 6;

/// First numbers of messages: of the page, then of the host.
pub(super) const CALL: u32 = 100;
pub(super) const LISTEN: u32 = 102;
pub(super) const INITIALIZED: u32 = 200;
pub(super) const ANSWER: u32 = 201;
pub(super) const ERROR: u32 = 202;
pub(super) const ERROR_OBJECT: u32 = 203;
pub(super) const EVENT: u32 = 204;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Undefined,
    Text(&'a str),
    Bytes(&'a [u8]),
    Array(Vec<Value<'a>>),
    /// JSON.
    Object(&'a [u8]),
    Number(u32),
}

impl<'a> Value<'a> {
    /// Reads a value from the front of `bytes`, and takes it off them. None if there is none.
    pub(super) fn read(bytes: &mut &'a [u8]) -> Option<Self> {
        Self::read_within(bytes, &mut { MOST_VALUES })
    }

    /// Reads a value if `left` allows one more.
    fn read_within(bytes: &mut &'a [u8], left: &mut usize) -> Option<Self> {
        *left = left.checked_sub(1)?;
        Some(match take(bytes, 1)?[0] {
            UNDEFINED => Self::Undefined,
            TEXT => Self::Text(std::str::from_utf8(take_content(bytes)?).ok()?),
            BUFFER | VS_BUFFER => Self::Bytes(take_content(bytes)?),
            OBJECT => Self::Object(take_content(bytes)?),
            NUMBER => Self::Number(read_number(bytes)?),
            ARRAY => {
                let len = read_number(bytes)?;
                Self::Array((0..len).map(|_| Self::read_within(bytes, left)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    pub(super) fn number(&self) -> Option<u32> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The values of an array; else none.
    pub(super) fn items(&self) -> &[Self] {
        if let Self::Array(items) = self { items } else { &[] }
    }

    /// What an object's JSON holds.
    pub(super) fn parse<T: serde::Deserialize<'a>>(&self) -> Option<T> {
        if let Self::Object(json) = self { serde_json::from_slice(json).ok() } else { None }
    }

    /// Appends the value.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Undefined => out.push(UNDEFINED),
            Self::Text(text) => write_content(TEXT, text.as_bytes(), out),
            Self::Bytes(bytes) => write_content(BUFFER, bytes, out),
            Self::Object(json) => write_content(OBJECT, json, out),
            Self::Number(number) => write_length(NUMBER, *number, out),
            Self::Array(items) => {
                write_length(ARRAY, items.len() as u32, out);
                for item in items {
                    item.write(out);
                }
            }
        }
    }
}

/// The JSON of an object.
pub(super) fn json(object: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(object).unwrap_or_default()
}

/// Appends a message: its head, an array, and its body.
pub(super) fn write_message(head: Vec<Value>, body: &Value, out: &mut Vec<u8>) {
    Value::Array(head).write(out);
    body.write(out);
}

/// Reads a message: the numbers that its head begins with, its head and its body.
pub(super) fn read_message(mut bytes: &[u8]) -> Option<(u32, u32, Value<'_>, Value<'_>)> {
    let head = Value::read(&mut bytes)?;
    let body = Value::read(&mut bytes)?;
    let kind = head.items().first()?.number()?;
    let id = head.items().get(1).and_then(Value::number).unwrap_or_default();
    Some((kind, id, head, body))
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

fn take_content<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = read_number(bytes)?;
    take(bytes, len as usize)
}

fn read_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn write_content(tag: u8, content: &[u8], out: &mut Vec<u8>) {
    write_length(tag, content.len() as u32, out);
    out.extend_from_slice(content);
}

fn write_length(tag: u8, mut number: u32, out: &mut Vec<u8>) {
    out.push(tag);
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_as_seen_and_read_back() {
        let head = vec![Value::Number(201), Value::Number(1)];
        let mut bytes = Vec::new();
        write_message(head.clone(), &Value::Text("/bin/bash"), &mut bytes);
        assert_eq!(bytes, b"\x04\x02\x06\xc9\x01\x06\x01\x01\x09/bin/bash");
        assert_eq!(read_message(&bytes), Some((201, 1, Value::Array(head), Value::Text("/bin/bash"))));
        for value in [
            Value::Undefined,
            Value::Bytes(&[0xff; 200]),
            Value::Object(b"{}"),
            Value::Number(u32::MAX),
            Value::Array(vec![Value::Array(Vec::new()), Value::Text("€")]),
        ] {
            let mut bytes = Vec::new();
            value.write(&mut bytes);
            for end in 0..bytes.len() {
                assert_eq!(Value::read(&mut &bytes[..end]), None);
            }
            let mut rest = &bytes[..];
            assert_eq!((Value::read(&mut rest), rest), (Some(value), &b""[..]));
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let many = [&[ARRAY, 0xff, 0x7f][..], &[UNDEFINED; 0x3fff]].concat();
        let deep = [ARRAY, 1].repeat(MOST_VALUES);
        for mut bad in [
            &b"\x07"[..],
            b"\x01\x02\xff\xff",
            b"\x04\xff\xff\xff\xff\x0f\x00",
            b"\x06\xff\xff\xff\xff\xff\xff",
            &many,
            &deep,
        ] {
            assert_eq!(Value::read(&mut bad), None);
        }
    }
}
