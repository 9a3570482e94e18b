//! Drops the text that a host may send before its version (RFC 4253 §4.2: clients must be able to process it). Pure.

/// The longest line, and the most lines, that are read before the version: OpenSSH's own limits. What a host sends beyond them is
/// passed on, so that it is refused as no ssh.
const LONGEST: usize = 8192;
const MOST_LINES: usize = 1024;

/// What the version begins with, and no line before it.
const VERSION: &[u8] = b"SSH-";

/// What `russh` is given in place of too much text: more lines than it takes before a version.
const TOO_MUCH: &[u8] = &[b'\n'; 32];

/// Where in the text before the version a connection is.
#[derive(Debug, Default)]
pub(super) struct Preamble {
    /// The version has begun, or the limits are exceeded: everything passes.
    is_over: bool,
    /// How many lines were dropped.
    lines: usize,
    /// How much of the current line was read.
    len: usize,
    /// The current line begins as a version does, as far as it was read.
    is_version: bool,
}

impl Preamble {
    /// Whether all that comes now passes.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the version has begun.
    pub(super) fn has_version(&self) -> bool {
        self.is_over && self.is_version
    }

    /// Takes what was received. Returns what of it `russh` shall read: nothing until the version begins, then everything. The beginning
    /// of the version may have come with a piece before.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8]) -> (&'static [u8], &'a [u8]) {
        if self.is_over {
            return (&[], bytes);
        }
        for (at, byte) in bytes.iter().enumerate() {
            self.is_version = (self.len == 0 || self.is_version) && VERSION.get(self.len) == Some(byte);
            self.len += 1;
            if *byte == b'\n' {
                self.lines += 1;
                self.len = 0;
            }
            let is_whole = self.is_version && self.len == VERSION.len();
            if is_whole || self.len > LONGEST || self.lines > MOST_LINES {
                self.is_over = true;
                return (if is_whole { VERSION } else { TOO_MUCH }, &bytes[at + 1..]);
            }
        }
        (&[], &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(sent: &[u8], piece: usize) -> Vec<u8> {
        let mut preamble = Preamble::default();
        sent.chunks(piece)
            .flat_map(|bytes| {
                let (head, rest) = preamble.take(bytes);
                [head, rest].concat()
            })
            .collect()
    }

    #[test]
    fn text_of_any_shape_before_the_version_is_dropped() {
        let lines = "notice \u{e4} SSH-2.0-not\r\n".repeat(MOST_LINES);
        let long = "x".repeat(LONGEST - 1);
        for before in ["", "\r\n", "SS\nSSH\n\n", &lines, &format!("{long}\n{long}\n")] {
            let sent = [before.as_bytes(), b"SSH-2.0-h\r\n\0\0SSH-\n"].concat();
            for piece in [1, 2, 3, 997, sent.len()] {
                assert_eq!(passed(&sent, piece), b"SSH-2.0-h\r\n\0\0SSH-\n", "{piece}");
            }
        }
    }

    #[test]
    fn endless_text_is_passed_on_to_be_refused() {
        for endless in [vec![b'x'; 2 * LONGEST], vec![b'\n'; 2 * MOST_LINES]] {
            let rest = passed(&endless, 100);
            assert!(rest.starts_with(TOO_MUCH) && rest.len() <= TOO_MUCH.len() + LONGEST, "{}", rest.len());
        }
    }
}
