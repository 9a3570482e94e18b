//! Authentication: which methods are tried in which order, and the error when none succeeds.
//!
//! First comes the method `none`, whose answer lists the methods that the host accepts. Of these, the destination's are tried in their
//! order until one is accepted. A host may then ask for another (RFC 4252 §5.1, partial success): it lists those that may follow, and
//! they are tried in the same way. A key that was accepted is not offered again, and a password that was refused is not either,
//! whichever method asks for it.

use std::io;
use std::sync::Arc;

use cuesta_record::clock;
use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse, Prompt};
use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Algorithm, HashAlg, PublicKey};
use russh::{Error, MethodKind, MethodSet};

use super::agent_keys::{AgentKeys, Candidate, CandidateKey};
use super::attempts;
use super::client::Client;
use super::codes::CodeSource;
use super::destination::Destination;
use super::error::Unanswered;
use super::keys::KeySigner;
use super::prompt::{Meaning, meaning};
use super::shared::Shared;
use crate::SshError;
use crate::program::first_row_of;

/// Most rounds of keyboard-interactive prompts.
const ROUNDS: usize = 10;
/// Most methods that a host may ask for one after the other.
const STAGES: usize = 8;

pub(super) struct LoginAttempt<'a> {
    handle: &'a mut Handle<Client>,
    destination: &'a Destination,
    shared: &'a Shared,
    /// The methods that the host still accepts.
    accepted_methods: Vec<MethodKind>,
    /// The methods that were tried, for the error.
    tried: Vec<String>,
    /// Keys that could not be tried, for the error.
    left_out: Vec<String>,
    accepted_keys: Vec<KeyData>,
    is_password_refused: bool,
}

/// What a host says of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    LoggedIn,
    /// Accepted, and the host asks for another method.
    Partial,
    Refused,
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

impl<'a> LoginAttempt<'a> {
    pub(super) fn new(handle: &'a mut Handle<Client>, destination: &'a Destination, shared: &'a Shared) -> Self {
        Self {
            handle,
            destination,
            shared,
            accepted_methods: Vec::new(),
            tried: Vec::new(),
            left_out: Vec::new(),
            accepted_keys: Vec::new(),
            is_password_refused: false,
        }
    }

    /// Tries the methods until the host asks for no more.
    pub(super) async fn run(mut self) -> Result<(), LoginFailure> {
        let first = self.handle.authenticate_none(&self.destination.user).await?;
        if self.is_cut_off() {
            return Err(Error::Disconnect.into());
        }
        self.shared.state().login.answered = Some(clock::now());
        if self.judge(first) == Verdict::LoggedIn {
            return Ok(());
        }
        for _ in 0..STAGES {
            match self.try_methods().await? {
                Verdict::LoggedIn => return Ok(()),
                Verdict::Partial => {}
                Verdict::Refused => break,
            }
        }
        if self.is_cut_off() { Err(Error::Disconnect.into()) } else { Err(self.refused().into()) }
    }

