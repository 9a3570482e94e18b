//! `/proc/interrupts` and `/proc/softirqs`: interrupts of each CPU since boot. Both are a table with a column for each CPU.

use std::collections::BTreeMap;

use super::Malformed;

/// Reads either file: each CPU's sum. Rows of the machine (`ERR`, `MIS`), which have one column, count for no CPU where
/// there are several.
pub fn parse(text: &str) -> Result<BTreeMap<usize, u64>, Malformed> {
    let malformed = || Malformed::new("/proc/interrupts", text);
    let mut rows = text.lines();
    let heads = rows.next().ok_or_else(malformed)?;
    let cpus: Option<Vec<usize>> =
        heads.split_ascii_whitespace().map(|head| head.strip_prefix("CPU")?.parse().ok()).collect();
    let cpus = cpus.filter(|cpus| !cpus.is_empty()).ok_or_else(malformed)?;
    let mut sums: BTreeMap<usize, u64> = cpus.iter().map(|cpu| (*cpu, 0)).collect();
    for row in rows {
        let Some((_, rest)) = row.split_once(':') else { continue };
        let counts: Vec<u64> = super::numbers(rest).take(cpus.len()).collect();
        if counts.len() == cpus.len() {
            for (cpu, count) in cpus.iter().zip(counts) {
                let sum = sums.entry(*cpu).or_default();
                *sum = sum.saturating_add(count);
            }
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_cpu() {
        let sums = parse(include_str!("../../tests/captured/interrupts")).unwrap();
        assert_eq!(sums, BTreeMap::from([(0, 19_397_209), (1, 16_992_179)]));
        let soft = parse(include_str!("../../tests/captured/softirqs")).unwrap();
        assert_eq!(soft.keys().copied().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn cpus_that_are_not_there_have_no_column() {
        let text = "      CPU0  CPU2\n 1:  5  7  IO-APIC 3-edge tty\nERR:  9\n";
        assert_eq!(parse(text), Ok(BTreeMap::from([(0, 5), (2, 7)])));
        assert!(parse("").is_err());
        assert!(parse("CPUx\n").is_err());
    }
}
