//! What an idle line costs the built-in host: the growth of its process, in another process than the users.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::job::{ANSWER, ECHO, Framing, HostJob, INPUT, PROMPT, Work};
use crate::process::{self, Part};
use crate::table::ResultRow;
use crate::usage::resident;

const LINES: u32 = 10_000;
const PATIENCE: Duration = Duration::from_secs(10);
/// Largest memory of an idle line, in bytes.
const MOST: f64 = 8192.0;

/// Opens lines on telnet, has one message of each answered, and leaves them idle: ten thousand, or as many as there are descriptors
/// for.
pub(crate) fn measure(cpu: usize) -> Result<ResultRow, Box<dyn Error>> {
    // The host inherits the raised limit.
    let number = LINES.min(process::room_for_lines());
    let (part, address) = Part::host(HostJob { built_in: true, ..HostJob::small(Work::Echoed, Framing::Telnet, cpu) })?;
    let host = part.id().to_string();
    // What all lines share is there after the first.
    let _first = used_line(&address)?;
    let before = resident(&host)?;
    let lines = (0..number).map(|_| used_line(&address)).collect::<Result<Vec<_>, _>>()?;
    let size = resident(&host)?.saturating_sub(before) as f64 / f64::from(number);
    drop(lines);
    let name = format!("memory of an idle line in the host, {number} lines on telnet");
    Ok(ResultRow::with_target(&name, format!("{size:.0} bytes"), &format!("under {MOST:.0} bytes"), size < MOST))
}

/// A line whose negotiation is over and whose message was answered.
fn used_line(address: &str) -> Result<TcpStream, Box<dyn Error>> {
    let mut line = TcpStream::connect(address)?;
    line.set_read_timeout(Some(PATIENCE))?;
    line.write_all(INPUT.as_bytes())?;
    line.write_all(b"\0")?;
    let (mut text, mut buffer) = (Vec::new(), [0; 512]);
    while text.len() < PROMPT + ECHO + ANSWER || !text.ends_with(b"\r\n> ") {
        let len = line.read(&mut buffer)?;
        if len == 0 {
            return Err("the host closed a line".into());
        }
        text.extend_from_slice(&buffer[..len]);
    }
    Ok(line)
}
