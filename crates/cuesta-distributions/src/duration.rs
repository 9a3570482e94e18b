//! Reads and writes durations: `200ms`, `2s`, `15m`, `1h30m`, `1.5s`, and `2` (seconds).

use std::time::Duration;

/// The longest duration that anything here accepts, and the ceiling of every sample: 365 days.
pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Units and their nanoseconds; longer names first where one begins another.
const UNITS: [(&str, u128); 7] = [
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It does not consist of numbers with units.
    #[error("`{0}` is not a duration; write for example 200ms, 2s, 15m or 1h30m")]
    Malformed(String),
    /// It begins with a minus sign.
    #[error("`{0}` is negative; a duration is at least 0")]
    Negative(String),
    /// It is longer than [`LONGEST`].
    #[error("`{0}` is longer than a year")]
    TooLong(String),
}

/// Reads a duration: numbers with units `h m s ms us ns` one after another, or one bare number of seconds.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let malformed = || DurationError::Malformed(shortened(text));
    if text.starts_with('-') {
        return Err(DurationError::Negative(shortened(text)));
    }
    let mut rest = text;
    let mut total: u128 = 0;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let (unit, tail) = unit(tail, rest.len() == text.len()).ok_or_else(malformed)?;
        total += nanoseconds(number, unit).ok_or_else(malformed)?;
        if total > LONGEST.as_nanos() {
            return Err(DurationError::TooLong(shortened(text)));
        }
        rest = tail;
        if rest.is_empty() {
            return Ok(Duration::from_nanos(total as u64));
        }
    }
}

/// The unit at the head of `text` in nanoseconds, and the text after it. A number without a unit is seconds if it is `alone`.
fn unit(text: &str, alone: bool) -> Option<(u128, &str)> {
    if text.is_empty() {
        return alone.then_some((1_000_000_000, ""));
    }
    UNITS.iter().find_map(|(name, ns)| Some((*ns, text.strip_prefix(name)?)))
}

/// `number` times `unit`, exact in decimal, rounded down to the nanosecond. Floats would lose digits that [`show`] wrote.
fn nanoseconds(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u128>().ok() };
    // 18 digits are over a year in any unit, and their product fits u128. Further digits of a fraction are below a nanosecond.
    let whole = whole.trim_start_matches('0');
    if whole.len() > 18 {
        return Some(u128::from(u64::MAX));
    }
    let fraction = &fraction[..fraction.len().min(18)];
    Some(digits(whole)? * unit + digits(fraction)? * unit / 10_u128.pow(fraction.len() as u32))
}

/// Writes a duration in its largest readable units, so that [`parse`] returns the same duration.
pub fn show(duration: Duration) -> String {
    let ns = duration.as_nanos();
    match ns {
        0 => "0s".to_owned(),
        1..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => format!("{}us", decimal(ns, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(ns, 1_000_000)),
        1_000_000_000..60_000_000_000 => format!("{}s", decimal(ns, 1_000_000_000)),
        _ => clockwise(ns),
    }
}

/// A minute or more: hours, minutes and seconds, those that are not zero.
fn clockwise(ns: u128) -> String {
    let rest = ns % 60_000_000_000;
    let whole = [(ns / 3_600_000_000_000, "h"), (ns / 60_000_000_000 % 60, "m")];
    let whole = whole.into_iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}"));
    let seconds = (rest > 0).then(|| format!("{}s", decimal(rest, 1_000_000_000)));
    whole.chain(seconds).collect()
}

/// `value / unit` in decimal without trailing zeros. `unit` is a power of ten.
fn decimal(value: u128, unit: u128) -> String {
    let fraction = value % unit;
    if fraction == 0 {
        return (value / unit).to_string();
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{fraction:0width$}");
    format!("{}.{}", value / unit, digits.trim_end_matches('0'))
}

/// Shortens a user's text for an error message.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn usual_notations_parse() {
        for (text, ns) in [
            ("200ms", 200_000_000),
            ("2s", 2_000_000_000),
            ("15m", 900_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("2", 2_000_000_000),
            ("0", 0),
            ("250us", 250_000),
            ("1m30.5s", 90_500_000_000),
            ("00000000000000000000001s", 1_000_000_000),
            ("0.00000000100000000000000000009s", 1),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "s", "1x", "1.2.3", ".", "1m30", "1 s", "1e3", "NaN", "inf", "+1", "1s-1s", "٣s"] {
            assert!(matches!(parse(text), Err(DurationError::Malformed(_))), "{text}");
        }
        assert!(matches!(parse("-1s"), Err(DurationError::Negative(_))));
        assert!(matches!(parse("9000h"), Err(DurationError::TooLong(_))));
        assert!(matches!(parse(&"9".repeat(100)), Err(DurationError::TooLong(_))));
        assert!(matches!(parse("8760h1ns"), Err(DurationError::TooLong(_))));
        assert_eq!(parse("8760h"), Ok(LONGEST));
    }

    #[test]
    fn durations_are_written_in_readable_units() {
        for text in ["0s", "7ns", "1.5us", "50ms", "1.5s", "15m", "1h30m", "1h", "1m30s", "1h0.25s"] {
            assert_eq!(show(parse(text).unwrap()), text);
        }
    }

    proptest! {
        #[test]
        fn a_written_duration_parses_to_the_same(ns in 0..=LONGEST.as_nanos() as u64) {
            let duration = Duration::from_nanos(ns);
            prop_assert_eq!(parse(&show(duration)), Ok(duration));
        }

        #[test]
        fn no_text_panics(text in ".{0,60}") {
            if let Ok(duration) = parse(&text) {
                prop_assert!(duration <= LONGEST);
            }
        }
    }
}
