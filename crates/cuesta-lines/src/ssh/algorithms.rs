//! The algorithms that are offered to a host: those that OpenSSH's configuration lists (`KexAlgorithms`, `Ciphers`, `MACs`,
//! `HostKeyAlgorithms`) and `russh` has, in the configured order. What `russh` does not have is named.

use std::borrow::Cow;

use russh::keys::Algorithm;
use russh::{Preferred, cipher, kex, mac};

use super::config::HostConfig;

/// The algorithms for one host.
#[derive(Debug)]
pub(super) struct Algorithms {
    pub(super) preferred: Preferred,
    /// The configuration gives the order of host keys; otherwise those that are known come first.
    pub(super) are_host_keys_ordered: bool,
    /// What is configured and not supported, by keyword.
    pub(super) unsupported: Vec<String>,
}

impl Algorithms {
    /// Reads the configuration of a host.
    ///
    /// # Errors
    /// When a keyword lists nothing that is supported.
    pub(super) fn configured(config: &HostConfig) -> Result<Self, String> {
        let usual = Preferred::DEFAULT;
        let mut unsupported = Vec::new();
        let mut kex =
            listed(config, "kexalgorithms", &usual.kex, |name| kex::Name::try_from(name).ok(), &mut unsupported)?;
        // These are no algorithms but announcements, which belong in every list.
        let announced = usual.kex.iter().filter(|name| kex::Name::try_from(name.as_ref()).is_err());
        let missing: Vec<_> = announced.filter(|name| !kex.contains(name)).copied().collect();
        kex.extend(missing);
        let cipher =
            listed(config, "ciphers", &usual.cipher, |name| cipher::Name::try_from(name).ok(), &mut unsupported)?;
        let mac = listed(config, "macs", &usual.mac, |name| mac::Name::try_from(name).ok(), &mut unsupported)?;
        let (key, certificates) = host_keys(config, &usual.key, &mut unsupported)?;
        let preferred = Preferred {
            kex: Cow::Owned(kex),
            cipher: Cow::Owned(cipher),
            mac: Cow::Owned(mac),
            key: Cow::Owned(key),
            host_key_certificates: Cow::Owned(certificates),
            ..usual
        };
        Ok(Self { preferred, are_host_keys_ordered: config.if_set("hostkeyalgorithms").is_some(), unsupported })
    }
}

/// The supported algorithms of a keyword. Where it is not set: the usual ones, then the others that `ssh` offers.
fn listed<T: Clone + PartialEq>(
    config: &HostConfig,
    keyword: &str,
    usual: &[T],
    supported: impl Fn(&str) -> Option<T>,
    unsupported: &mut Vec<String>,
) -> Result<Vec<T>, String> {
    let Some(names) = config.if_set(keyword) else {
        let mut list = usual.to_vec();
        let offered = config.value(keyword).unwrap_or_default().split(',').filter_map(supported);
        offered.for_each(|name| {
            if !list.contains(&name) {
                list.push(name);
            }
        });
        return Ok(list);
    };
    let list: Vec<T> = names.split(',').filter_map(&supported).collect();
    let others: Vec<&str> = names.split(',').filter(|name| supported(name).is_none()).collect();
    if list.is_empty() {
        return Err(format!("Cuesta supports none of {keyword} {names}: allow another one as well"));
    }
    if !others.is_empty() {
        unsupported.push(format!("{keyword} {} (not supported)", others.join(",")));
    }
    Ok(list)
}

/// The host keys, and the certificates of host keys, that are accepted.
fn host_keys(
    config: &HostConfig,
    usual: &[Algorithm],
    unsupported: &mut Vec<String>,
) -> Result<(Vec<Algorithm>, Vec<Algorithm>), String> {
    let keyword = "hostkeyalgorithms";
    // A certificate is accepted where an authority is known, which is decided later.
    let Some(names) = config.if_set(keyword) else { return Ok((usual.to_vec(), usual.to_vec())) };
    let find =
        |name: &str, is_named: fn(&Algorithm, &str) -> bool| usual.iter().find(|key| is_named(key, name)).cloned();
    let is_key = |key: &Algorithm, name: &str| key.as_str() == name;
    let is_certificate = |key: &Algorithm, name: &str| key.to_certificate_type() == name;
    let supported = |name: &str| find(name, is_key).or_else(|| find(name, is_certificate));
    listed(config, keyword, usual, supported, unsupported)?;
    let select = |is_named| names.split(',').filter_map(|name| find(name, is_named)).collect();
    Ok((select(is_key), select(is_certificate)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<T: AsRef<str>>(list: &[T]) -> Vec<&str> {
        list.iter().map(AsRef::as_ref).collect()
    }

    #[test]
    fn configured_algorithms_are_offered_in_their_order_and_the_others_named() {
        let config = HostConfig::for_test(&[
            ("kexalgorithms", "sntrup761x25519-sha512@openssh.com,ecdh-sha2-nistp256,curve25519-sha256"),
            ("ciphers", "aes256-ctr,aes128-gcm@openssh.com"),
            ("macs", "umac-64@openssh.com,hmac-sha1"),
            ("hostkeyalgorithms", "rsa-sha2-256,ssh-ed25519-cert-v01@openssh.com,ssh-ed25519"),
        ]);
        let Algorithms { preferred, are_host_keys_ordered, unsupported } = Algorithms::configured(&config).unwrap();
        assert!(names(&preferred.kex).starts_with(&["ecdh-sha2-nistp256", "curve25519-sha256", "ext-info-c"]));
        assert_eq!(names(&preferred.cipher), ["aes256-ctr", "aes128-gcm@openssh.com"]);
        assert_eq!(names(&preferred.mac), ["hmac-sha1"]);
        assert_eq!(names(&preferred.key), ["rsa-sha2-256", "ssh-ed25519"]);
        assert_eq!(names(&preferred.host_key_certificates), ["ssh-ed25519"]);
        assert!(are_host_keys_ordered);
        let named = ["kexalgorithms sntrup761x25519-sha512@openssh.com", "macs umac-64@openssh.com"];
        assert_eq!(unsupported, named.map(|name| format!("{name} (not supported)")));
    }

    #[test]
    fn a_list_without_a_supported_algorithm_is_refused() {
        let config = HostConfig::for_test(&[("ciphers", "arcfour,3des-cbc")]);
        assert!(Algorithms::configured(&config).unwrap_err().contains("ciphers arcfour,3des-cbc"));
    }
}
