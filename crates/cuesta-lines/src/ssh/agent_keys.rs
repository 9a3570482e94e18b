//! The keys and certificates that a user may log in with: those of the agent, and those in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Certificate, HashAlg, PrivateKey, PublicKey};
use tokio::net::UnixStream;

use super::destination::Destination;
use super::keys::{self, KeyFileError, public_key_of};
use crate::SshError;

/// A key to try, with its certificate or without.
pub(super) struct Candidate {
    pub(super) key: CandidateKey,
    pub(super) certificate: Option<Certificate>,
}

pub(super) enum CandidateKey {
    /// The agent signs with it.
    Agent(PublicKey),
    /// The agent signs for a certificate that it holds.
    HeldCertificate,
    /// A file, which was read.
    File(String, Arc<PrivateKey>),
}

impl Candidate {
    pub(super) fn public(&self) -> Option<&KeyData> {
        match &self.key {
            CandidateKey::Agent(key) => Some(key.key_data()),
            CandidateKey::HeldCertificate => self.certificate.as_ref().map(Certificate::public_key),
            CandidateKey::File(_, key) => Some(key.public_key().key_data()),
        }
    }
}

/// As an error message names it.
impl std::fmt::Display for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.certificate.as_ref().map(Certificate::key_id);
        match (&self.key, id) {
            (CandidateKey::HeldCertificate, id) => write!(f, "the agent's certificate \"{}\"", id.unwrap_or_default()),
            (CandidateKey::Agent(_), Some(id)) => write!(f, "the certificate \"{id}\", with the agent's key"),
            (CandidateKey::Agent(key), None) => write!(f, "the agent's key {}", key.fingerprint(HashAlg::Sha256)),
            (CandidateKey::File(file, _), Some(id)) => write!(f, "the certificate \"{id}\" of {file}"),
            (CandidateKey::File(file, _), None) => write!(f, "the key {file}"),
        }
    }
}

/// The agent with its keys and certificates, and the certificates in files.
pub(super) struct AgentKeys {
    pub(super) agent: Option<AgentClient<UnixStream>>,
    held: Vec<PublicKey>,
    held_certificates: Vec<Certificate>,
    certificates: Vec<Certificate>,
}

impl AgentKeys {
    pub(super) async fn new(destination: &Destination) -> Result<Self, SshError> {
        let certificates = keys::certificates(destination)?;
        let none = Self { agent: None, held: Vec::new(), held_certificates: Vec::new(), certificates };
        let Some(socket) = &destination.agent else { return Ok(none) };
        // As with ssh, an agent that does not answer is not an error: there may be key files.
        let Ok(mut agent) = AgentClient::connect_uds(socket).await else { return Ok(none) };
        let Ok(identities) = agent.request_identities().await else { return Ok(none) };
        let mut keys = Self { agent: Some(agent), ..none };
        for identity in identities {
            match identity {
                AgentIdentity::PublicKey { key, .. } => keys.held.push(key),
                AgentIdentity::Certificate { certificate, .. } => keys.held_certificates.push(certificate),
            }
        }
        let wanted: Vec<_> = destination.identities.iter().filter_map(|file| public_key_of(file)).collect();
        let is_wanted = |certificate: &Certificate| wanted.iter().any(|key| key.key_data() == certificate.public_key());
        keys.held_certificates.retain(|certificate| !destination.only_these || is_wanted(certificate));
        Ok(keys)
    }

    pub(super) fn holds_key_of(&self, file: &Path) -> bool {
        public_key_of(file).is_some_and(|key| {
            let of_certificate = |certificate: &Certificate| certificate.public_key() == key.key_data();
            holds(&self.held, &key) || self.held_certificates.iter().any(of_certificate)
        })
    }

