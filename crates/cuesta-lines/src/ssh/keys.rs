//! Key files and certificates: read, unlocked once in a process, and used to sign.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::signature::Signer as _;
use russh::keys::ssh_encoding::Encode as _;
use russh::keys::ssh_key::Signature;
use russh::keys::ssh_key::private::KeypairData;
use russh::keys::{Certificate, Error as KeyError, HashAlg, PrivateKey, PublicKey, load_secret_key};
use russh::{SendError, Signer};
use tokio::net::UnixStream;

use super::destination::Destination;
use crate::SshError;

/// Unlocked keys. Unlocking one takes a tenth of a second, which no user should wait for.
static UNLOCKED: LazyLock<Mutex<HashMap<PathBuf, Arc<PrivateKey>>>> = LazyLock::new(Mutex::default);

/// Why a key file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyFileError {
    /// It has a passphrase that was not given.
    Locked,
    Unusable(String),
}

/// Reads a key file, unless its key was unlocked before.
pub(super) fn load(file: &Path) -> Result<Arc<PrivateKey>, KeyFileError> {
    if let Some(key) = UNLOCKED.lock().unwrap_or_else(PoisonError::into_inner).get(file) {
        return Ok(Arc::clone(key));
    }
    match load_secret_key(file, None) {
        Ok(key) => Ok(Arc::new(key)),
        Err(KeyError::KeyIsEncrypted) => Err(KeyFileError::Locked),
        Err(error) => Err(KeyFileError::Unusable(error.to_string())),
    }
}

/// Unlocks a key file for the rest of this process; false if the passphrase is wrong.
///
/// # Errors
/// When it is not a key file.
pub fn unlock(file: &Path, passphrase: &str) -> Result<bool, SshError> {
    match load(file) {
        Ok(_) => return Ok(true),
        Err(KeyFileError::Unusable(cause)) => return Err(SshError::Identity { file: file.to_owned(), cause }),
        Err(KeyFileError::Locked) => {}
    }
    let Ok(key) = load_secret_key(file, Some(passphrase)) else { return Ok(false) };
    UNLOCKED.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_owned(), Arc::new(key));
    Ok(true)
}

/// The public key of a key file: from the `.pub` file beside it, or from a file that holds the public key itself.
pub(super) fn public_key_of(file: &Path) -> Option<PublicKey> {
    let text = fs::read_to_string(beside(file, ".pub")).or_else(|_| fs::read_to_string(file)).ok()?;
    PublicKey::from_openssh(text.trim()).ok()
}

/// The certificates that were configured, and those beside the key files.
pub(super) fn certificates(destination: &Destination) -> Result<Vec<Certificate>, SshError> {
    let mut certificates = Vec::new();
    for file in &destination.certificates {
        let fault = |cause: String| SshError::Identity { file: file.clone(), cause };
        let text = fs::read_to_string(file).map_err(|error| fault(error.to_string()))?;
        certificates.push(Certificate::from_openssh(text.trim()).map_err(|error| fault(error.to_string()))?);
    }
    for file in &destination.identities {
        let text = fs::read_to_string(beside(file, "-cert.pub")).unwrap_or_default();
        certificates.extend(Certificate::from_openssh(text.trim()).ok());
    }
    Ok(certificates)
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", file.display()))
}

/// Signs with the key of a file, or lets the agent sign: with the key that is given, for a certificate that the agent does not hold.
pub(super) enum KeySigner<'a> {
    File(Arc<PrivateKey>),
    Agent(&'a mut AgentClient<UnixStream>, Option<PublicKey>),
}

/// Signing failed.
#[derive(Debug)]
pub(super) struct SigningError;

impl From<SendError> for SigningError {
    fn from(_: SendError) -> Self {
        Self
    }
}

impl Signer for KeySigner<'_> {
    type Error = SigningError;

    async fn auth_sign(
        &mut self,
        identity: &AgentIdentity,
        hash: Option<HashAlg>,
        data: Vec<u8>,
    ) -> Result<Vec<u8>, SigningError> {
        let key = match self {
            Self::File(key) => key,
            Self::Agent(agent, key) => {
                let own = key.clone().map(AgentIdentity::from);
                return agent
                    .sign_request(own.as_ref().unwrap_or(identity), hash, data)
                    .await
                    .map_err(|_| SigningError);
            }
        };
        let signed = match key.key_data() {
            KeypairData::Rsa(pair) => (pair, hash).try_sign(&data),
            _ => key.try_sign(&data),
        };
        signed.ok().and_then(|signature| with_signature(data, &signature)).ok_or(SigningError)
    }
}

/// The signed data followed by the signature as an ssh string.
fn with_signature(mut data: Vec<u8>, signature: &Signature) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    signature.encode(&mut bytes).ok()?;
    bytes.encode(&mut data).ok()?;
    Some(data)
}
