//! `/proc/pressure/*` and the `*.pressure` files of cgroups: stall by resource (PSI).

use serde::{Deserialize, Serialize};

use super::Malformed;

/// Time stalled for one resource since boot; microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pressure {
    /// Time in which at least one task was stalled; none for interrupts.
    pub some: Option<u64>,
    /// Time in which all non-idle tasks were stalled; old kernels have none for the CPU.
    pub full: Option<u64>,
}

impl Pressure {
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let total = |kind| {
            let row = text.lines().find(|row| row.starts_with(kind))?;
            row.split_ascii_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
        };
        let pressure = Self { some: total("some "), full: total("full ") };
        if pressure == Self::default() { Err(Malformed::new("/proc/pressure", text)) } else { Ok(pressure) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let captured = include_str!("../../tests/captured/pressure_io");
        assert_eq!(Pressure::parse(captured), Ok(Pressure { some: Some(121_256_518), full: Some(67_059_237) }));
        assert_eq!(Pressure::parse("some avg10=0.0 total=5\n"), Ok(Pressure { some: Some(5), full: None }));
        assert_eq!(Pressure::parse("full avg10=0.0 total=5\n"), Ok(Pressure { some: None, full: Some(5) }));
        assert!(Pressure::parse("some total=x").is_err());
    }
}
