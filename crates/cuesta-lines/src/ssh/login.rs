//! Logging in: what is tried, in which order, and what is said when nothing was taken.
//!
//! The order is OpenSSH's: nothing at all first, which says what the host takes; then keys (the agent's that were named,
//! the files', the agent's others); then the password. Who has a password and named no key is not made to wait for keys.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{
    Algorithm, Error as KeyError, HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKey, load_secret_key,
};
use russh::{Error, MethodKind, MethodSet};
use tokio::net::UnixStream;

use super::client::Client;
use super::place::Place;
use crate::SshError;

/// How many rounds of questions a host may ask.
const QUESTIONS: usize = 10;

/// One login under way.
pub(super) struct Attempt<'a> {
    handle: &'a mut Handle<Client>,
    place: &'a Place,
    /// What the host still takes.
    takes: Vec<MethodKind>,
    /// What was tried, for the error.
    tried: Vec<String>,
}

/// Why a login ended early: the line broke, or something of ours is wrong.
pub(super) enum Failure {
    Broken(Error),
    Ours(SshError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl From<SshError> for Failure {
    fn from(error: SshError) -> Self {
        Self::Ours(error)
    }
}

type Done = Result<bool, Failure>;

impl<'a> Attempt<'a> {
    pub(super) fn new(handle: &'a mut Handle<Client>, place: &'a Place) -> Self {
        Self { handle, place, takes: Vec::new(), tried: Vec::new() }
    }

    /// Logs in, or says why not.
    pub(super) async fn log_in(mut self) -> Result<(), Failure> {
        let first = self.handle.authenticate_none(&self.place.user).await?;
        let password_first = self.place.password.is_some() && !self.place.only_these;
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
        self.takes = methods.to_vec();
        false
    }

    async fn try_keys(&mut self) -> Done {
        if !self.takes.contains(&MethodKind::PublicKey) {
            return Ok(false);
        }
        let mut keys = Keys::new(self.place).await?;
        let (named, others) = keys.of_agent(self.place);
        for key in &named {
            if self.try_agent_key(&mut keys, key).await? {
                return Ok(true);
            }
        }
        for (file, key) in files(self.place, &named)? {
            if self.try_file(&file, key).await? {
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

    async fn try_file(&mut self, file: &str, key: PrivateKey) -> Done {
        if !self.takes.contains(&MethodKind::PublicKey) {
            return Ok(false);
        }
        let hash = self.hash_for(&key.algorithm()).await?;
        self.tried.push(format!("the key {file}"));
        let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
        let result = self.handle.authenticate_publickey(&self.place.user, key).await?;
        Ok(self.is_in(result))
    }

    async fn try_agent_key(&mut self, keys: &mut Keys, key: &PublicKey) -> Done {
        let (Some(agent), true) = (&mut keys.agent, self.takes.contains(&MethodKind::PublicKey)) else {
            return Ok(false);
        };
        let hash = self.hash_for(&key.algorithm()).await?;
        self.tried.push(format!("the agent's key {}", key.fingerprint(HashAlg::Sha256)));
        match self.handle.authenticate_publickey_with(&self.place.user, key.clone(), hash, agent).await {
            Ok(result) => Ok(self.is_in(result)),
            // An agent that will not sign does not end the login.
            Err(_) if !self.handle.is_closed() => Ok(false),
            Err(_) => Err(Error::Disconnect.into()),
        }
    }

    /// What an RSA key is signed with; hosts that do not say take SHA-512 since OpenSSH 7.2.
    async fn hash_for(&self, algorithm: &Algorithm) -> Result<Option<HashAlg>, Failure> {
        if !matches!(algorithm, Algorithm::Rsa { .. }) {
            return Ok(None);
        }
        Ok(self.handle.best_supported_rsa_hash().await?.unwrap_or(Some(HashAlg::Sha512)))
    }

    async fn try_password(&mut self) -> Done {
        let Some(password) = &self.place.password else { return Ok(false) };
        if self.takes.contains(&MethodKind::Password) {
            self.tried.push("the password".to_owned());
            let result = self.handle.authenticate_password(&self.place.user, password).await?;
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

    /// Answers what a host asks (PAM): what is not to be seen is the password, what is to be seen is the name.
    async fn answer(&mut self, password: &str) -> Done {
        use KeyboardInteractiveAuthResponse as Response;
        let user = self.place.user.clone();
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
        let takes: Vec<&str> = self.takes.iter().map(Into::into).collect();
        SshError::Auth {
            place: self.place.address.to_string(),
            user: self.place.user.clone(),
            tried: if self.tried.is_empty() { "nothing that it takes".to_owned() } else { self.tried.join(", ") },
            takes: if takes.is_empty() { "nothing more".to_owned() } else { takes.join(", ") },
            remedy: if self.takes.contains(&MethodKind::PublicKey) {
                "Name a key with ?identity=FILE or load it into the agent; a password stands in the users' table (--data)"
            } else {
                "Give user and password in the users' table (--data)"
            },
        }
    }
}

/// The agent and what it holds.
struct Keys {
    agent: Option<AgentClient<UnixStream>>,
    held: Vec<PublicKey>,
}

impl Keys {
    async fn new(place: &Place) -> Result<Self, Failure> {
        let none = Self { agent: None, held: Vec::new() };
        let Some(socket) = &place.agent else { return Ok(none) };
        // As with ssh: an agent that is gone is no fault, there may be files.
        let Ok(mut agent) = AgentClient::connect_uds(socket).await else { return Ok(none) };
        let Ok(identities) = agent.request_identities().await else { return Ok(none) };
        let keys = identities.into_iter().filter_map(|identity| match identity {
            AgentIdentity::PublicKey { key, .. } => Some(key),
            AgentIdentity::Certificate { .. } => None,
        });
        Ok(Self { agent: Some(agent), held: keys.collect() })
    }

    /// The agent's keys whose files were named, in their order, and its others, unless only those are wanted.
    fn of_agent(&self, place: &Place) -> (Vec<PublicKey>, Vec<PublicKey>) {
        let wanted: Vec<_> = place.identities.iter().filter_map(|file| public(file)).collect();
        let named: Vec<_> = wanted.into_iter().filter(|key| holds(&self.held, key)).collect();
        let others = if place.only_these { Vec::new() } else { self.held.clone() };
        let others = others.into_iter().filter(|key| !holds(&named, key)).collect();
        (named, others)
    }
}

fn holds(keys: &[PublicKey], key: &PublicKey) -> bool {
    keys.iter().any(|held| held.key_data() == key.key_data())
}

/// The public half of a key file, which stands beside it, or is it.
fn public(file: &Path) -> Option<PublicKey> {
    let beside = format!("{}.pub", file.display());
    let text = fs::read_to_string(beside).or_else(|_| fs::read_to_string(file)).ok()?;
    PublicKey::from_openssh(text.trim()).ok()
}

/// The key files that are to be tried, less those whose keys the agent held.
fn files(place: &Place, tried: &[PublicKey]) -> Result<Vec<(String, PrivateKey)>, SshError> {
    let mut keys = Vec::new();
    for file in &place.identities {
        if public(file).is_some_and(|key| holds(tried, &key)) {
            continue;
        }
        match load_secret_key(file, None) {
            Ok(key) => keys.push((file.display().to_string(), key)),
            // A file that nobody named may be missing, or for the agent only.
            Err(_) if !place.only_these => {}
            Err(error) => {
                let cause = match error {
                    KeyError::KeyIsEncrypted => "it has a passphrase: load it into the agent (ssh-add)".to_owned(),
                    error => error.to_string(),
                };
                return Err(SshError::Identity { file: file.clone(), cause });
            }
        }
    }
    Ok(keys)
}
