//! `/proc/net/netstat`: connections that a listener's queues had no room for. It is of the network namespace of the process that it is
//! read by or under.

use serde::{Deserialize, Serialize};

use super::{Malformed, numbers};

/// Connections since the namespace was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListenCounters {
    /// Times that an accept queue was full.
    pub overflows: u64,
    /// Connections that were dropped for that or another reason.
    pub drops: u64,
    /// Times that a queue of half-open connections was full, and a SYN cookie was sent.
    pub cookies: u64,
}

impl ListenCounters {
    /// Reads the file: pairs of rows, names above numbers.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let malformed = || Malformed::new("/proc/net/netstat", text);
        let mut rows = text.lines().filter_map(|row| row.strip_prefix("TcpExt: "));
        let (names, values) = rows.next().zip(rows.next()).ok_or_else(malformed)?;
        let values: Vec<u64> = numbers(values).collect();
        let value_of = |wanted| names.split(' ').position(|name| name == wanted).and_then(|at| values.get(at).copied());
        Ok(Self {
            overflows: value_of("ListenOverflows").ok_or_else(malformed)?,
            drops: value_of("ListenDrops").ok_or_else(malformed)?,
            cookies: value_of("TCPReqQFullDoCookies").unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let captured = include_str!("../../tests/captured/netstat");
        let counters = ListenCounters { overflows: 1632, drops: 1635, cookies: 12 };
        assert_eq!(ListenCounters::parse(captured), Ok(counters));
        for text in ["", "TcpExt: ListenOverflows ListenDrops\n", "TcpExt: ListenDrops\nTcpExt: 1\n"] {
            assert!(ListenCounters::parse(text).is_err(), "{text:?}");
        }
    }
}
