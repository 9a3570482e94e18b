//! The word that was probably meant.

/// The word nearest to a misspelt one, if any is near: at most one slip in three letters.
pub(crate) fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 40 {
        return None;
    }
    let wanted = word.to_lowercase();
    let tolerated = (wanted.chars().count() / 3).max(1);
    words
        .map(|known| (slips(&wanted, &known.to_lowercase()), known))
        .filter(|(slips, known)| *slips <= tolerated && *slips < known.len())
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, known)| known)
}

/// Letters added, left out, changed, or swapped with their neighbour (optimal string alignment).
fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                changed.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1)
            };
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                table[i][j] = table[i][j].min(table[i - 2][j - 2] + 1);
            }
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_far_ones_are_not() {
        let words = ["Enter", "Escape", "Type", "Think", "Transaction"];
        for (word, near) in [
            ("enter", Some("Enter")),
            ("Entr", Some("Enter")),
            ("Tpye", Some("Type")),
            ("Typ", Some("Type")),
            ("Transcation", Some("Transaction")),
            ("Thinks", Some("Think")),
            ("Home", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, words.into_iter()), near, "{word}");
        }
    }
}
