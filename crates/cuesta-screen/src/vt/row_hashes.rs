//! Rows of a screen as hashes, and which rows of two screens are the same.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A hash of a text without its numbers, and without the characters of which programs draw spinners and bars.
pub fn hash_without_motion(row: &str) -> u64 {
    let parts = row.split(is_digit_or_spinner).filter(|part| !part.is_empty());
    let mut hasher = DefaultHasher::new();
    parts.for_each(|part| part.hash(&mut hasher));
    hasher.finish()
}

/// Whether a character is a digit, or a bar, a slash, a dot of Braille, a block or a part of a circle.
fn is_digit_or_spinner(character: char) -> bool {
    matches!(
        character,
        '0'..='9' | '|' | '/' | '-' | '\\' | '\u{2580}'..='\u{259f}' | '\u{25d0}'..='\u{25d7}' | '\u{25f4}'..='\u{25f7}' | '\u{2800}'..='\u{28ff}'
    )
}

/// A hash of a row; 0 for an empty one.
pub(super) fn hash(row: &str) -> u64 {
    if row.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish().max(1)
}

/// For each row of `now`, the index of the same row of `before`: a longest common subsequence, each row as far up as possible. Blank rows
/// are aligned with none.
pub(super) fn align(before: &[u64], now: &[u64]) -> Vec<Option<usize>> {
    // Unchanged rows at the top need no table.
    let same = before.iter().zip(now).take_while(|(before, now)| before == now).count();
    let mut indices: Vec<_> = (0..same).map(Some).collect();
    indices.resize(now.len(), None);
    let (before, now) = (&before[same..], &now[same..]);
    // longest[i][j]: of before[i..] and now[j..].
    let width = now.len() + 1;
    let mut longest = vec![0u16; (before.len() + 1) * width];
    for i in (0..before.len()).rev() {
        for j in (0..now.len()).rev() {
            let here = i * width + j;
            longest[here] = if before[i] == now[j] && before[i] != 0 {
                longest[here + width + 1] + 1
            } else {
                longest[here + width].max(longest[here + 1])
            };
        }
    }
    let mut i = 0;
    for j in 0..now.len() {
        // The first row before, from `i` on, with which this one can be part of a longest alignment.
        let left = longest[i * width + j];
        let partner = (i..before.len()).find(|i| before[*i] == now[j] && before[*i] != 0);
        if let Some(partner) = partner.filter(|partner| longest[(partner + 1) * width + j + 1] + 1 == left) {
            indices[same + j] = Some(same + partner);
            i = partner + 1;
        }
    }
    indices
}