    /// Whether the connection has ended without a word, as when a login takes longer than the host's `LoginGraceTime`. `russh` gives that as a
    /// refusal, and so it does if the host says that there were too many attempts, or names no method.
    fn is_cut_off(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
        let is_silent = |error: io::Error| matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe);
        self.handle.is_closed() && self.shared.broken().is_some_and(is_silent)
    }

    /// Tries the methods that the host accepts until one of them is accepted.
    async fn try_methods(&mut self) -> Result<Verdict, LoginFailure> {
        let is_only_prompts = self.accepted_methods == [MethodKind::KeyboardInteractive];
        for method in &self.destination.methods {
            if !self.accepted_methods.contains(method) {
                continue;
            }
            let verdict = match method {
                MethodKind::PublicKey => self.try_keys().await?,
                MethodKind::Password => self.try_password().await?,
                _ if self.has_answers() || is_only_prompts => self.answer_prompts().await?,
                _ => Verdict::Refused,
            };
            if verdict != Verdict::Refused {
                return Ok(verdict);
            }
        }
        Ok(Verdict::Refused)
    }

    fn judge(&mut self, result: AuthResult) -> Verdict {
        match result {
            AuthResult::Success => Verdict::LoggedIn,
            AuthResult::Failure { remaining_methods, partial_success } => {
                self.judge_failure(&remaining_methods, partial_success)
            }
        }
    }

    fn judge_failure(&mut self, methods: &MethodSet, partial: bool) -> Verdict {
        self.accepted_methods = methods.iter().copied().collect();
        if let (true, Some(last)) = (partial, self.tried.last_mut()) {
            last.push_str(" (accepted)");
        }
        if partial { Verdict::Partial } else { Verdict::Refused }
    }

    async fn try_keys(&mut self) -> Result<Verdict, LoginFailure> {
        let mut keys = AgentKeys::new(self.destination).await?;
        self.left_out.clear();
        for candidate in keys.candidates(self.destination, &mut self.left_out)? {
            if candidate.public().is_some_and(|key| self.accepted_keys.contains(key)) {
                continue;
            }
            let verdict = self.try_key(&mut keys, &candidate).await?;
            if verdict == Verdict::Partial {
                self.accepted_keys.extend(candidate.public().cloned());
            }
            if verdict != Verdict::Refused || !self.accepted_methods.contains(&MethodKind::PublicKey) {
                return Ok(verdict);
            }
        }
        Ok(Verdict::Refused)
    }

    async fn try_key(&mut self, keys: &mut AgentKeys, candidate: &Candidate) -> Result<Verdict, LoginFailure> {
        self.tried.push(candidate.to_string());
        let mut signer = match (&candidate.key, &mut keys.agent) {
            (CandidateKey::HeldCertificate, Some(agent)) => KeySigner::Agent(agent, None),
            (CandidateKey::Agent(key), Some(agent)) => KeySigner::Agent(agent, Some(key.clone())),
            (CandidateKey::File(_, key), _) => KeySigner::File(Arc::clone(key)),
            _ => return Ok(Verdict::Refused),
        };
        let Some(public) = candidate.public() else { return Ok(Verdict::Refused) };
        let (user, hash) = (&self.destination.user, self.hash_for(&public.algorithm()).await?);
        let result = if let Some(certificate) = candidate.certificate.clone() {
            self.handle.authenticate_certificate_with(user, certificate, hash, &mut signer).await
        } else {
            let public = PublicKey::new(public.clone(), "");
            self.handle.authenticate_publickey_with(user, public, hash, &mut signer).await
        };
        self.judge_signed(result)
    }

    /// The result of a login with a key. A signer that refuses does not end the login.
    fn judge_signed<E>(&mut self, result: Result<AuthResult, E>) -> Result<Verdict, LoginFailure> {
        match result {
            Ok(result) => Ok(self.judge(result)),
            Err(_) if !self.handle.is_closed() => Ok(Verdict::Refused),
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

    async fn try_password(&mut self) -> Result<Verdict, LoginFailure> {
        let (Some(password), false) = (&self.destination.password, self.is_password_refused) else {
            return Ok(Verdict::Refused);
        };
        self.tried.push("the password".to_owned());
        let result = self.handle.authenticate_password(&self.destination.user, password).await?;
        let verdict = self.judge(result);
        self.is_password_refused = verdict == Verdict::Refused;
        Ok(verdict)
    }

    /// Whether there is anything to answer a prompt with.
    fn has_answers(&self) -> bool {
        let has_password = self.destination.password.is_some() && !self.is_password_refused;
        has_password || self.destination.codes.is_some() || !self.accepted_keys.is_empty()
    }

    /// Answers keyboard-interactive prompts (PAM). Each question is answered once: asked again, it says that the answer was wrong.
    async fn answer_prompts(&mut self) -> Result<Verdict, LoginFailure> {
        use KeyboardInteractiveAuthResponse as Response;
        let mut answered = Vec::new();
        let mut response = self.handle.authenticate_keyboard_interactive_start(&self.destination.user, None).await?;
        for _ in 0..ROUNDS {
            let prompts = match response {
                Response::Success => return Ok(Verdict::LoggedIn),
                Response::Failure { remaining_methods, partial_success } => {
                    let used = |given| answered.contains(&given);
                    let with_password = used(Meaning::Password) || used(Meaning::PasswordAndCode);
                    self.is_password_refused |= with_password && !partial_success;
                    return Ok(self.judge_failure(&remaining_methods, partial_success));
                }
                Response::InfoRequest { prompts, .. } => prompts,
            };
            let mut answers = Vec::new();
            for prompt in prompts {
                answers.push(self.answer(&prompt, &mut answered).await?);
            }
            response = self.handle.authenticate_keyboard_interactive_respond(answers).await?;
        }
        // It waits for answers, so no other method can be tried.
        Err(self.refused().into())
    }

    async fn answer(&mut self, prompt: &Prompt, answered: &mut Vec<Meaning>) -> Result<String, SshError> {
        let Destination { user, password, .. } = self.destination;
        let asked = meaning(&prompt.prompt, prompt.echo);
        let answer = match (asked, password) {
            _ if answered.contains(&asked) => Err(Unanswered::Again),
            (Meaning::UserName, _) => Ok(user.clone()),
            (Meaning::Password | Meaning::PasswordAndCode, None) => Err(Unanswered::NoPassword),
            (Meaning::Password, Some(password)) => Ok(password.clone()),
            (Meaning::OneTimeCode, _) => self.code().await?.ok_or(Unanswered::NoCode),
            (Meaning::PasswordAndCode, Some(password)) => {
                self.code().await?.map(|code| format!("{password}{code}")).ok_or(Unanswered::NoCode)
            }
            (Meaning::NewPassword, _) => Err(Unanswered::NewPassword),
            (Meaning::Unknown, _) => Err(Unanswered::Unknown),
        };
        let (address, user) = (self.destination.address.to_string(), user.clone());
        let answer = answer.map_err(|why| SshError::Prompt { address, user, prompt: prompt.prompt.clone(), why })?;
        answered.push(asked);
        self.tried.extend(match asked {
            Meaning::Password => Some("the password, when asked".to_owned()),
            Meaning::OneTimeCode => Some("a one-time code".to_owned()),
            Meaning::PasswordAndCode => Some("the password with a one-time code".to_owned()),
            _ => None,
        });
        Ok(answer)
    }

    /// A one-time code, if there is a source of them.
    async fn code(&self) -> Result<Option<String>, SshError> {
        let Destination { user, address, codes, .. } = self.destination;
        let fault = |what| SshError::Code { address: address.to_string(), user: user.clone(), what };
        Ok(match codes {
            None => None,
            Some(CodeSource::Given(code)) => Some(code.clone()),
            Some(CodeSource::Totp(totp)) => {
                let period = totp.period_at(clock::wall() / 1_000_000_000);
                attempts::use_code(self.destination, period).map_err(fault)?;
                Some(totp.code(period))
            }
            Some(CodeSource::Command(command)) => Some(first_row_of(command).await.map_err(fault)?),
        })
    }

    fn refused(&self) -> SshError {
        let tried: Vec<&str> = self.tried.iter().chain(&self.left_out).map(String::as_str).collect();
        let takes: Vec<&str> = self.accepted_methods.iter().map(Into::into).collect();
        SshError::Auth {
            address: self.destination.address.to_string(),
            user: self.destination.user.clone(),
            tried: if tried.is_empty() { "nothing that it accepts".to_owned() } else { tried.join(", ") },
            takes: if takes.is_empty() { "nothing more".to_owned() } else { takes.join(", ") },
            remedy: if self.accepted_methods.contains(&MethodKind::PublicKey) {
                "Name a key with ?identity=FILE or load it into the agent; a password goes into the users' table (--data); record asks for it with --ask-password"
            } else {
                "Give user and password in the users' table (--data); record asks for a password with --ask-password"
            },
        }
    }
}
