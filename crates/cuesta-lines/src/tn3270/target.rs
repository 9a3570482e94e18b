//! A `tn3270:` or `tn3270s:` target.

use std::fmt;

use crate::TlsSettings;
use crate::percent::{Encoded, decode};
use crate::target::{Address, TELNET, TargetError, bad_setting, query, settings};
use crate::tls::TELNETS;

/// The target of a 3270's line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tn3270Target {
    /// Where the host listens.
    pub address: Address,
    /// Whether the terminal agrees to TN3270E if the host asks for it (`?tn3270e=no`).
    pub extended: bool,
    /// `lu=NAME`: the logical unit to ask for, where the users' table has none.
    pub lu: Option<String>,
    /// How TLS trusts the host (`tn3270s:`); none = no TLS.
    pub tls: Option<TlsSettings>,
}

impl Tn3270Target {
    /// Parses what follows the scheme.
    pub(crate) fn parse(scheme: &str, rest: &str) -> Result<Self, TargetError> {
        let mut tls = (scheme == "tn3270s").then(TlsSettings::default);
        let (address, settings) = settings(rest);
        let (mut extended, mut lu) = (true, None);
        for (key, value) in settings {
            match (key, value) {
                ("tn3270e", "yes" | "no") => extended = value == "yes",
                ("lu", _) => {
                    let name = decode(value).filter(|name| is_logical_unit(name));
                    lu = Some(name.ok_or_else(|| bad_setting(key, value, "a logical unit's name, as in lu=TERM0001"))?);
                }
                _ if tls.as_mut().map_or(Ok(false), |tls| tls.take(key, value))? => {}
                _ if tls.is_some() => {
                    return Err(bad_setting(key, value, "tn3270e=yes, tn3270e=no, lu, certificate or verify"));
                }
                _ => return Err(bad_setting(key, value, "tn3270e=yes, tn3270e=no or lu")),
            }
        }
        let port = if tls.is_some() { TELNETS } else { TELNET };
        Ok(Self { address: Address::parse(scheme, address, Some(port))?, extended, lu, tls })
    }
}

/// Whether a text can be the name of a logical unit or of a pool of them.
pub(crate) fn is_logical_unit(name: &str) -> bool {
    (1..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

impl fmt::Display for Tn3270Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tn3270{}://{}", if self.tls.is_some() { "s" } else { "" }, self.address)?;
        let plain = (!self.extended).then(|| "tn3270e=no".to_owned());
        let lu = self.lu.as_ref().map(|lu| format!("lu={}", Encoded(lu)));
        let tls = self.tls.iter().flat_map(TlsSettings::written);
        let written: Vec<_> = plain.into_iter().chain(lu).chain(tls).collect();
        f.write_str(&query(&written))
    }
}
