//! `/proc/loadavg`: the load average over a minute, an exponential mean of running, ready and uninterruptible tasks.

use super::Malformed;

/// Reads the mean over a minute.
pub fn parse(text: &str) -> Result<f64, Malformed> {
    let first = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
    first.filter(|load: &f64| load.is_finite()).ok_or_else(|| Malformed::new("/proc/loadavg", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        assert_eq!(parse("1.55 1.02 0.58 2/94 20043\n"), Ok(1.55));
        assert!(parse("").is_err());
        assert!(parse("NaN 1 2").is_err());
    }
}
