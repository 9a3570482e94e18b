//! The text that services print: the listing of a compiler, made as it is printed. Any part of it can be had by itself.

/// Characters of a row: 72 and its end.
pub(super) const ROW: usize = 74;

const CODES: [&str; 8] = ["lda", "sta", "ldq", "adq", "tra", "tnz", "eppbp", "spribp"];
const NAMES: [&str; 7] = ["count", "buffer", "index", "channel", "state", "limit", "next"];

/// The characters of the listing from place `at` on.
pub(super) fn fill(at: u64, into: &mut [u8]) {
    let mut number = at / ROW as u64;
    let mut from = (at % ROW as u64) as usize;
    let mut rest = into;
    while !rest.is_empty() {
        let row = row(number);
        let (head, tail) = rest.split_at_mut(rest.len().min(ROW - from));
        head.copy_from_slice(&row[from..from + head.len()]);
        rest = tail;
        from = 0;
        number += 1;
    }
}

/// Place, machine word, instruction, source: all of them follow from the row's number.
fn row(number: u64) -> [u8; ROW] {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    let code = CODES[(mixed % 8) as usize];
    let name = NAMES[(mixed % 7) as usize];
    let (place, word) = (number % (1 << 18), mixed % (1 << 36));
    let text = format!("{place:06o}  {word:012o}  {code:<8}{name},{} ", mixed % 8);
    let mut row = [b'.'; ROW];
    row[..text.len()].copy_from_slice(text.as_bytes());
    let line = format!(" {:>6}", number % 1_000_000);
    row[ROW - 2 - line.len()..ROW - 2].copy_from_slice(line.as_bytes());
    row[ROW - 2..].copy_from_slice(b"\r\n");
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_of_one_width_and_differ() {
        let mut text = vec![0; 1000 * ROW];
        fill(0, &mut text);
        let rows: Vec<&[u8]> = text.chunks(ROW).collect();
        assert!(rows.iter().all(|row| row.ends_with(b"\r\n") && !row[..ROW - 2].contains(&b'\r')));
        assert!(rows.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn any_part_is_the_same_as_in_the_whole() {
        let mut text = vec![0; 5 * ROW];
        fill(0, &mut text);
        for at in 0..2 * ROW {
            let mut part = [0; 2 * ROW + 5];
            fill(at as u64, &mut part);
            assert_eq!(part[..], text[at..at + part.len()]);
        }
    }
}
