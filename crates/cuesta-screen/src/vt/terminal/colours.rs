//! The colours that a host sets and asks for: the palette (OSC 4), text, background and cursor (OSC 10 to 12).

use std::collections::BTreeMap;

/// Red, green and blue.
type Rgb = [u8; 3];

/// Text is white on black, and the palette is xterm's, but for what the host has set.
#[derive(Debug, Default)]
pub(super) struct Colours {
    set: BTreeMap<Name, Rgb>,
}

/// A colour's name, as in the command that sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Palette(u8),
    /// 10 is text, 11 the background, 12 the cursor.
    Dynamic(u8),
}

impl Colours {
    /// Obeys a command; returns the colours that it asks for, each with what names it in the reply.
    pub(super) fn command(&mut self, command: &str) -> Vec<(String, Rgb)> {
        let mut parts = command.split(';');
        let number = parts.next().and_then(|number| number.parse().ok());
        let parts: Vec<&str> = parts.collect();
        match number {
            Some(4) => {
                let pairs =
                    parts.chunks_exact(2).filter_map(|pair| Some((Name::Palette(pair[0].parse().ok()?), pair[1])));
                self.set_or_ask(pairs.collect())
            }
            // Each further part is about the next of the colours.
            Some(first @ 10..=12) => self.set_or_ask((first..=12).map(Name::Dynamic).zip(parts).collect()),
            Some(104) if parts.concat().is_empty() => {
                self.set.retain(|name, _| matches!(name, Name::Dynamic(_)));
                Vec::new()
            }
            Some(104) => {
                for index in parts.into_iter().filter_map(|index| index.parse().ok()) {
                    self.set.remove(&Name::Palette(index));
                }
                Vec::new()
            }
            Some(number @ 110..=112) => {
                self.set.remove(&Name::Dynamic(number - 100));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn set_or_ask(&mut self, parts: Vec<(Name, &str)>) -> Vec<(String, Rgb)> {
        let mut asked = Vec::new();
        for (name, colour) in parts {
            if colour == "?" {
                let written = match name {
                    Name::Palette(index) => format!("4;{index}"),
                    Name::Dynamic(number) => number.to_string(),
                };
                asked.push((written, self.set.get(&name).copied().unwrap_or_else(|| default_colour(name))));
            } else if let Some(colour) = parse(colour) {
                self.set.insert(name, colour);
            }
        }
        asked
    }
}

/// A colour as `#rgb` with one to four digits each, of which the first are the highest, or as `rgb:r/g/b`, scaled.
fn parse(text: &str) -> Option<Rgb> {
    let digits = |part: &str| {
        let is_number = (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_number.then(|| u32::from_str_radix(part, 16).ok()).flatten()
    };
    if let Some(text) = text.strip_prefix('#') {
        let len = text.len() / 3;
        let part =
            |index: usize| Some((digits(text.get(index * len..(index + 1) * len)?)? << (16 - 4 * len) >> 8) as u8);
        return (text.len() % 3 == 0).then(|| Some([part(0)?, part(1)?, part(2)?])).flatten();
    }
    let mut parts = text.strip_prefix("rgb:")?.split('/').map(|part| {
        let number = digits(part)?;
        let most = (1 << (4 * part.len())) - 1;
        Some(((number * 0xffff / most) >> 8) as u8)
    });
    let colour = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(colour)
}

fn default_colour(name: Name) -> Rgb {
    const NAMED: [Rgb; 16] = [
        [0, 0, 0],
        [205, 0, 0],
        [0, 205, 0],
        [205, 205, 0],
        [0, 0, 238],
        [205, 0, 205],
        [0, 205, 205],
        [229, 229, 229],
        [127, 127, 127],
        [255, 0, 0],
        [0, 255, 0],
        [255, 255, 0],
        [92, 92, 255],
        [255, 0, 255],
        [0, 255, 255],
        [255, 255, 255],
    ];
    match name {
        Name::Dynamic(11) => NAMED[0],
        Name::Dynamic(_) => NAMED[15],
        Name::Palette(index @ 0..=15) => NAMED[usize::from(index)],
        Name::Palette(index @ 16..=231) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let index = index - 16;
            [index / 36, index / 6 % 6, index % 6].map(level)
        }
        Name::Palette(index) => [8 + 10 * (index - 232); 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_written_in_several_ways() {
        for (text, colour) in [
            ("#123", [0x10, 0x20, 0x30]),
            ("#0a0b0c", [0x0a, 0x0b, 0x0c]),
            ("#111222333", [0x11, 0x22, 0x33]),
            ("#0a000b000c00", [0x0a, 0x0b, 0x0c]),
            ("rgb:f/0/80", [0xff, 0, 0x80]),
            ("rgb:ffff/1234/0", [0xff, 0x12, 0]),
        ] {
            assert_eq!(parse(text), Some(colour), "{text}");
        }
        for text in [
            "#12",
            "#",
            "red",
            "rgb:1/2",
            "rgb:1/2/3/4",
            "rgb:12345/0/0",
            "rgb:123456789/0/0",
            "rgb:+f/0/0",
            "rgb://",
            "#é12",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_set_is_told_until_it_is_reset() {
        let mut colours = Colours::default();
        let told = |colours: &mut Colours, asked| {
            colours.command(asked).into_iter().map(|(name, rgb)| (name, rgb[0])).collect::<Vec<_>>()
        };
        assert_eq!(told(&mut colours, "4;1;rgb:1/2/3;1;?;2;?"), [("4;1".into(), 0x11), ("4;2".into(), 0)]);
        assert_eq!(told(&mut colours, "10;#fff;?;?"), [("11".into(), 0), ("12".into(), 0xff)]);
        assert_eq!(told(&mut colours, "11;#800;?"), [("12".into(), 0xff)]);
        assert_eq!(told(&mut colours, "11;?"), [("11".into(), 0x80)]);
        colours.command("104;1");
        colours.command("111");
        assert_eq!(told(&mut colours, "4;1;?"), [("4;1".into(), 0xcd)]);
        assert_eq!(told(&mut colours, "11;?"), [("11".into(), 0)]);
    }
}
