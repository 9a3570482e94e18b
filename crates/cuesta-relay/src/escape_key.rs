//! The key that ends a recording when it is pressed three times. Presses are held back until their meaning is clear.

use std::time::Duration;

use cuesta_record::Stamp;

/// Ctrl+], pressed `PRESSES` times, each within `MAX_GAP` of the one before. (Telnet's escape character.)
const ESCAPE_KEY: u8 = 0x1d;
const PRESSES: usize = 3;
const MAX_GAP: Duration = Duration::from_millis(500);

/// The presses that are held back.
#[derive(Debug, Default)]
pub(crate) struct EscapeKey {
    /// Their number, and the instant of the last one.
    held: usize,
    at: Stamp,
}

impl EscapeKey {
    /// The keys for the host: those of `typed`, and earlier presses that were held back. `None` if the recording ends.
    pub(crate) fn take(&mut self, typed: &[u8], now: Stamp) -> Option<Vec<u8>> {
        let mut passed = self.overdue(now);
        for key in typed {
            if *key == ESCAPE_KEY {
                (self.held, self.at) = (self.held + 1, now);
                if self.held == PRESSES {
                    return None;
                }
            } else {
                passed.extend(self.release());
                passed.push(*key);
            }
        }
        Some(passed)
    }

    /// Held presses that go to the host because no other followed in time.
    pub(crate) fn overdue(&mut self, now: Stamp) -> Vec<u8> {
        if now.since(self.at) > MAX_GAP { self.release() } else { Vec::new() }
    }

    fn release(&mut self) -> Vec<u8> {
        vec![ESCAPE_KEY; std::mem::take(&mut self.held)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Stamp {
        Stamp::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn three_presses_end_the_recording_and_are_not_sent() {
        let mut escape_key = EscapeKey::default();
        assert_eq!(escape_key.take(b"a\x1d", at(0)).as_deref(), Some(&b"a"[..]));
        assert_eq!(escape_key.take(b"\x1d", at(500)).as_deref(), Some(&b""[..]));
        assert_eq!(escape_key.take(b"\x1d", at(1000)), None);
        assert_eq!(EscapeKey::default().take(b"x\x1d\x1d\x1dy", at(0)), None);
    }

    #[test]
    fn a_press_is_sent_before_another_key() {
        let mut escape_key = EscapeKey::default();
        assert_eq!(escape_key.take(b"\x1d\x1d", at(0)).as_deref(), Some(&b""[..]));
        assert_eq!(escape_key.take(b"x\x1d", at(100)).as_deref(), Some(&b"\x1d\x1dx"[..]));
        assert_eq!(escape_key.take(b"\x1d", at(200)).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn a_press_is_sent_after_the_timeout() {
        let mut escape_key = EscapeKey::default();
        assert_eq!(escape_key.take(b"\x1d\x1d", at(0)).as_deref(), Some(&b""[..]));
        assert_eq!(escape_key.overdue(at(500)), b"");
        assert_eq!(escape_key.overdue(at(501)), b"\x1d\x1d");
        assert_eq!(escape_key.overdue(at(502)), b"");
        // The third press is too late and begins a new series.
        assert_eq!(escape_key.take(b"\x1d\x1d", at(600)).as_deref(), Some(&b""[..]));
        assert_eq!(escape_key.take(b"\x1d", at(1200)).as_deref(), Some(&b"\x1d\x1d"[..]));
    }
}
