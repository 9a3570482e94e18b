//! One-time codes: where they come from, and those that follow from the time (RFC 6238). Pure.

use std::str::FromStr;

use data_encoding::BASE32_NOPAD_NOCASE;
use ring::hmac;

use super::target::SshTarget;
use super::tokens::Tokens;
use crate::Login;

/// Where a user's one-time codes come from.
#[derive(Debug)]
pub(super) enum CodeSource {
    /// The users' table has the code itself.
    Given(String),
    /// The users' table has the secret.
    Totp(Totp),
    /// A command prints it.
    Command(String),
}

impl CodeSource {
    /// A user's own codes, or else the target's command.
    pub(super) fn choose(target: &SshTarget, login: &Login, tokens: &Tokens) -> Result<Option<Self>, String> {
        Ok(match (&login.code, &login.totp, &target.code) {
            (Some(code), ..) => Some(Self::Given(code.clone())),
            (_, Some(secret), _) => {
                let totp = secret.parse().map_err(|what| format!("a user's totp column cannot be used: {what}"))?;
                Some(Self::Totp(totp))
            }
            (.., Some(command)) => Some(Self::Command(tokens.text(command)?)),
            _ => None,
        })
    }
}

/// What codes by time are made from.
#[derive(Debug)]
pub(super) struct Totp {
    key: hmac::Key,
    digits: u32,
    /// Seconds for which a code is valid.
    period: u64,
}

impl FromStr for Totp {
    type Err = String;

    /// Reads the secret in base 32, with or without blanks, or an `otpauth://totp/` URI. An error does not show the secret.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut secret, mut digits, mut period, mut algorithm) = (text, 6, 30, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY);
        if let Some(uri) = text.strip_prefix("otpauth://") {
            let query = uri.strip_prefix("totp/").and_then(|rest| rest.split_once('?'));
            let (_, query) = query.ok_or("it is no otpauth://totp/NAME?secret=… URI")?;
            secret = "";
            for (name, value) in query.split('&').filter_map(|setting| setting.split_once('=')) {
                match name {
                    "secret" => secret = value,
                    "digits" => digits = number(value, 6, 10).ok_or("its digits are not between 6 and 10")?,
                    "period" => period = number(value, 1, 3600).ok_or("its period is not between 1 s and an hour")?,
                    "algorithm" => algorithm = algorithm_named(value).ok_or("its algorithm is none of RFC 6238")?,
                    _ => {}
                }
            }
        }
        let secret = base32(secret).filter(|secret| !secret.is_empty()).ok_or("its secret is not in base 32")?;
        Ok(Self { key: hmac::Key::new(algorithm, &secret), digits: digits as u32, period })
    }
}

impl Totp {
    /// The number of the period that `seconds` since 1970 are in.
    pub(super) fn period_at(&self, seconds: u64) -> u64 {
        seconds / self.period
    }

    /// The code of a period (RFC 4226 §5.3).
    pub(super) fn code(&self, period: u64) -> String {
        let hash = hmac::sign(&self.key, &period.to_be_bytes());
        let hash = hash.as_ref();
        let offset = usize::from(hash[hash.len() - 1] & 0xf);
        let truncated = hash[offset..offset + 4].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let code = (truncated & 0x7fff_ffff) % 10_u64.pow(self.digits);
        format!("{code:0width$}", width = self.digits as usize)
    }
}

fn number(text: &str, least: u64, most: u64) -> Option<u64> {
    text.parse().ok().filter(|number| (least..=most).contains(number))
}

fn algorithm_named(name: &str) -> Option<hmac::Algorithm> {
    match name.to_ascii_uppercase().as_str() {
        "SHA1" => Some(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        "SHA256" => Some(hmac::HMAC_SHA256),
        "SHA512" => Some(hmac::HMAC_SHA512),
        _ => None,
    }
}

/// Decodes base 32 (RFC 4648 §6), in either case, with or without blanks, hyphens and padding. Superfluous last bits are ignored.
fn base32(text: &str) -> Option<Vec<u8>> {
    let mut specification = BASE32_NOPAD_NOCASE.specification();
    specification.check_trailing_bits = false;
    specification.ignore.push_str(" -");
    specification.encoding().ok()?.decode(text.trim_end_matches('=').as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secrets and codes of RFC 6238 Appendix B.
    #[test]
    fn codes_are_those_of_the_standard() {
        let sha1 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        let sha256 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA";
        let sha512 = format!("{sha1}{sha1}{sha1}GEZDGNA");
        for (secret, algorithm, at, code) in [
            (sha1, "SHA1", 59, "94287082"),
            (sha1, "SHA1", 20_000_000_000, "65353130"),
            (sha256, "SHA256", 1_111_111_109, "68084774"),
            (&sha512, "sha512", 1_234_567_890, "93441116"),
        ] {
            let uri = format!("otpauth://totp/h:joe?secret={secret}&algorithm={algorithm}&digits=8&issuer=h");
            let totp: Totp = uri.parse().unwrap();
            assert_eq!(totp.code(totp.period_at(at)), code, "{algorithm} {at}");
        }
        let totp: Totp = "gezd gnbv gy3t qojq gezd gnbv gy3t qojq".parse().unwrap();
        assert_eq!(totp.code(totp.period_at(59)), "287082");
    }

    #[test]
    fn what_is_no_secret_is_refused_without_showing_it() {
        for text in ["", "GEHEIM18", "otpauth://hotp/joe?secret=GEZDGNBV", "otpauth://totp/joe?digits=8"] {
            let error = text.parse::<Totp>().unwrap_err();
            assert!(!error.contains("GE"), "{error}");
        }
        assert!("otpauth://totp/joe?secret=GEZDGNBV&digits=99".parse::<Totp>().unwrap_err().contains("digits"));
    }
}
