//! `/proc/net/stat/nf_conntrack`: what connection tracking has dropped.

use super::Malformed;

/// Packets that were dropped because the table of connections was full, or that could not be tracked; of all CPUs.
pub fn drops(text: &str) -> Result<u64, Malformed> {
    let malformed = || Malformed::new("/proc/net/stat/nf_conntrack", text);
    let mut rows = text.lines();
    let names = rows.next().ok_or_else(malformed)?;
    let at = names.split_ascii_whitespace().position(|name| name == "drop").ok_or_else(malformed)?;
    rows.map(|row| u64::from_str_radix(row.split_ascii_whitespace().nth(at)?, 16).ok())
        .try_fold(0, |sum: u64, drops| Some(sum.saturating_add(drops?)))
        .ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_what_each_cpu_has_dropped() {
        assert_eq!(drops(include_str!("../../tests/captured/nf_conntrack")), Ok(26));
        for text in ["", "entries found\n1 2\n", "entries drop\n1\n", "entries drop\n1 x\n"] {
            assert!(drops(text).is_err(), "{text:?}");
        }
    }
}
