//! What an idle line costs the host. One test in its own process, because it measures the process.

use std::fs;
use std::io::Write;
use std::net::TcpStream;

use cuesta_host::Host;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::programs::{connect, receive_until, start};

const LINES: u64 = 2000;
/// Resident bytes of the host for each line. The kernel's share is not in it.
const MOST: u64 = 8 * 1024;

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * rustix::param::page_size() as u64
}

/// A telnet line on which a message of 13 characters was answered with 150, after the first prompt.
fn used_line(host: &Host) -> TcpStream {
    let mut line = connect(host);
    line.write_all(b"abcdefghijkl\r\0").expect("the host reads");
    receive_until(&mut line, "> ");
    receive_until(&mut line, "\r\n> ");
    line
}

#[test]
fn an_idle_telnet_line_takes_less_than_8_kib() {
    // Both ends of each line are in this process; the users' ends are bare descriptors.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let room = limit.maximum.is_none_or(|most| most >= 2 * LINES + 100);
    assert!(room, "{LINES} lines need {} descriptors: raise the hard limit (ulimit -Hn)", 2 * LINES + 100);

    let spec = r#"{"listen":["telnet://127.0.0.1:0"],"service":{"transaction":{"reply":150}}}"#;
    let host = start(spec).unwrap();
    // The first line's memory is shared by all: buffers, tables, code.
    let first = used_line(&host);
    let mut lines = Vec::with_capacity(LINES as usize);
    let before = resident();
    lines.extend((0..LINES).map(|_| used_line(&host)));
    let size = resident().saturating_sub(before) / LINES;
    assert_eq!(host.meters()["lines"]["asking"], LINES + 1);
    assert!((256..MOST).contains(&size), "{size} bytes a line");
    drop((first, lines));
}
