//! Streams that other terminals are tested with, where a checkout of their repository is at hand: `XTERM_JS` and `ALACRITTY` name the
//! folders. Each is played here and at xterm.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use cuesta_screen::vt::Screen;

use crate::xterm::{Display, Shown, Xterm};

/// Streams by name, each with the size of its screen.
type Streams = BTreeMap<String, ((u16, u16), Vec<u8>)>;

fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// As the line discipline of a terminal passes them on: a line feed with a carriage return before it.
fn as_from_a_terminal(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) })
        .copied()
        .collect()
}

fn xterm_js() -> Option<Streams> {
    let files = fs::read_dir(folder("XTERM_JS")?.join("test/fixtures/escape_sequence_files")).expect("fixtures");
    let paths =
        files.map(|file| file.expect("a file").path()).filter(|path| path.extension().is_some_and(|it| it == "in"));
    let stream = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, ((80, 25), as_from_a_terminal(&fs::read(path).expect("a stream"))))
    };
    Some(paths.map(stream).collect())
}

fn alacritty() -> Option<Streams> {
    let folders = fs::read_dir(folder("ALACRITTY")?.join("alacritty_terminal/tests/ref")).expect("recordings");
    let stream = |folder: PathBuf| {
        let size = fs::read_to_string(folder.join("size.json")).expect("a size");
        let size: serde_json::Value = serde_json::from_str(&size).expect("a size");
        let number = |name: &str| size[name].as_u64().and_then(|it| u16::try_from(it).ok()).expect("a number");
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        (
            name,
            (
                (number("columns"), number("screen_lines")),
                fs::read(folder.join("alacritty.recording")).expect("a stream"),
            ),
        )
    };
    Some(folders.map(|folder| stream(folder.expect("a folder").path())).collect())
}

/// Plays streams, and returns the names of those that are shown otherwise by xterm.
fn differ(streams: &Streams) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let display = Display::start();
    let mut xterms = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, (size, stream)) in streams {
        let xterm = xterms.entry(*size).or_insert_with(|| Xterm::start(&display, folder.path(), *size));
        let mut screen = Screen::new(size.0, size.1);
        screen.feed(stream);
        screen.forget_replies(usize::MAX);
        let (ours, theirs) = (Shown::of_screen(&mut screen), xterm.shows(stream));
        if ours != theirs {
            println!("{name}: {}", first_difference(&ours, &theirs));
            wrong.push(name.clone());
        }
    }
    wrong
}

fn first_difference(ours: &Shown, theirs: &Shown) -> String {
    let rows = 0..ours.rows.len().max(theirs.rows.len());
    let differs = rows.into_iter().find(|row| ours.rows.get(*row) != theirs.rows.get(*row));
    differs.map_or_else(
        || format!("the cursor, xterm {}, here {}", theirs.cursor, ours.cursor),
        |row| format!("row {row}\n  xterm {:?}\n  here  {:?}", theirs.rows.get(row), ours.rows.get(row)),
    )
}

/// Plays at least `least` streams; at most `most` of them are shown otherwise by xterm.
fn compare(streams: Option<Streams>, variable: &str, least: usize, most: usize) {
    let Some(streams) = streams else { return println!("{variable} names no checkout: not played") };
    let wrong = differ(&streams);
    assert!(streams.len() >= least && wrong.len() <= most, "{} of {}: {wrong:?}", wrong.len(), streams.len());
}

#[test]
#[ignore = "nightly"]
fn xterm_js_fixtures_are_shown_as_by_xterm() {
    compare(xterm_js(), "XTERM_JS", 76, 6);
}

#[test]
#[ignore = "nightly"]
fn alacritty_recordings_are_shown_as_by_xterm() {
    compare(alacritty(), "ALACRITTY", 45, 9);
}
