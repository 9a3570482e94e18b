//! A `tn3270:` target.

use std::fmt;

use crate::target::{Address, TELNET, TargetError};

/// The target of a 3270's line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tn3270Target {
    /// Where the host listens.
    pub address: Address,
    /// Whether the terminal agrees to TN3270E if the host asks for it (`?tn3270e=no`).
    pub extended: bool,
}

impl Tn3270Target {
    /// Parses what follows the scheme.
    pub(crate) fn parse(rest: &str) -> Result<Self, TargetError> {
        let (address, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let extended = match settings {
            "" | "tn3270e=yes" => true,
            "tn3270e=no" => false,
            other => {
                return Err(TargetError::BadSetting {
                    setting: other.to_owned(),
                    expected: "tn3270e=yes or tn3270e=no",
                });
            }
        };
        Ok(Self { address: Address::parse("tn3270", address, Some(TELNET))?, extended })
    }
}

impl fmt::Display for Tn3270Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tn3270://{}{}", self.address, if self.extended { "" } else { "?tn3270e=no" })
    }
}
