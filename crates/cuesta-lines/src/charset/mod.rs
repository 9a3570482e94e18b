//! Character sets of eight bits: ASCII below 0x80, and a table above.

mod tables;

use std::sync::Arc;

use tables::TABLES;

const ESC: char = '\u{1b}';

/// A character set of eight bits.
#[derive(Debug, Clone)]
pub struct Charset {
    name: &'static str,
    /// The characters of the bytes from 0x80.
    upper: Arc<[char]>,
}

impl PartialEq for Charset {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Charset {}

impl Charset {
    /// The set with a name, as IANA or its makers write it: `cp437`, `latin-1`, `ISO-8859-15`, `koi8-r`, `windows-1252`.
    pub fn named(name: &str) -> Option<Self> {
        let plain: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = match plain.as_str() {
            "latin1" => "iso88591".to_owned(),
            "latin2" => "iso88592".to_owned(),
            "latin9" => "iso885915".to_owned(),
            other => other.strip_prefix("ibm").map_or_else(|| other.to_owned(), |number| format!("cp{number}")),
        };
        let is_named = |table: &str| table.replace('-', "") == plain || table.replace("windows-", "cp") == plain;
        let (name, upper) = TABLES.iter().find(|(table, _)| is_named(table))?;
        let controls = ('\u{80}'..='\u{9f}').take(128 - upper.chars().count());
        Some(Self { name, upper: controls.chain(upper.chars()).collect() })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Appends `bytes` as UTF-8. Control functions from 0x80 become their form of seven bits (ECMA-35 §13.2), which screens obey. Returns
    /// how many bytes the set has no character for.
    pub(crate) fn decode(&self, bytes: &[u8], text: &mut String) -> u64 {
        let mut unknown = 0;
        for byte in bytes {
            match byte.checked_sub(0x80).and_then(|index| self.upper.get(usize::from(index)).copied()) {
                None => text.push(char::from(*byte)),
                Some(control @ '\u{80}'..='\u{9f}') => text.extend([ESC, char::from(control as u8 - 0x40)]),
                Some(character) => {
                    unknown += u64::from(character == char::REPLACEMENT_CHARACTER);
                    text.push(character);
                }
            }
        }
        unknown
    }

    /// The byte of a character; none if the set has no such character.
    pub fn encode(&self, character: char) -> Option<u8> {
        match u8::try_from(character) {
            Ok(ascii @ 0..=0x7f) => Some(ascii),
            _ if character == char::REPLACEMENT_CHARACTER => None,
            _ => self.upper.iter().position(|upper| *upper == character).map(|index| index as u8 + 0x80),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn every_set_is_what_python_has_under_its_name() {
        let script = "import sys\nfor name in sys.argv[1:]:\n    \
                      print(bytes(range(128, 256)).decode(name, 'replace').encode('unicode_escape').decode())";
        let output =
            Command::new("python3").args(["-c", script]).args(TABLES.iter().map(|(name, _)| name)).output().unwrap();
        let expected = String::from_utf8(output.stdout).unwrap();
        let escaped = |text: &[char]| -> String {
            text.iter()
                .map(|c| match *c as u32 {
                    number @ ..=0xff => format!("\\x{number:02x}"),
                    number => format!("\\u{number:04x}"),
                })
                .collect()
        };
        for ((name, _), row) in TABLES.iter().zip(expected.lines()) {
            assert_eq!(escaped(&Charset::named(name).unwrap().upper), row, "{name}");
        }
        assert_eq!(expected.lines().count(), TABLES.len());
    }

    #[test]
    fn a_set_is_found_by_its_usual_names() {
        for (name, wanted) in [
            ("CP437", "cp437"),
            ("ibm850", "cp850"),
            ("latin-1", "iso-8859-1"),
            ("ISO8859-15", "iso-8859-15"),
            ("cp1252", "windows-1252"),
            ("KOI8_R", "koi8-r"),
        ] {
            assert_eq!(Charset::named(name).unwrap().name(), wanted);
        }
        assert!(Charset::named("utf-8").is_none());
    }

    #[test]
    fn what_is_decoded_is_encoded_back() {
        let set = Charset::named("latin-1").unwrap();
        let mut text = String::new();
        assert_eq!(set.decode(b"\x9b1m\xe4\x1b[m", &mut text), 0);
        assert_eq!(text, "\x1b[1mä\x1b[m");
        assert_eq!(set.encode('ä'), Some(0xe4));
        assert_eq!(set.encode('€'), None);
        assert_eq!(Charset::named("cp857").unwrap().decode(b"\xe7", &mut text), 1);
    }
}
