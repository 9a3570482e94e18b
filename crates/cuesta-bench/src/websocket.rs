//! The part of WebSocket that keys and echoes need: the end of the bare loop, and that of the smallest host.
//!
//! A key and its echo are far smaller than what one packet holds, so a frame always comes whole.

use std::mem;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cuesta_lines::wire::websocket::accept_key;

/// The `Sec-WebSocket-Key` of the bare loop, which makes no random one.
const KEY: [u8; 16] = [7; 16];

/// First byte of a frame that is a whole binary message (RFC 6455 §5.2).
const BINARY: u8 = 0x82;
/// Second byte: a mask follows, and the length of the payload.
const MASKED: u8 = 0x80;

/// Where ttyd's page asks for a token, and where its WebSocket is.
const TOKEN: &str = "/token";
const SOCKET: &str = "/ws";

/// ttyd's first message, which starts its program, and the first output, which says that it runs.
pub(crate) const FIRST: &[u8] = br#"{"AuthToken":"","columns":80,"rows":24}"#;
const RUNS: &[u8] = b"0$ ";

/// A page's request of ttyd, before its WebSocket.
pub(crate) fn token_request(address: &str) -> String {
    format!(
        "GET {TOKEN} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: bench\r\nAccept: */*\r\nOrigin: https://{address}\r\n\r\n"
    )
}

/// A request that opens a WebSocket, of bare characters or of ttyd.
pub(crate) fn open_request(address: &str, is_ttyd: bool) -> String {
    let (path, subprotocol) = if is_ttyd { (SOCKET, "Sec-WebSocket-Protocol: tty\r\n") } else { ("/", "") };
    format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: bench\r\nAccept: */*\r\nOrigin: https://{address}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n{subprotocol}\r\n",
        STANDARD.encode(KEY)
    )
}

/// The terminal's end: makes frames.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// The state of a xorshift generator.
    mask: u32,
}

impl Terminal {
    pub(crate) fn new(number: u32) -> Self {
        Self { mask: number.wrapping_mul(2_654_435_761) | 1 }
    }

    /// Makes a frame of a payload of less than 126 bytes at the head of `room`, and returns it.
    pub(crate) fn frame<'a>(&mut self, payload: &[u8], room: &'a mut [u8]) -> &'a [u8] {
        self.mask ^= self.mask << 13;
        self.mask ^= self.mask >> 17;
        self.mask ^= self.mask << 5;
        let mask = self.mask.to_ne_bytes();
        let frame = &mut room[..6 + payload.len()];
        frame[..2].copy_from_slice(&[BINARY, MASKED | payload.len() as u8]);
        frame[2..6].copy_from_slice(&mask);
        for (index, byte) in payload.iter().enumerate() {
            frame[6 + index] = byte ^ mask[index % 4];
        }
        frame
    }
}

/// The number of characters in frames of a host.
pub(crate) fn count_characters(mut frames: &[u8]) -> usize {
    let mut characters = 0;
    while let [BINARY, len, rest @ ..] = frames {
        characters += usize::from(*len);
        frames = rest.get(usize::from(*len)..).unwrap_or_default();
    }
    characters
}

/// The host's end of a connection: answers requests, then echoes.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// Its TLS session is that of an earlier connection.
    pub(crate) is_resumed: bool,
    /// How a request was answered.
    request: Vec<u8>,
    is_open: bool,
}

impl Host {
    /// Takes received bytes, and appends the bytes to send.
    pub(crate) fn take(&mut self, received: &mut [u8], out: &mut Vec<u8>) {
        if self.is_open {
            return echo(received, out);
        }
        self.request.extend_from_slice(received);
        if self.request.ends_with(b"\r\n\r\n") {
            let request = mem::take(&mut self.request);
            self.answer(&String::from_utf8_lossy(&request), out);
        }
    }

    fn answer(&mut self, request: &str, out: &mut Vec<u8>) {
        if request.starts_with(&format!("GET {TOKEN} ")) {
            let body = r#"{"token": ""}"#;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json;charset=utf-8\r\n";
            out.extend(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).bytes());
            return;
        }
        if request.starts_with(&format!("GET {SOCKET} ")) && !self.is_resumed {
            return out.extend(b"HTTP/1.1 403 Expected a resumed session\r\ncontent-length: 0\r\n\r\n");
        }
        self.is_open = true;
        let key = request.split_once("Sec-WebSocket-Key: ").and_then(|(_, rest)| rest.split("\r\n").next());
        let subprotocol = if request.contains("Protocol: tty") { "Sec-WebSocket-Protocol: tty\r\n" } else { "" };
        let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
        let accept = accept_key(key.unwrap_or_default());
        out.extend(format!("{head}Sec-WebSocket-Accept: {accept}\r\n{subprotocol}\r\n").bytes());
    }
}

/// Sends the payload of each frame back; ttyd's first message is answered as if its program ran.
fn echo(mut frames: &mut [u8], out: &mut Vec<u8>) {
    while let [first, second, a, b, c, d, rest @ ..] = frames {
        let len = usize::from(*second & !MASKED).min(rest.len());
        let (payload, next) = rest.split_at_mut(len);
        for (byte, mask) in payload.iter_mut().zip([*a, *b, *c, *d].into_iter().cycle()) {
            *byte ^= mask;
        }
        // A close frame shows as the connection's end.
        if *first == BINARY {
            let answer = if payload.starts_with(b"{") { RUNS } else { &*payload };
            out.extend_from_slice(&[BINARY, answer.len() as u8]);
            out.extend_from_slice(answer);
        }
        frames = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_echoes_what_the_terminal_frames() {
        let (mut host, mut terminal, mut out) = (Host::default(), Terminal::new(5), Vec::new());
        host.take(&mut open_request("h:1", false).into_bytes(), &mut out);
        assert!(out.starts_with(b"HTTP/1.1 101 ") && out.ends_with(b"\r\n\r\n"));
        let mut frames = [&b"x"[..], b"yz"].map(|payload| terminal.frame(payload, &mut [0; 16]).to_vec()).concat();
        assert_eq!((&frames[..2], frames.len()), (&[0x82, 0x81][..], 7 + 8));
        out.clear();
        host.take(&mut frames, &mut out);
        assert_eq!((out.as_slice(), count_characters(&out)), (&b"\x82\x01x\x82\x02yz"[..], 3));
    }

    #[test]
    fn the_host_plays_ttyd_over_a_resumed_session() {
        let (mut host, mut terminal, mut out) = (Host::default(), Terminal::new(5), Vec::new());
        for piece in token_request("h:1").into_bytes().chunks_mut(7) {
            host.take(piece, &mut out);
        }
        assert!(out.ends_with(br#"{"token": ""}"#));
        host.take(&mut open_request("h:1", true).into_bytes(), &mut out);
        assert!(out.ends_with(b"content-length: 0\r\n\r\n"));
        host.is_resumed = true;
        host.take(&mut open_request("h:1", true).into_bytes(), &mut out);
        assert!(out.ends_with(b"Sec-WebSocket-Protocol: tty\r\n\r\n"));
        out.clear();
        let mut room = [0; 64];
        let len = terminal.frame(FIRST, &mut room).len();
        host.take(&mut room[..len], &mut out);
        assert_eq!(out, b"\x82\x030$ ");
    }
}
