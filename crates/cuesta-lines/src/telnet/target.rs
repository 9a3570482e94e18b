//! A `telnet:` or `telnets:` target.

use std::fmt;

use crate::TlsSettings;
use crate::target::{Address, TELNET, TargetError, bad_setting, name_in, named, query, settings};
use crate::tls::TELNETS;

/// The target of a telnet line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TelnetTarget {
    /// Where the host listens.
    pub address: Address,
    /// `enter=crlf`: what Enter sends.
    pub enter: Enter,
    /// How TLS trusts the host (`telnets:`); none = no TLS.
    pub tls: Option<TlsSettings>,
}

/// What Enter, a carriage return, is on the line. With BINARY agreed it is a carriage return alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Enter {
    /// CR NUL, a carriage return by RFC 854.
    #[default]
    CrNul,
    /// CR LF, the end of a row by RFC 854.
    CrLf,
    /// CR, as some terminal servers want it.
    Cr,
}

const ENTERS: [(&str, Enter); 3] = [("crnul", Enter::CrNul), ("crlf", Enter::CrLf), ("cr", Enter::Cr)];

impl TelnetTarget {
    /// Telnet to an address, without any setting.
    pub fn plain(address: Address) -> Self {
        Self { address, enter: Enter::default(), tls: None }
    }

    /// Parses what follows the scheme.
    pub(crate) fn parse(scheme: &str, rest: &str) -> Result<Self, TargetError> {
        let mut tls = (scheme == "telnets").then(TlsSettings::default);
        let (address, settings) = settings(rest);
        let mut enter = Enter::default();
        for (key, value) in settings {
            if key == "enter" {
                let expected = "enter=crnul, enter=crlf or enter=cr";
                enter = named(&ENTERS, value).ok_or_else(|| bad_setting(key, value, expected))?;
            } else if !tls.as_mut().map_or(Ok(false), |tls| tls.take(key, value))? {
                let expected = if tls.is_some() { "enter, certificate or verify" } else { "enter" };
                return Err(bad_setting(key, value, expected));
            }
        }
        let port = if tls.is_some() { TELNETS } else { TELNET };
        Ok(Self { address: Address::parse(scheme, address, Some(port))?, enter, tls })
    }
}

impl fmt::Display for TelnetTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "telnet{}://{}", if self.tls.is_some() { "s" } else { "" }, self.address)?;
        let enter = (self.enter != Enter::default()).then(|| format!("enter={}", name_in(&ENTERS, self.enter)));
        let tls = self.tls.iter().flat_map(TlsSettings::written);
        let written: Vec<_> = enter.into_iter().chain(tls).collect();
        f.write_str(&query(&written))
    }
}

#[cfg(test)]
mod tests {
    use crate::canonical;

    #[test]
    fn a_target_reads_back_as_written() {
        for (text, written) in [
            ("telnet://h?enter=crlf", "telnet://h:23?enter=crlf"),
            ("telnet://h?enter=crnul", "telnet://h:23"),
            ("telnets://h", "telnets://h:992"),
            (
                "telnets://h:1?verify=no&enter=cr&certificate=/a%20b.pem",
                "telnets://h:1?enter=cr&certificate=/a%20b.pem&verify=no",
            ),
            ("tn3270s://h?lu=A1&certificate=x", "tn3270s://h:992?lu=A1&certificate=x"),
            ("tn3270://h?tn3270e=no&lu=T%23", "tn3270://h:23?tn3270e=no&lu=T%23"),
        ] {
            assert_eq!(canonical(text).unwrap(), written);
        }
    }

    #[test]
    fn other_settings_are_refused() {
        for text in [
            "telnet://h?enter=lf",
            "telnet://h?verify=no",
            "telnets://h?verify=perhaps",
            "telnets://h?certificate=",
            "tn3270://h?lu=",
            "tn3270://h?lu=has%20blank",
            "tn3270://h?verify=no",
        ] {
            assert!(canonical(text).unwrap_err().to_string().contains("no setting"), "{text}");
        }
    }
}
