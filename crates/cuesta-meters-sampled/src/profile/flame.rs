//! The stacks as a flame graph in SVG, and as folded text that other programs read.
//!
//! The lowest row is the processes; above them are user functions, then kernel functions. Width is samples. The picture is
//! readable without a mouse; with one, each box shows its full name and its share.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::stacks::{Location, Profile};

/// Width of the picture.
const WIDTH: f64 = 1200.0;
/// Height of a row.
const ROW: f64 = 17.0;
/// Boxes narrower than this are left out.
const NARROWEST: f64 = 0.4;
/// Rows, at most.
const DEEPEST: usize = 80;
/// Width of a character.
const CHARACTER: f64 = 6.6;

impl Profile {
    /// One row for each stack: names from the process to the innermost function, joined by semicolons; a blank; the number of
    /// samples.
    pub fn folded(&self) -> String {
        let mut rows = BTreeMap::<String, u64>::new();
        for stack in &self.stacks {
            let names = stack.frames.iter().map(|frame| clean(&self.name(*frame)));
            let row: Vec<_> = std::iter::once(clean(&stack.command)).chain(names).collect();
            *rows.entry(row.join(";")).or_default() += stack.samples;
        }
        rows.iter().fold(String::new(), |mut text, (row, samples)| {
            let _ = writeln!(text, "{row} {samples}");
            text
        })
    }

    /// The flame graph in SVG; empty without samples.
    pub fn flame(&self, title: &str) -> String {
        let root = self.tree();
        if root.samples == 0 {
            return String::new();
        }
        let depth = root.depth().min(DEEPEST);
        let height = (depth as f64 + 2.0) * ROW;
        let mut picture = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" role=\"img\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"monospace\" font-size=\"11\">\n<text x=\"{}\" y=\"12\" text-anchor=\"middle\" \
             fill=\"currentColor\">{}</text>\n",
            WIDTH / 2.0,
            escape(title)
        );
        let canvas = Canvas { all: root.samples, bottom: height - ROW };
        root.draw(&mut picture, &canvas, 0.0, 0);
        picture.push_str("</svg>\n");
        picture
    }

    fn tree(&self) -> Node {
        let mut root = Node { name: "all".to_owned(), ..Node::default() };
        for stack in &self.stacks {
            root.samples += stack.samples;
            let mut node = root.child(&stack.command, Kind::Process, stack.samples);
            for frame in stack.frames.iter().take(DEEPEST) {
                let kind = match self.places.get(*frame as usize) {
                    Some(Location::Kernel { .. }) => Kind::Kernel,
                    _ => Kind::User,
                };
                node = node.child(&self.name(*frame), kind, stack.samples);
            }
        }
        root
    }

    fn name(&self, frame: u32) -> String {
        let (module, function) = self.places.get(frame as usize).unwrap_or(&Location::Unknown).words();
        match (&*module, &*function) {
            ("kernel", function) => function.to_owned(),
            (module, "") => module.to_owned(),
            (module, function) => format!("{module}`{function}"),
        }
    }
}

/// The kind of a box, which sets its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Kind {
    #[default]
    All,
    Process,
    User,
    Kernel,
}

#[derive(Debug, Default)]
struct Node {
    name: String,
    kind: Kind,
    samples: u64,
    children: BTreeMap<(Kind, String), Node>,
}

struct Canvas {
    all: u64,
    bottom: f64,
}

impl Node {
    fn child(&mut self, name: &str, kind: Kind, samples: u64) -> &mut Self {
        let new = || Self { name: name.to_owned(), kind, ..Self::default() };
        let child = self.children.entry((kind, name.to_owned())).or_insert_with(new);
        child.samples += samples;
        child
    }

    fn depth(&self) -> usize {
        1 + self.children.values().map(Self::depth).max().unwrap_or(0)
    }

    fn draw(&self, picture: &mut String, canvas: &Canvas, left: f64, level: usize) {
        let width = WIDTH * self.samples as f64 / canvas.all as f64;
        if width < NARROWEST || level >= DEEPEST {
            return;
        }
        let top = canvas.bottom - (level as f64 + 1.0) * ROW + ROW;
        let percent = 100.0 * self.samples as f64 / canvas.all as f64;
        let name = escape(&self.name);
        let _ = writeln!(
            picture,
            "<g><title>{name}: {} samples, {percent:.2} %</title><rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\" rx=\"1\" fill=\"{}\"/>{}</g>",
            self.samples,
            top - ROW,
            (width - 0.3).max(0.1),
            ROW - 1.0,
            self.colour(),
            label(&self.name, left, top, width)
        );
        let mut left = left;
        for child in self.children.values() {
            child.draw(picture, canvas, left, level + 1);
            left += WIDTH * child.samples as f64 / canvas.all as f64;
        }
    }

    fn colour(&self) -> &'static str {
        match self.kind {
            Kind::All => "#bbb",
            Kind::Process => "#9ab",
            Kind::User => "#7fb77e",
            Kind::Kernel => "#e8a15a",
        }
    }
}

/// The name, as far as it fits.
fn label(name: &str, left: f64, top: f64, width: f64) -> String {
    let room = ((width - 4.0) / CHARACTER).max(0.0) as usize;
    if room < 3 {
        return String::new();
    }
    let shown: String = if name.chars().count() > room {
        name.chars().take(room - 1).chain(['…']).collect()
    } else {
        name.to_owned()
    };
    format!("<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#000\">{}</text>", left + 2.0, top - 5.0, escape(&shown))
}

/// Escapes text and attributes, without characters that XML does not allow.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            character if character.is_control() => {}
            character => safe.push(character),
        }
    }
    safe
}

/// A name in a row of folded stacks: semicolons and breaks would end it.
fn clean(name: &str) -> String {
    let one = |c: char| if c == ';' || c.is_control() { '_' } else { c };
    name.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Stack;
    use proptest::prelude::*;

    fn profile(command: &str) -> Profile {
        let kernel = |function: &str| Location::Kernel { function: function.to_owned(), module: String::new() };
        let user = Location::Function { path: "/lib/libc.so.6".to_owned(), function: "read".to_owned() };
        let stack = |frames: &[u32], samples| Stack { command: command.to_owned(), frames: frames.to_vec(), samples };
        Profile {
            places: vec![user, kernel("entry"), kernel("vfs_read")],
            stacks: vec![stack(&[0], 3), stack(&[0, 1, 2], 1)],
            idle: 0,
            rare: 0,
        }
    }

    #[test]
    fn stacks_as_text() {
        assert_eq!(profile("a;b").folded(), "a_b;libc.so.6`read 3\na_b;libc.so.6`read;entry;vfs_read 1\n");
    }

    #[test]
    fn the_picture_has_a_box_for_each_name_as_wide_as_its_share() {
        let picture = profile("emacs").flame("one & all");
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("one &amp; all"));
        assert_eq!(picture.matches("<rect").count(), 5);
        assert!(picture.contains("vfs_read: 1 samples, 25.00 %"));
        assert!(picture.contains("width=\"299.7\""));
        assert_eq!(Profile::default().flame("nothing"), "");
    }

    proptest! {
        #[test]
        fn names_cannot_break_the_picture(name in "\\PC{0,30}|[<>&\"\u{0}-\u{1f}]{0,9}") {
            let picture = profile(&name).flame(&name);
            let inside = picture.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").replace("&quot;", "");
            prop_assert!(!inside.contains('&'));
            prop_assert_eq!(inside.matches('<').count(), inside.matches('>').count());
            prop_assert!(!picture.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
