//! What a target says of TLS: `telnets://HOST?certificate=FILE`, `ttyd+wss://HOST?ca=FILE`.

use std::path::PathBuf;

use crate::percent::{Encoded, decode};
use crate::target::TargetError;

/// The port of telnet over TLS.
pub(crate) const TELNETS: u16 = 992;

/// Which hosts to trust, and what they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TlsSettings {
    /// `certificate=FILE`, `ca=FILE`: certificates in PEM that are trusted in place of the system's: authorities, or the host's own.
    pub certificate: Option<PathBuf>,
    /// `verify=no`, `insecure`: any host is trusted.
    pub verify: bool,
    /// `cert=FILE`: our own certificate and those that signed it, in PEM.
    pub own_certificate: Option<PathBuf>,
    /// `key=FILE`: its key, in PEM.
    pub own_key: Option<PathBuf>,
    /// `sni=NAME`: the host's name for TLS, in place of the one in its address.
    pub name: Option<String>,
    /// `resume=off`: each connection shakes hands in full.
    pub resume: bool,
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self { certificate: None, verify: true, own_certificate: None, own_key: None, name: None, resume: true }
    }
}

impl TlsSettings {
    /// Takes a setting of a terminal's line; says whether it is one of these.
    pub(crate) fn take(&mut self, key: &str, value: &str) -> Result<bool, TargetError> {
        match (key, value) {
            ("verify", "yes" | "no") => self.verify = value == "yes",
            ("certificate", _) if is_file(value) => self.certificate = decode(value).map(PathBuf::from),
            ("verify" | "certificate", _) => return Err(bad(key, value, "certificate=FILE, verify=yes or verify=no")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes a setting of a web terminal; says whether it is one of these.
    pub(crate) fn take_web(&mut self, key: &str, value: &str) -> Result<bool, TargetError> {
        let file = is_file(value).then(|| decode(value).map(PathBuf::from)).flatten();
        match (key, value) {
            ("insecure", "") => self.verify = false,
            ("ca", _) if file.is_some() => self.certificate = file,
            ("cert", _) if file.is_some() => self.own_certificate = file,
            ("key", _) if file.is_some() => self.own_key = file,
            ("sni", _) if !value.is_empty() => self.name = Some(value.to_owned()),
            ("resume", "on" | "off") => self.resume = value == "on",
            ("insecure" | "ca" | "cert" | "key" | "sni" | "resume", _) => {
                let expected = "ca=FILE, insecure, cert=FILE with key=FILE, sni=NAME or resume=off";
                return Err(bad(key, value, expected));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The settings that are not the usual ones, as the query of a terminal's line has them.
    pub(crate) fn written(&self) -> Vec<String> {
        let verify = (!self.verify).then(|| "verify=no".to_owned());
        named_file("certificate", self.certificate.as_ref()).into_iter().chain(verify).collect()
    }

    /// The settings that are not the usual ones, as the query of a web terminal has them.
    pub(crate) fn written_web(&self) -> Vec<String> {
        let settings = [
            named_file("ca", self.certificate.as_ref()),
            (!self.verify).then(|| "insecure".to_owned()),
            named_file("cert", self.own_certificate.as_ref()),
            named_file("key", self.own_key.as_ref()),
            self.name.as_ref().map(|name| format!("sni={name}")),
            (!self.resume).then(|| "resume=off".to_owned()),
        ];
        settings.into_iter().flatten().collect()
    }
}

fn is_file(value: &str) -> bool {
    !value.is_empty() && decode(value).is_some()
}

fn named_file(setting: &str, file: Option<&PathBuf>) -> Option<String> {
    file.map(|file| format!("{setting}={}", Encoded(&file.to_string_lossy())))
}

fn bad(key: &str, value: &str, expected: &'static str) -> TargetError {
    TargetError::BadSetting { setting: format!("{key}={value}"), expected }
}
