//! `/proc/net/dev`: counters of each network interface.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Malformed, numbers};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InterfaceCounters {
    pub received_bytes: u64,
    /// Packets received.
    pub received: u64,
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets dropped, of both directions.
    pub dropped: u64,
}

/// Reads the file: interfaces by name, without `lo`, whose speed has no limit of its own.
pub fn parse(text: &str) -> Result<BTreeMap<String, InterfaceCounters>, Malformed> {
    let all = text.lines().skip(2).map(|row| interface(row).ok_or_else(|| Malformed::new("/proc/net/dev", row)));
    all.filter(|row| row.as_ref().map_or(true, |(name, _)| name != "lo")).collect()
}

fn interface(row: &str) -> Option<(String, InterfaceCounters)> {
    let (name, rest) = row.rsplit_once(':')?;
    let fields: Vec<u64> = numbers(rest).collect();
    let [received_bytes, received, _, lost, _, _, _, _, sent_bytes, sent, _, unsent, ..] = fields[..] else {
        return None;
    };
    let dropped = lost.saturating_add(unsent);
    Some((name.trim().to_owned(), InterfaceCounters { received_bytes, received, sent_bytes, sent, dropped }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let interfaces = parse(include_str!("../../tests/captured/net_dev")).unwrap();
        assert_eq!(interfaces.keys().collect::<Vec<_>>(), ["eth0", "ifb0"]);
        let eth0 = InterfaceCounters {
            received_bytes: 418_464_389,
            received: 11_166,
            sent_bytes: 568_330,
            sent: 6_413,
            dropped: 5,
        };
        assert_eq!(interfaces["eth0"], eth0);
        assert!(parse("\n\neth0: 1 2 3\n").is_err());
    }
}
