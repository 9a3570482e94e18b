//! Host certificates, judged by the certificate authorities in the known hosts files (`@cert-authority`).

use std::path::PathBuf;

use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{Certificate, HashAlg};

use super::known_hosts::{EntryKind, entries};
use super::pattern::matches;

/// Whether a host's certificate can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CertificateStatus {
    /// It is valid, and an authority that is known for this host signed it.
    Signed,
    /// No authority that is known for this host has signed it.
    UnknownAuthority,
    /// A known authority signed it, but it is not valid for this host or now: why.
    Invalid(String),
    /// Its key or its authority's is revoked: in which file and row.
    Revoked(PathBuf, usize),
}

/// Whether an authority is known for a host; only then are certificates requested.
pub(super) fn has_authority(files: &[PathBuf], names: &[&str]) -> bool {
    rows(files, names).any(|(_, entry)| entry.kind == EntryKind::Authority)
}

/// Checks a host's certificate. `names`: the host as known hosts files write it, with its port, and the bare name that the
/// certificate must contain. `now`: seconds since 1970.
pub(super) fn judge(files: &[PathBuf], names: &[&str], certificate: &Certificate, now: u64) -> CertificateStatus {
    let (subject, authority) = (certificate.public_key(), certificate.signature_key());
    let mut known = false;
    for (file, entry) in rows(files, names) {
        let is_authority = entry.key.key_data() == authority;
        match entry.kind {
            EntryKind::Revoked if is_authority || entry.key.key_data() == subject => {
                return CertificateStatus::Revoked(file.clone(), entry.row);
            }
            EntryKind::Authority if is_authority => known = true,
            _ => {}
        }
    }
    if !known {
        return CertificateStatus::UnknownAuthority;
    }
    find_fault(certificate, names.last().copied().unwrap_or_default(), now)
        .map_or(CertificateStatus::Signed, CertificateStatus::Invalid)
}

/// Why a certificate of a known authority is not valid, if it is not.
fn find_fault(certificate: &Certificate, name: &str, now: u64) -> Option<String> {
    if certificate.cert_type() != CertType::Host {
        return Some("it is a user's certificate, not a host's".to_owned());
    }
    let principals = certificate.valid_principals();
    if !principals.iter().any(|principal| matches(principal, name)) {
        return Some(format!("it is valid for {}, not for {name}", principals.join(", ")));
    }
    if let Some((option, _)) = certificate.critical_options().iter().next() {
        return Some(format!("it requires {option}, which Cuesta does not support"));
    }
    if now < certificate.valid_after() || now >= certificate.valid_before() {
        return Some("it is not valid now: it has expired, or is not valid yet".to_owned());
    }
    let authority = certificate.signature_key().fingerprint(HashAlg::Sha256);
    certificate.validate_at(now, [&authority]).err().map(|_| "its signature is not its authority's".to_owned())
}

fn rows<'a>(
    files: &'a [PathBuf],
    names: &'a [&str],
) -> impl Iterator<Item = (&'a PathBuf, super::known_hosts::KnownHost)> {
    let of_file = move |file: &'a PathBuf| {
        names.iter().flat_map(move |name| entries(file, name).into_iter().map(move |entry| (file, entry)))
    };
    files.iter().flat_map(of_file)
}
