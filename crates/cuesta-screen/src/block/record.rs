//! Records in a stream: IAC doubled, IAC EOR behind each (RFC 885, RFC 1576).

const IAC: u8 = 0xff;
const EOR: u8 = 0xef;

/// A record longer than this is cut: the largest screen, rewritten cell by cell with an order for each, is shorter.
const LONGEST: usize = 1 << 17;
/// How much memory is kept between records.
const KEPT: usize = 4096;

/// Puts records together from reads that are cut anywhere.
#[derive(Debug, Default)]
pub(super) struct RecordReader {
    record: Vec<u8>,
    after_iac: bool,
    ended: bool,
}

impl RecordReader {
    /// Takes bytes up to the end of a record; returns how many, and whether the record is complete.
    pub(super) fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        if std::mem::take(&mut self.ended) {
            self.record.clear();
            self.record.shrink_to(KEPT);
        }
        for (index, byte) in bytes.iter().enumerate() {
            match (std::mem::take(&mut self.after_iac), *byte) {
                (true, EOR) => {
                    self.ended = true;
                    return (index + 1, true);
                }
                (false, IAC) => self.after_iac = true,
                // Other commands of telnet are the line's.
                (true, byte) if byte != IAC => {}
                (_, byte) if self.record.len() < LONGEST => self.record.push(byte),
                _ => {}
            }
        }
        (bytes.len(), false)
    }

    /// The record that is complete.
    pub(super) fn record(&self) -> &[u8] {
        &self.record
    }

    pub(super) fn memory(&self) -> usize {
        self.record.capacity()
    }
}

/// Appends a record to a stream.
pub(super) fn append(stream: &mut Vec<u8>, record: &[u8]) {
    for byte in record {
        stream.push(*byte);
        if *byte == IAC {
            stream.push(IAC);
        }
    }
    stream.extend([IAC, EOR]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back_however_they_are_cut() {
        let records: [&[u8]; 4] = [b"one", b"\xff\xff\xef", b"", b"\xef\xff"];
        let mut stream = Vec::new();
        for record in records {
            append(&mut stream, record);
        }
        for cut in 1..=stream.len() {
            let mut reader = RecordReader::default();
            let mut read = Vec::new();
            for mut piece in stream.chunks(cut) {
                while !piece.is_empty() {
                    let (taken, ends) = reader.take(piece);
                    piece = &piece[taken..];
                    if ends {
                        read.push(reader.record().to_vec());
                    }
                }
            }
            assert_eq!(read, records, "cut every {cut} bytes");
        }
    }

    #[test]
    fn an_endless_record_is_bounded() {
        let mut reader = RecordReader::default();
        for _ in 0..300 {
            reader.take(&[0x40; 1024]);
        }
        assert!(reader.memory() <= 2 * LONGEST);
        reader.take(&[IAC, EOR]);
        reader.take(b"x");
        assert!(reader.memory() <= KEPT);
    }
}
