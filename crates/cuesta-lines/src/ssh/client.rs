//! The handler that `russh` calls: checks the host's key, takes characters and the end of the channel.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use cuesta_record::clock;
use russh::Names;
use russh::client::{DisconnectReason, Handler, Session};
use russh::keys::{Certificate, HashAlg, PublicKey, PublicKeyOrCertificate};
use russh::{ChannelId, Error, Sig};

use super::certificate::{self, CertificateStatus};
use super::destination::Destination;
use super::known_hosts::{self, HostKeyStatus};
use super::shared::{LineEnd, Shared};
use super::target::Trust;
use crate::{ExitStatus, SshError};

pub(super) struct Client {
    shared: Arc<Shared>,
    /// The address, for errors.
    address: String,
    known_as: String,
    principal: String,
    known_hosts: Vec<PathBuf>,
    trust: Trust,
    hashes_names: bool,
    /// A jump host: its output is not for the user.
    is_jump_host: bool,
}

impl Client {
    pub(super) fn new(shared: Arc<Shared>, destination: &Destination, is_jump_host: bool) -> Self {
        Self {
            shared,
            address: destination.address.to_string(),
            known_as: destination.known_as.clone(),
            principal: destination.principal.clone(),
            known_hosts: destination.known_hosts.clone(),
            trust: destination.trust,
            hashes_names: destination.hashes_names,
            is_jump_host,
        }
    }

    /// Why the host's key cannot be trusted, if it cannot.
    fn distrusts(&self, key: &PublicKey) -> Option<SshError> {
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let mut status = known_hosts::judge(&self.known_hosts, &self.known_as, key);
        if status == HostKeyStatus::Unknown && self.trust == Trust::AcceptNew {
            status = match known_hosts::learn(&self.known_hosts, &self.known_as, key, self.hashes_names) {
                Ok(status) => status,
                Err(cause) => {
                    let address = self.address.clone();
                    let file = self.known_hosts.first().cloned().unwrap_or_default();
                    return Some(SshError::NotWritten { address, file, cause });
                }
            };
        }
        self.refusal(status, fingerprint)
    }

    /// Why the host's certificate cannot be trusted, if it cannot. If no known authority signed it, its key is checked alone.
    fn distrusts_certificate(&self, certificate: &Certificate) -> Option<SshError> {
        let names = [self.known_as.as_str(), self.principal.as_str()];
        match certificate::judge(&self.known_hosts, &names, certificate, clock::wall() / 1_000_000_000) {
            CertificateStatus::Signed => None,
            CertificateStatus::UnknownAuthority => {
                self.distrusts(&PublicKey::new(certificate.public_key().clone(), ""))
            }
            CertificateStatus::Invalid(what) => Some(SshError::Certificate { address: self.address.clone(), what }),
            CertificateStatus::Revoked(file, row) => self.refusal(HostKeyStatus::Revoked(file, row), String::new()),
        }
    }

    fn refusal(&self, status: HostKeyStatus, fingerprint: String) -> Option<SshError> {
        let address = self.address.clone();
        match status {
            HostKeyStatus::Known => None,
            HostKeyStatus::Unknown => {
                Some(SshError::UnknownHost { address, fingerprint, files: self.known_hosts.clone() })
            }
            HostKeyStatus::Changed(file, row) => Some(SshError::ChangedHost { address, fingerprint, file, row }),
            HostKeyStatus::Revoked(file, row) => Some(SshError::RevokedHost { address, file, row }),
        }
    }
}

impl Handler for Client {
    type Error = Error;

    async fn check_server_key(&mut self, key: &PublicKeyOrCertificate) -> Result<bool, Error> {
        let distrust = match key {
            PublicKeyOrCertificate::PublicKey { key, .. } => self.distrusts(key),
            PublicKeyOrCertificate::Certificate(certificate) => self.distrusts_certificate(certificate),
        };
        let trusted = distrust.is_none();
        self.shared.state().distrust = distrust;
        Ok(trusted)
    }

    async fn kex_done(&mut self, _: Option<&[u8]>, _: &Names, _: &mut Session) -> Result<(), Error> {
        self.shared.state().note_key_exchange(clock::now());
        Ok(())
    }

    async fn data(&mut self, _: ChannelId, bytes: &[u8], _: &mut Session) -> Result<(), Error> {
        if !self.is_jump_host {
            self.shared.push(bytes);
        }
        Ok(())
    }

    async fn extended_data(&mut self, _: ChannelId, _: u32, bytes: &[u8], _: &mut Session) -> Result<(), Error> {
        self.shared.push(bytes);
        Ok(())
    }

    async fn exit_status(&mut self, _: ChannelId, status: u32, _: &mut Session) -> Result<(), Error> {
        self.shared.note_exit(ExitStatus::Exited(status.cast_signed()));
        Ok(())
    }

    async fn exit_signal(
        &mut self,
        _: ChannelId,
        signal: Sig,
        _: bool,
        _: &str,
        _: &str,
        _: &mut Session,
    ) -> Result<(), Error> {
        if let Some(number) = number_of(&signal) {
            self.shared.note_exit(ExitStatus::Killed(number));
        }
        Ok(())
    }

    async fn channel_eof(&mut self, _: ChannelId, _: &mut Session) -> Result<(), Error> {
        self.shared.end(LineEnd::Closed);
        Ok(())
    }

    async fn channel_close(&mut self, _: ChannelId, _: &mut Session) -> Result<(), Error> {
        self.shared.end(LineEnd::Closed);
        self.shared.note_channel_closed();
        Ok(())
    }

    async fn disconnected(&mut self, reason: DisconnectReason<Error>) -> Result<(), Error> {
        let (kind, why) = match reason {
            DisconnectReason::ReceivedDisconnect(info) => (io::ErrorKind::ConnectionAborted, info.message),
            DisconnectReason::Error(error) => broken(&error),
        };
        self.shared.end(LineEnd::Broken(kind, why));
        Ok(())
    }
}

impl Drop for Client {
    /// The protocol's task has ended: wakes the user's task, which may still wait for characters.
    fn drop(&mut self) {
        self.shared.end(LineEnd::Broken(io::ErrorKind::UnexpectedEof, "the connection was closed".to_owned()));
        self.shared.note_channel_closed();
    }
}

/// The number of a signal by its name in RFC 4254 §6.10.
fn number_of(signal: &Sig) -> Option<i32> {
    Some(match signal {
        Sig::ABRT => libc::SIGABRT,
        Sig::ALRM => libc::SIGALRM,
        Sig::FPE => libc::SIGFPE,
        Sig::HUP => libc::SIGHUP,
        Sig::ILL => libc::SIGILL,
        Sig::INT => libc::SIGINT,
        Sig::KILL => libc::SIGKILL,
        Sig::PIPE => libc::SIGPIPE,
        Sig::QUIT => libc::SIGQUIT,
        Sig::SEGV => libc::SIGSEGV,
        Sig::TERM => libc::SIGTERM,
        Sig::USR1 => libc::SIGUSR1,
        Sig::Custom(_) => return None,
    })
}

/// The line error for an error of the protocol.
fn broken(error: &Error) -> (io::ErrorKind, String) {
    let kind = match error {
        Error::IO(error) => error.kind(),
        Error::Disconnect | Error::HUP => io::ErrorKind::UnexpectedEof,
        Error::KeepaliveTimeout | Error::InactivityTimeout | Error::ConnectionTimeout => io::ErrorKind::TimedOut,
        _ => io::ErrorKind::Other,
    };
    (kind, error.to_string())
}
