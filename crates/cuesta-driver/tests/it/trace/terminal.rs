//! script(1) of util-linux: it relays between two terminals and records the bytes with their times.

use std::fs;
use std::path::Path;

use super::Event;

const TIMES: &str = "terminal.times";
const BYTES: &str = "terminal.bytes";

/// The command line that runs `command` under script(1).
pub fn traced(command: &str, folder: &Path) -> String {
    let [times, bytes] = [TIMES, BYTES].map(|name| folder.join(name).display().to_string());
    format!("script --quiet --flush --log-io {bytes} --log-timing {times} --command {command}")
}

/// Reads script's two files. One holds the bytes of both directions. The other has a row for each chunk, `I 0.001234 1`: the
/// direction (`I` is input), the seconds since the previous row, and the length in bytes.
pub fn events(folder: &Path) -> Vec<Event> {
    let bytes = fs::read(folder.join(BYTES)).expect("script(1) of util-linux is needed");
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut rest = &bytes[header..];
    let mut events = Vec::new();
    let mut at = 0;
    for row in fs::read_to_string(folder.join(TIMES)).unwrap().lines() {
        let [direction, since, length] = row.splitn(3, ' ').collect::<Vec<_>>()[..] else { continue };
        if !matches!(direction, "I" | "O") {
            continue;
        }
        at += (since.parse::<f64>().unwrap() * 1e9).round() as u64;
        let Some((bytes, after)) = rest.split_at_checked(length.parse().unwrap()) else { break };
        events.push(Event { at, by_user: direction == "I", bytes: bytes.to_vec() });
        rest = after;
    }
    events
}
