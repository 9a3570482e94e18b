//! Compares the 3270 with s3270: the whole buffer, the cursor, the lock of the keyboard and what each key sends, after the same
//! streams of a host and the same keys.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cuesta_screen::block::Display;
use cuesta_tape::{Held, Key};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const IAC: u8 = 0xff;
const EOR: u8 = 0xef;
const START_FIELD: u8 = 0x1d;
const CELLS: usize = 1920;
const ERASE_ALL_UNPROTECTED: &[u8] = &[0x6f];
/// Write, and unlock the keyboard.
const UNLOCK: &[u8] = &[0xf1, 0xc2];

/// s3270, connected to this test, which is its host.
struct S3270 {
    child: Child,
    actions: ChildStdin,
    output: BufReader<ChildStdout>,
    line: TcpStream,
}

impl S3270 {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        let mut child = Command::new("s3270")
            .args(["-model", "3278-2-E", "-codepage", "cp037", "-set", "unlockDelay=0", "-clear", "blankFill"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("s3270 is installed: ./scripts/setup --tests");
        let (mut actions, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        writeln!(actions, "Connect({host})").unwrap();
        let (line, _) = listener.accept().unwrap();
        line.set_nodelay(true).unwrap();
        line.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        let mut peer = Self { child, actions, output, line };
        peer.negotiate();
        peer.write(&[0xf5, 0xc3, 0x1d, 0x40, 0x13]);
        assert!(peer.is_done(), "s3270 is connected");
        peer
    }

    /// RFC 1576: terminal type, end of record and binary both ways.
    fn negotiate(&mut self) {
        self.line.write_all(b"\xff\xfd\x18").unwrap();
        self.expect(b"\xff\xfb\x18");
        self.line.write_all(b"\xff\xfa\x18\x01\xff\xf0").unwrap();
        self.expect(b"\xff\xfa\x18\x00IBM-3278-2-E\xff\xf0");
        self.line.write_all(b"\xff\xfd\x19\xff\xfb\x19\xff\xfd\x00\xff\xfb\x00").unwrap();
        self.expect(b"\xff\xfb\x19\xff\xfd\x19\xff\xfb\x00\xff\xfd\x00");
    }

    fn expect(&mut self, wanted: &[u8]) {
        let mut came = vec![0; wanted.len()];
        self.line.read_exact(&mut came).unwrap();
        assert_eq!(came, wanted);
    }

    /// Sends a record to the terminal.
    fn write(&mut self, record: &[u8]) {
        self.line.write_all(&framed(record)).unwrap();
    }

    /// The next record from the terminal, as it is framed.
    fn read(&mut self) -> Vec<u8> {
        let mut stream = Vec::new();
        let mut byte = [0];
        while !ends(&stream) {
            self.line.read_exact(&mut byte).unwrap();
            stream.push(byte[0]);
        }
        stream
    }

    /// Whether s3270 carries out an action. Of a key that calls for the host it says so once the host has unlocked the keyboard.
    fn action(&mut self, action: &str) -> bool {
        self.begin(action);
        self.is_done()
    }

    fn begin(&mut self, action: &str) {
        writeln!(self.actions, "{action}").unwrap();
    }

    fn is_done(&mut self) -> bool {
        loop {
            let mut row = String::new();
            assert!(self.output.read_line(&mut row).unwrap() > 0, "s3270 has ended");
            match row.trim_end() {
                "ok" => return true,
                "error" => return false,
                _ => {}
            }
        }
    }
}

impl Drop for S3270 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn framed(record: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    for byte in record {
        stream.extend(std::iter::repeat_n(*byte, 1 + usize::from(*byte == IAC)));
    }
    stream.extend([IAC, EOR]);
    stream
}

/// Whether a stream ends with the end of a record.
fn ends(stream: &[u8]) -> bool {
    let iacs = stream.iter().rev().skip(1).take_while(|byte| **byte == IAC).count();
    stream.last() == Some(&EOR) && iacs % 2 == 1
}

/// One thing that the host or the user does.
#[derive(Debug, Clone)]
enum Step {
    Write(Vec<u8>),
    Type(String),
    Press(&'static str),
}

impl Step {
    /// Whether the host or the user erases what was typed.
    fn erases_input(&self) -> bool {
        match self {
            Self::Write(record) => record == ERASE_ALL_UNPROTECTED,
            Self::Press(name) => *name == "EraseInput()",
            Self::Type(_) => false,
        }
    }
}

/// Keys by their names in s3270, and here.
const KEYS: [(&str, Key); 21] = [
    ("Enter()", Key::Enter),
    ("PF(3)", Key::Function(3)),
    ("PF(12)", Key::Function(12)),
    ("PF(24)", Key::Function(24)),
    ("PA(1)", Key::ProgramAccess(1)),
    ("PA(3)", Key::ProgramAccess(3)),
    ("Clear()", Key::Clear),
    ("Tab()", Key::Tab),
    ("Home()", Key::Home),
    ("Newline()", Key::Newline),
    ("Up()", Key::Up),
    ("Down()", Key::Down),
    ("Left()", Key::Left),
    ("Right()", Key::Right),
    ("Delete()", Key::Delete),
    ("EraseEOF()", Key::EraseToEndOfField),
    ("EraseInput()", Key::EraseInput),
    ("FieldEnd()", Key::End),
    ("Erase()", Key::Backspace),
    ("ToggleInsert()", Key::Insert),
    ("Reset()", Key::Reset),
];

fn key(name: &str) -> Key {
    if name == "BackTab()" {
        return Key::Chord { held: Held { shift: true, ..Held::default() }, keys: vec![Key::Tab] };
    }
    KEYS.iter().find(|(own, _)| *own == name).map(|(_, key)| key.clone()).expect("a key")
}

fn place() -> impl Strategy<Value = [u8; 2]> {
    // Places near one another meet more often.
    prop_oneof![0..200usize, 0..CELLS, 1850..CELLS].prop_map(|place| [(place >> 8) as u8, place as u8])
}

fn order() -> impl Strategy<Value = Vec<u8>> {
    let attribute = prop::sample::select(&[0x40, 0x60, 0xf0, 0xc1, 0x4c, 0xc8, 0xe8, 0x50][..]);
    prop_oneof![
        4 => place().prop_map(|place| [&[0x11][..], &place].concat()),
        4 => attribute.clone().prop_map(|attribute| vec![0x1d, attribute]),
        6 => "[A-Za-z0-9 .,-]{1,30}".prop_map(|text| cuesta_ebcdic::bytes(&text)),
        2 => Just(vec![0x13]),
        1 => Just(vec![0x05]),
        1 => place().prop_map(|place| [&[0x3c][..], &place, &[0xc1]].concat()),
        // s3270 takes the field at the last SET BUFFER ADDRESS for that of an overwritten attribute.
        1 => (place(), place()).prop_map(|(from, to)| [&[0x11][..], &from, &[0x12], &to].concat()),
        1 => attribute.prop_map(|attribute| vec![0x29, 0x02, 0xc0, attribute, 0x42, 0xf2]),
        1 => Just(vec![0x28, 0x42, 0xf4]),
        1 => Just(vec![0x00, 0x00, 0x00]),
    ]
}

fn write() -> impl Strategy<Value = Vec<u8>> {
    let control = prop::sample::select(&[0xc3, 0xc2, 0xc0, 0xc1][..]);
    let command = prop::sample::select(&[0xf1, 0xf5, 0xf1, 0x7e, 0xf1][..]);
    let written = (command, control, prop::collection::vec(order(), 0..12));
    prop_oneof![
        9 => written.prop_map(|(command, control, orders)| [&[command, control][..], &orders.concat()].concat()),
        1 => Just(ERASE_ALL_UNPROTECTED.to_vec()),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let names: Vec<&'static str> = KEYS.iter().map(|(name, _)| *name).chain(["BackTab()"]).collect();
    prop_oneof![
        2 => write().prop_map(Step::Write),
        3 => "[A-Za-z0-9]{1,8}".prop_map(Step::Type),
        4 => prop::sample::select(names).prop_map(Step::Press),
    ]
}

/// Behind characters, with a field at the top and without: only a field is erased from its beginning on.
const TWO_PROGRAM_TABS: [&[u8]; 2] =
    [&[0xf1, 0xc3, 0x81, 0x1d, 0xc1, 0x00, 0x05, 0x05], &[0xf1, 0xc3, 0xc1, 0x05, 0x05]];

/// Both terminals after the same steps.
fn compare(peer: &mut S3270, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut display = Display::new((80, 24));
    let mut before = Buffer::default();
    let first = Step::Write(vec![0xf5, 0xc3]);
    for step in std::iter::once(&first).chain(steps) {
        match step {
            _ if step.erases_input() && before.has_attribute_in_last_cell() => {}
            Step::Write(record) => {
                peer.write(record);
                display.feed(&framed(record));
            }
            Step::Type(text) => {
                // s3270 loses a character that is inserted into the last field, if that goes on at the top of the screen.
                if before.is_in_last_field() {
                    peer.action("Reset()");
                    display.press(&Key::Reset).expect("Reset is always taken");
                }
                for character in text.chars() {
                    let taken = peer.action(&format!("Key({character})"));
                    prop_assert_eq!(display.type_character(character).is_ok(), taken, "typing {}", character);
                    // An error locks s3270's keyboard until it is reset.
                    if !taken {
                        peer.action("Reset()");
                        display.press(&Key::Reset).expect("Reset is always taken");
                    }
                }
            }
            // Where nothing can be typed, s3270 moves the cursor before it refuses. At the top of a screen it deletes nothing.
            Step::Press("Erase()") if !before.takes_input() || before.cursor.is_multiple_of(80) => {}
            Step::Press(name) => {
                peer.begin(name);
                let pressed = display.press(&key(name));
                if let Ok(sent) = &pressed
                    && !sent.is_empty()
                {
                    prop_assert_eq!(sent, &peer.read(), "what {} sends", name);
                    peer.write(UNLOCK);
                    display.feed(&framed(UNLOCK));
                }
                let taken = peer.is_done();
                prop_assert_eq!(pressed.is_ok(), taken, "pressing {}: {:?}", name, pressed);
                if !taken {
                    peer.action("Reset()");
                    display.press(&Key::Reset).expect("Reset is always taken");
                }
            }
        }
        peer.write(&[0xf2]);
        display.feed(&framed(&[0xf2]));
        let (theirs, ours) = (peer.read(), display.replies().to_vec());
        display.forget_replies(ours.len());
        prop_assert!(
            ours == theirs,
            "the buffer after {:?}: {} and {} of s3270",
            step,
            describe_record(&ours),
            describe_record(&theirs)
        );
        // In fields without a place for a character terminals differ, and where the cursor wraps on a screen without fields.
        let buffer = Buffer::from_record(&ours);
        let wrapped =
            buffer.attributes.iter().all(Option::is_none) && buffer.cursor.abs_diff(before.cursor) > CELLS / 2;
        if buffer.has_empty_field() || wrapped {
            return Ok(());
        }
        before = buffer;
    }
    Ok(())
}

/// What a Read Buffer's record says of the cursor, and where attributes are.
#[derive(Default)]
struct Buffer {
    cursor: usize,
    /// The attribute in each cell, if there is one.
    attributes: Vec<Option<u8>>,
}

impl Buffer {
    fn from_record(record: &[u8]) -> Self {
        let mut bytes = record[3..record.len() - 2].iter();
        let mut attributes = Vec::new();
        while let Some(byte) = bytes.next() {
            attributes.push(if *byte == START_FIELD { bytes.next().copied() } else { None });
        }
        Self { cursor: usize::from(record[1] & 0x3f) << 6 | usize::from(record[2] & 0x3f), attributes }
    }

    /// Whether the cursor is where something can be typed.
    fn takes_input(&self) -> bool {
        let back = self.attributes[..=self.cursor].iter().rev().chain(self.attributes.iter().rev());
        self.attributes[self.cursor].is_none() && back.flatten().next().is_none_or(|attribute| attribute & 0x20 == 0)
    }

    /// Whether no attribute follows the cursor, though there are some.
    fn is_in_last_field(&self) -> bool {
        let (to_cursor, behind) = self.attributes.split_at(self.cursor.min(self.attributes.len()));
        to_cursor.iter().any(Option::is_some) && behind.iter().all(Option::is_none)
    }

    /// Whether a field begins at the top of the screen, behind an attribute at its end. s3270's Home finds it; after the input is
    /// erased its cursor goes to the next field.
    fn has_attribute_in_last_cell(&self) -> bool {
        self.attributes.last().is_some_and(Option::is_some)
    }

    /// Whether an attribute stands right behind another one.
    fn has_empty_field(&self) -> bool {
        let next = self.attributes.iter().cycle().skip(1);
        self.attributes.iter().zip(next).any(|(here, next)| here.is_some() && next.is_some())
    }
}

/// A Read Buffer's record without its empty cells: the AID, the cursor, and what stands where.
fn describe_record(record: &[u8]) -> String {
    let cells = record[3..record.len() - 2].iter().enumerate().filter(|(_, byte)| **byte != 0);
    let cells: Vec<_> = cells.map(|(index, byte)| format!("{index}:{byte:02x}")).collect();
    format!("{:02x?} {}", &record[..3], cells.join(" "))
}

#[test]
fn the_buffer_and_the_keys_are_those_of_s3270() {
    let peer = RefCell::new(S3270::start());
    for record in TWO_PROGRAM_TABS {
        compare(&mut peer.borrow_mut(), &[Step::Write(record.to_vec())]).unwrap();
    }
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    runner
        .run(&prop::collection::vec(step(), 1..25), |steps| compare(&mut peer.borrow_mut(), &steps))
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Here s3270 goes to the field behind the second attribute.
#[test]
fn once_input_is_erased_the_cursor_is_in_the_first_cell_that_takes_characters() {
    let mut display = Display::new((80, 24));
    let set_buffer_address_1919 = [0x11, 0x5d, 0x7f];
    let attributes = [&[0xf5, 0xc3, 0xf0, 0x1d, 0x40][..], &set_buffer_address_1919, &[0x1d, 0x40]].concat();
    display.feed(&framed(&attributes));
    display.press(&Key::EraseInput).unwrap();
    display.feed(&framed(&[0xf2]));
    let buffer = Buffer::from_record(display.replies());
    assert!(buffer.has_attribute_in_last_cell());
    assert_eq!(buffer.cursor, 0);
}