    /// The keys to try, in OpenSSH's order: certificates that the agent holds, configured keys that it holds, key files, its other keys;
    /// each with its certificates first. `left_out` gets why a key file is not tried.
    pub(super) fn candidates(
        &self,
        destination: &Destination,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<Candidate>, SshError> {
        let held = self.held_certificates.iter().cloned();
        let held =
            held.map(|certificate| Candidate { key: CandidateKey::HeldCertificate, certificate: Some(certificate) });
        let mut candidates: Vec<_> = held.collect();
        let (named, others) = self.agent_keys(destination);
        for key in &named {
            candidates.extend(self.with_certificates(key, || CandidateKey::Agent(key.clone())));
        }
        for (file, key) in key_files(destination, &named, left_out)? {
            candidates.extend(
                self.with_certificates(key.public_key(), || CandidateKey::File(file.clone(), Arc::clone(&key))),
            );
        }
        for key in &others {
            candidates.extend(self.with_certificates(key, || CandidateKey::Agent(key.clone())));
        }
        Ok(candidates)
    }

    /// Why configured key files cannot be used, besides those that are locked.
    pub(super) fn unusable(&self, destination: &Destination) -> Vec<SshError> {
        let (held, _) = self.agent_keys(destination);
        let is_held = |file: &&PathBuf| public_key_of(file).is_some_and(|key| holds(&held, &key));
        let files = destination.identities.iter().filter(|file| !is_held(file));
        let fault = |file: &PathBuf| match keys::load(file) {
            Err(KeyFileError::Unusable(cause)) => Some(SshError::Identity { file: file.clone(), cause }),
            _ => None,
        };
        files.filter_map(fault).collect()
    }

    /// A key with each of its certificates, and alone.
    fn with_certificates(&self, public: &PublicKey, key: impl Fn() -> CandidateKey) -> Vec<Candidate> {
        let matching = self.certificates.iter().filter(|certificate| certificate.public_key() == public.key_data());
        let certificates = matching.cloned().map(Some).chain([None]);
        certificates.map(|certificate| Candidate { key: key(), certificate }).collect()
    }

    /// The agent's keys whose files are configured, in their order, and its other keys, unless only configured keys may be tried.
    fn agent_keys(&self, destination: &Destination) -> (Vec<PublicKey>, Vec<PublicKey>) {
        let wanted: Vec<_> = destination.identities.iter().filter_map(|file| public_key_of(file)).collect();
        let named: Vec<_> = wanted.into_iter().filter(|key| holds(&self.held, key)).collect();
        let others = if destination.only_these { Vec::new() } else { self.held.clone() };
        let others = others.into_iter().filter(|key| !holds(&named, key)).collect();
        (named, others)
    }
}

fn holds(keys: &[PublicKey], key: &PublicKey) -> bool {
    keys.iter().any(|held| held.key_data() == key.key_data())
}

/// The key files to try, without those whose keys the agent holds.
fn key_files(
    destination: &Destination,
    held: &[PublicKey],
    left_out: &mut Vec<String>,
) -> Result<Vec<(String, Arc<PrivateKey>)>, SshError> {
    let mut files = Vec::new();
    for file in &destination.identities {
        if public_key_of(file).is_some_and(|key| holds(held, &key)) {
            continue;
        }
        match (keys::load(file), destination.only_these) {
            (Ok(key), _) => files.push((file.display().to_string(), key)),
            (Err(KeyFileError::Locked), true) => return Err(SshError::Locked { file: file.clone() }),
            (Err(KeyFileError::Unusable(cause)), true) => {
                return Err(SshError::Identity { file: file.clone(), cause });
            }
            // A default key file may be missing.
            (Err(KeyFileError::Unusable(_)), false) if !destination.has_configured_keys => {}
            (Err(KeyFileError::Unusable(cause)), false) => {
                left_out.push(format!("not the key {} ({cause})", file.display()));
            }
            (Err(KeyFileError::Locked), false) if file.exists() => {
                left_out.push(format!("not the key {} (it has a passphrase)", file.display()));
            }
            (Err(KeyFileError::Locked), false) => {}
        }
    }
    Ok(files)
}
