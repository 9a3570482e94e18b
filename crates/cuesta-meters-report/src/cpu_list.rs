//! Lists of CPUs as the kernel writes them: `0-3,8`.

/// More CPUs than any machine has: a longer range is malformed.
const MOST: usize = 1 << 16;

/// Reads a list, in order and each CPU once; none if it is malformed. An empty text is an empty list.
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// Writes an ordered list in its shortest form.
pub fn show(cpus: &[usize]) -> String {
    let ranges = cpus.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => only.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        assert_eq!(parse("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse("\n"), Some(vec![]));
        assert_eq!(parse("5,1,1-2"), Some(vec![1, 2, 5]));
        for text in ["3-1", "a", "0-", "-1", "0,,1", "0-99999999999999999999", "0-65536"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_written_list_reads_back(cpus in proptest::collection::btree_set(0_usize..300, 0..40)) {
            let cpus: Vec<usize> = cpus.into_iter().collect();
            proptest::prop_assert_eq!(parse(&show(&cpus)), Some(cpus));
        }
    }
}
