//! The last output of a host.

/// Characters that are kept.
const KEPT: usize = 512;

/// A ring buffer of the last output.
#[derive(Debug)]
pub(crate) struct Tail {
    ring: [u8; KEPT],
    /// Number of characters pushed so far.
    come: usize,
}

impl Tail {
    pub(crate) fn new() -> Self {
        Self { ring: [0; KEPT], come: 0 }
    }

    /// Appends output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let last = &bytes[bytes.len().saturating_sub(KEPT)..];
        let at = (self.come + bytes.len() - last.len()) % KEPT;
        let (to_the_end, from_the_start) = last.split_at(last.len().min(KEPT - at));
        self.ring[at..at + to_the_end.len()].copy_from_slice(to_the_end);
        self.ring[..from_the_start.len()].copy_from_slice(from_the_start);
        self.come += bytes.len();
    }

    /// The kept output, without a first row whose beginning was overwritten.
    pub(crate) fn rows(&self) -> Vec<u8> {
        if self.come <= KEPT {
            return self.ring[..self.come].to_vec();
        }
        let (last, first) = self.ring.split_at(self.come % KEPT);
        let mut all = [first, last].concat();
        let whole = all.iter().position(|byte| *byte == b'\n').map_or(all.len(), |end| end + 1);
        all.drain(..whole);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_rows_are_kept_however_they_are_cut() {
        let text: Vec<u8> = (0..200).flat_map(|row| format!("row {row}\r\n").into_bytes()).collect();
        for piece in [1, 7, 300, 5000] {
            let mut tail = Tail::new();
            text.chunks(piece).for_each(|bytes| tail.push(bytes));
            let rows = tail.rows();
            assert!(rows.starts_with(b"row 1") && text.ends_with(&rows), "{piece}");
            assert!((KEPT - 10..=KEPT).contains(&rows.len()), "{}", rows.len());
        }
    }

    #[test]
    fn a_short_text_is_kept_whole() {
        let mut tail = Tail::new();
        tail.push(b"no end of a row");
        assert_eq!(tail.rows(), b"no end of a row");
        tail.push(&[b'x'; 4 * KEPT]);
        assert_eq!(tail.rows(), b"", "the beginning of that row is lost");
    }
}
