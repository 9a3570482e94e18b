//! The last output of a host.

/// Characters that are kept, about three rows. Each user takes memory for them.
const KEPT: usize = 256;

/// A ring buffer of the last output, which grows with what comes.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    ring: Vec<u8>,
    /// Where the oldest character is, once the ring is full.
    oldest: usize,
    /// Earlier output is not kept.
    is_cut: bool,
}

impl Tail {
    /// Appends output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.is_cut |= bytes.len() > KEPT - self.ring.len();
        let last = &bytes[bytes.len().saturating_sub(KEPT)..];
        let (grown, over) = last.split_at(last.len().min(KEPT - self.ring.len()));
        self.ring.extend_from_slice(grown);
        let (to_the_end, from_the_start) = over.split_at(over.len().min(KEPT - self.oldest));
        self.ring[self.oldest..self.oldest + to_the_end.len()].copy_from_slice(to_the_end);
        self.ring[..from_the_start.len()].copy_from_slice(from_the_start);
        self.oldest = (self.oldest + over.len()) % KEPT;
    }

    /// The kept output, without a first row whose beginning was overwritten.
    pub(crate) fn rows(&self) -> Vec<u8> {
        if !self.is_cut {
            return self.ring.clone();
        }
        let (last, first) = self.ring.split_at(self.oldest);
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
            let mut tail = Tail::default();
            text.chunks(piece).for_each(|bytes| tail.push(bytes));
            let rows = tail.rows();
            assert!(rows.starts_with(b"row 1") && text.ends_with(&rows), "{piece}");
            assert!((KEPT - 10..=KEPT).contains(&rows.len()), "{}", rows.len());
        }
    }

    #[test]
    fn a_short_text_is_kept_whole() {
        let mut tail = Tail::default();
        tail.push(b"no end of a row");
        assert_eq!(tail.rows(), b"no end of a row");
        tail.push(&[b'x'; 4 * KEPT]);
        assert_eq!(tail.rows(), b"", "the beginning of that row is lost");
    }
}
