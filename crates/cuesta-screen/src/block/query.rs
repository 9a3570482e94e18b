//! What the terminal says it can do, when the host asks (Read Partition, Query). GA23-0059, chapter 6, "Query Replies".

use super::display::{DEFAULT_SIZE, Display};

/// The AID of an answer made of structured fields.
const STRUCTURED_FIELDS: u8 = 0x88;
const QUERY_REPLY: u8 = 0x81;

/// Kinds of replies.
const SUMMARY: u8 = 0x80;
const USABLE_AREA: u8 = 0x81;
const CHARACTER_SETS: u8 = 0x85;
const REPLY_MODES: u8 = 0x88;
const IMPLICIT_PARTITIONS: u8 = 0xa6;
const KINDS: [u8; 5] = [SUMMARY, USABLE_AREA, CHARACTER_SETS, REPLY_MODES, IMPLICIT_PARTITIONS];

/// A cell's width and height, in points.
const CELL: [u8; 2] = [7, 12];

impl Display {
    pub(super) fn answer_query(&mut self) {
        let mut record = vec![STRUCTURED_FIELDS];
        for kind in KINDS {
            let data = self.reply_data(kind);
            record.extend(((data.len() + 4) as u16).to_be_bytes());
            record.extend([QUERY_REPLY, kind]);
            record.extend(data);
        }
        self.reply(&record);
    }

    fn reply_data(&self, kind: u8) -> Vec<u8> {
        let (columns, rows) = self.alternate;
        match kind {
            SUMMARY => KINDS.to_vec(),
            USABLE_AREA => {
                // Addresses of 12 and 14 bits; sizes in cells; points of 1/96 inch as fractions; the buffer's size.
                let [width, height] = CELL;
                let mut data = vec![0x01, 0x00];
                data.extend([columns.to_be_bytes(), rows.to_be_bytes()].concat());
                data.extend([0x00, 0x00, 0x01, 0x00, 0x60, 0x00, 0x01, 0x00, 0x60, width, height]);
                data.extend((columns * rows).to_be_bytes());
                data
            }
            // One set without graphic escape: no flags, the cell's size, no loadable sets, descriptors of three bytes.
            CHARACTER_SETS => [&[0x00, 0x00], &CELL[..], &[0, 0, 0, 0, 3, 0, 0, 0]].concat(),
            // Field mode only.
            REPLY_MODES => vec![0x00],
            // Both sizes of the screen.
            _ => {
                let sizes = [DEFAULT_SIZE.0, DEFAULT_SIZE.1, columns, rows].map(u16::to_be_bytes);
                [&[0x00, 0x00, 0x0b, 0x01, 0x00][..], &sizes.concat()].concat()
            }
        }
    }
}
