//! Authentication: which methods are tried in which order, and the error when none succeeds.
//!
//! The order is OpenSSH's: first the method `none`, whose answer lists the methods that the host accepts; then keys, each with
//! its certificate first if there is one (configured keys that the agent holds, key files, the agent's other keys); then the
//! password. With a password and no configured key, the password comes before keys.

use std::path::Path;
use std::sync::Arc;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{Algorithm, Certificate, HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKey};
use russh::{Error, MethodKind, MethodSet};
use tokio::net::UnixStream;

use super::client::Client;
use super::destination::Destination;
use super::keys::{self, AgentSigner, FileSigner, KeyFileError, public};
use crate::SshError;

/// Most rounds of keyboard-interactive prompts.
const QUESTIONS: usize = 10;

/// One login under way.
pub(super) struct LoginAttempt<'a> {
    handle: &'a mut Handle<Client>,
    destination: &'a Destination,
    /// The methods that the host still accepts.
    takes: Vec<MethodKind>,
    /// The methods that were tried, for the error.
    tried: Vec<String>,
    /// Keys that could not be tried, for the error.
    left_out: Vec<String>,
}

/// Why a login ended early: the connection broke, or our own configuration is wrong.
pub(super) enum LoginFailure {
    Broken(Error),
    Ours(SshError),
}

impl From<Error> for LoginFailure {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl From<SshError> for LoginFailure {
    fn from(error: SshError) -> Self {
        Self::Ours(error)
    }
}

type Done = Result<bool, LoginFailure>;

impl<'a> LoginAttempt<'a> {
    pub(super) fn new(handle: &'a mut Handle<Client>, destination: &'a Destination) -> Self {
        Self { handle, destination, takes: Vec::new(), tried: Vec::new(), left_out: Vec::new() }
    }

    /// Tries the methods in order until one succeeds.
    pub(super) async fn log_in(mut self) -> Result<(), LoginFailure> {
        let first = self.handle.authenticate_none(&self.destination.user).await?;
        let password_first = self.destination.password.is_some() && !self.destination.only_these;
        let done = self.is_in(first)
            || (password_first && self.try_password().await?)
            || self.try_keys().await?
            || (!password_first && self.try_password().await?);
        if done { Ok(()) } else { Err(self.refused().into()) }
    }

    fn is_in(&mut self, result: AuthResult) -> bool {
        match result {
            AuthResult::Success => true,
            AuthResult::Failure { remaining_methods, .. } => self.goes_on_with(&remaining_methods),
        }
    }

    fn goes_on_with(&mut self, methods: &MethodSet) -> bool {
        let on = self.destination.methods;
        let is_on = |method: &MethodKind| match method {
            MethodKind::PublicKey => on.keys,
            MethodKind::Password => on.password,
            MethodKind::KeyboardInteractive => on.questions,
            _ => true,
        };
        self.takes = methods.iter().copied().filter(is_on).collect();
        false
    }

