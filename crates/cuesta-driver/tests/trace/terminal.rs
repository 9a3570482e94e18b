//! script(1) of util-linux, which stands between two terminals and writes down what passes, and when.

use std::fs;
use std::path::Path;

use super::{Event, apart};

const TIMES: &str = "terminal.times";
const BYTES: &str = "terminal.bytes";

/// The command that runs another one under script(1).
pub fn traced(command: &str, folder: &Path) -> String {
    let [times, bytes] = [TIMES, BYTES].map(|name| folder.join(name).display().to_string());
    apart::others(&format!("script --quiet --flush --log-io {bytes} --log-timing {times} --command {command}"))
}

/// What it wrote: in the one file what passed, both ways, in the other a row for each stretch of it: `I 0.001234 1`, the
/// way (In is what was typed), the seconds since the row before, and the length.
pub fn events(folder: &Path) -> Vec<Event> {
    let bytes = fs::read(folder.join(BYTES)).expect("script(1) of util-linux is there");
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut rest = &bytes[header..];
    let mut events = Vec::new();
    let mut at = 0;
    for row in fs::read_to_string(folder.join(TIMES)).unwrap().lines() {
        let [way, since, length] = row.splitn(3, ' ').collect::<Vec<_>>()[..] else { continue };
        if !matches!(way, "I" | "O") {
            continue;
        }
        at += (since.parse::<f64>().unwrap() * 1e9).round() as u64;
        let Some((bytes, after)) = rest.split_at_checked(length.parse().unwrap()) else { break };
        events.push(Event { at, by_user: way == "I", bytes: bytes.to_vec() });
        rest = after;
    }
    events
}
