//! What a target says of TLS: `telnets://HOST?certificate=FILE`.

use std::path::PathBuf;

use crate::percent::{Encoded, decode};
use crate::target::TargetError;

/// The port of telnet over TLS.
pub(crate) const TELNETS: u16 = 992;

/// Which hosts to trust.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TlsSettings {
    /// `certificate=FILE`: certificates in PEM that are trusted in place of the system's: authorities, or the host's own.
    pub certificate: Option<PathBuf>,
    /// `verify=no`: any host is trusted.
    pub verify: bool,
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self { certificate: None, verify: true }
    }
}

impl TlsSettings {
    /// Takes a setting; says whether it is one of these.
    pub(crate) fn take(&mut self, key: &str, value: &str) -> Result<bool, TargetError> {
        match (key, value) {
            ("verify", "yes" | "no") => self.verify = value == "yes",
            ("certificate", _) if !value.is_empty() && decode(value).is_some() => {
                self.certificate = decode(value).map(PathBuf::from);
            }
            ("verify" | "certificate", _) => {
                let expected = "certificate=FILE, verify=yes or verify=no";
                return Err(TargetError::BadSetting { setting: format!("{key}={value}"), expected });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The settings that are not the usual ones, as a query has them.
    pub(crate) fn written(&self) -> Vec<String> {
        let file = self.certificate.as_ref().map(|file| format!("certificate={}", Encoded(&file.to_string_lossy())));
        file.into_iter().chain((!self.verify).then(|| "verify=no".to_owned())).collect()
    }
}