    async fn try_keys(&mut self) -> Done {
        if !self.takes.contains(&MethodKind::PublicKey) {
            return Ok(false);
        }
        let mut keys = AgentKeys::new(self.destination).await?;
        for certificate in std::mem::take(&mut keys.held_certificates) {
            if self.try_held_certificate(&mut keys, certificate).await? {
                return Ok(true);
            }
        }
        let (named, others) = keys.of_agent(self.destination);
        for key in &named {
            if self.try_agent_key(&mut keys, key).await? {
                return Ok(true);
            }
        }
        for (file, key) in self.files(&named)? {
            if self.try_file(&keys, &file, key).await? {
                return Ok(true);
            }
        }
        for key in &others {
            if self.try_agent_key(&mut keys, key).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The key files to try, without those whose keys the agent holds.
    fn files(&mut self, tried: &[PublicKey]) -> Result<Vec<(String, Arc<PrivateKey>)>, SshError> {
        let mut files = Vec::new();
        for file in &self.destination.identities {
            if public(file).is_some_and(|key| holds(tried, &key)) {
                continue;
            }
            match (keys::load(file), self.destination.only_these) {
                (Ok(key), _) => files.push((file.display().to_string(), key)),
                (Err(KeyFileError::Locked), true) => return Err(SshError::Locked { file: file.clone() }),
                (Err(KeyFileError::Unusable(cause)), true) => {
                    return Err(SshError::Identity { file: file.clone(), cause });
                }
                // A default key file may be missing.
                (Err(KeyFileError::Unusable(_)), false) if !self.destination.named => {}
                (Err(KeyFileError::Unusable(cause)), false) => {
                    self.left_out.push(format!("not the key {} ({cause})", file.display()));
                }
                (Err(KeyFileError::Locked), false) if file.exists() => {
                    self.left_out.push(format!("not the key {} (it has a passphrase)", file.display()));
                }
                (Err(KeyFileError::Locked), false) => {}
            }
        }
        Ok(files)
    }

    /// A certificate that the agent holds, with its key.
    async fn try_held_certificate(&mut self, keys: &mut AgentKeys, certificate: Certificate) -> Done {
        let (Some(agent), true) = (&mut keys.agent, self.takes.contains(&MethodKind::PublicKey)) else {
            return Ok(false);
        };
        let hash = self.hash_for(&certificate.algorithm()).await?;
        self.tried.push(format!("the agent's certificate \"{}\"", certificate.key_id()));
        let user = &self.destination.user;
        let result = self.handle.authenticate_certificate_with(user, certificate, hash, agent).await;
        self.is_in_by(result)
    }

    async fn try_file(&mut self, keys: &AgentKeys, file: &str, key: Arc<PrivateKey>) -> Done {
        let hash = self.hash_for(&key.algorithm()).await?;
        let public = key.public_key().key_data();
        for certificate in keys.certificates.iter().filter(|certificate| certificate.public_key() == public) {
            if !self.takes.contains(&MethodKind::PublicKey) {
                return Ok(false);
            }
            self.tried.push(format!("the certificate \"{}\" of {file}", certificate.key_id()));
            let (user, mut signer) = (&self.destination.user, FileSigner(Arc::clone(&key)));
            let result = self.handle.authenticate_certificate_with(user, certificate.clone(), hash, &mut signer).await;
            if self.is_in_by(result)? {
                return Ok(true);
            }
        }
        if !self.takes.contains(&MethodKind::PublicKey) {
            return Ok(false);
        }
        self.tried.push(format!("the key {file}"));
        let key = PrivateKeyWithHashAlg::new(key, hash);
        let result = self.handle.authenticate_publickey(&self.destination.user, key).await?;
        Ok(self.is_in(result))
    }

    async fn try_agent_key(&mut self, keys: &mut AgentKeys, key: &PublicKey) -> Done {
        let Some(agent) = &mut keys.agent else { return Ok(false) };
        let hash = self.hash_for(&key.algorithm()).await?;
        for certificate in keys.certificates.iter().filter(|certificate| certificate.public_key() == key.key_data()) {
            if !self.takes.contains(&MethodKind::PublicKey) {
                return Ok(false);
            }
            self.tried.push(format!("the certificate \"{}\", with the agent's key", certificate.key_id()));
            let (user, mut signer) = (&self.destination.user, AgentSigner(agent, key.clone()));
            let result = self.handle.authenticate_certificate_with(user, certificate.clone(), hash, &mut signer).await;
            if self.is_in_by(result)? {
                return Ok(true);
            }
        }
        if !self.takes.contains(&MethodKind::PublicKey) {
            return Ok(false);
        }
        self.tried.push(format!("the agent's key {}", key.fingerprint(HashAlg::Sha256)));
        let result = self.handle.authenticate_publickey_with(&self.destination.user, key.clone(), hash, agent).await;
        self.is_in_by(result)
    }

    /// The result of a login that an external signer signed. A signer that refuses does not end the login.
    fn is_in_by<E>(&mut self, result: Result<AuthResult, E>) -> Done {
        match result {
            Ok(result) => Ok(self.is_in(result)),
            Err(_) if !self.handle.is_closed() => Ok(false),
            Err(_) => Err(Error::Disconnect.into()),
        }
    }

    /// The hash for RSA signatures; hosts that do not announce one accept SHA-512 since OpenSSH 7.2.
    async fn hash_for(&self, algorithm: &Algorithm) -> Result<Option<HashAlg>, LoginFailure> {
        if !matches!(algorithm, Algorithm::Rsa { .. }) {
            return Ok(None);
        }
        Ok(self.handle.best_supported_rsa_hash().await?.unwrap_or(Some(HashAlg::Sha512)))
    }

    async fn try_password(&mut self) -> Done {
        let Some(password) = &self.destination.password else { return Ok(false) };
        if self.takes.contains(&MethodKind::Password) {
            self.tried.push("the password".to_owned());
            let result = self.handle.authenticate_password(&self.destination.user, password).await?;
            if self.is_in(result) {
                return Ok(true);
            }
        }
        if self.takes.contains(&MethodKind::KeyboardInteractive) {
            self.tried.push("the password, when asked".to_owned());
            return self.answer(password).await;
        }
        Ok(false)
    }

    /// Answers keyboard-interactive prompts (PAM): the password to prompts without echo, the user name to the others.
    async fn answer(&mut self, password: &str) -> Done {
        use KeyboardInteractiveAuthResponse as Response;
        let user = self.destination.user.clone();
        let mut response = self.handle.authenticate_keyboard_interactive_start(&user, None).await?;
        for _ in 0..QUESTIONS {
            let prompts = match response {
                Response::Success => return Ok(true),
                Response::Failure { remaining_methods, .. } => return Ok(self.goes_on_with(&remaining_methods)),
                Response::InfoRequest { prompts, .. } => prompts,
            };
            let answers = prompts.iter().map(|prompt| if prompt.echo { user.clone() } else { password.to_owned() });
            response = self.handle.authenticate_keyboard_interactive_respond(answers.collect()).await?;
        }
        Ok(false)
    }

    fn refused(&self) -> SshError {
        let tried: Vec<&str> = self.tried.iter().chain(&self.left_out).map(String::as_str).collect();
        let takes: Vec<&str> = self.takes.iter().map(Into::into).collect();
        SshError::Auth {
            address: self.destination.address.to_string(),
            user: self.destination.user.clone(),
            tried: if tried.is_empty() { "nothing that it accepts".to_owned() } else { tried.join(", ") },
            takes: if takes.is_empty() { "nothing more".to_owned() } else { takes.join(", ") },
            remedy: if self.takes.contains(&MethodKind::PublicKey) {
                "Name a key with ?identity=FILE or load it into the agent; a password goes into the users' table (--data); record asks for it with --ask-password"
            } else {
                "Give user and password in the users' table (--data); record asks for a password with --ask-password"
            },
        }
    }
}

/// The agent with its keys and certificates, and the certificates in files.
pub(super) struct AgentKeys {
    agent: Option<AgentClient<UnixStream>>,
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
        let wanted: Vec<_> = destination.identities.iter().filter_map(|file| public(file)).collect();
        let is_wanted = |certificate: &Certificate| wanted.iter().any(|key| key.key_data() == certificate.public_key());
        keys.held_certificates.retain(|certificate| !destination.only_these || is_wanted(certificate));
        Ok(keys)
    }

    /// Whether the agent holds the key of a file.
    pub(super) fn holds_key_of(&self, file: &Path) -> bool {
        public(file).is_some_and(|key| {
            let of_certificate = |certificate: &Certificate| certificate.public_key() == key.key_data();
            holds(&self.held, &key) || self.held_certificates.iter().any(of_certificate)
        })
    }

    /// The agent's keys whose files are configured, in their order, and its other keys, unless only configured keys may be tried.
    fn of_agent(&self, destination: &Destination) -> (Vec<PublicKey>, Vec<PublicKey>) {
        let wanted: Vec<_> = destination.identities.iter().filter_map(|file| public(file)).collect();
        let named: Vec<_> = wanted.into_iter().filter(|key| holds(&self.held, key)).collect();
        let others = if destination.only_these { Vec::new() } else { self.held.clone() };
        let others = others.into_iter().filter(|key| !holds(&named, key)).collect();
        (named, others)
    }
}

fn holds(keys: &[PublicKey], key: &PublicKey) -> bool {
    keys.iter().any(|held| held.key_data() == key.key_data())
}
