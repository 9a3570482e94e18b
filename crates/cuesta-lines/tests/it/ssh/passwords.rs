//! Passwords, with a `russh` server: real hosts check the machine's accounts, which tests must not change.

use std::net::SocketAddr;

use cuesta_lines::Login;
use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, Response, Session};
use russh::{Channel, ChannelId, Error, MethodKind, Pty};

use super::harness::{ask, opened_by, served};
use crate::real::play;

/// A host with one user and password. It echoes its input.
pub(crate) struct Host {
    /// Received keys, with their instants.
    pub(crate) came: std::sync::mpsc::Sender<(cuesta_record::Stamp, Vec<u8>)>,
}

impl Handler for Host {
    type Error = Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Error> {
        let right = user == "joe" && password == "geheim";
        Ok(if right { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Error> {
        let Some(mut answers) = response else {
            let prompts = vec![("Name: ".into(), true), ("Password: ".into(), false)];
            return Ok(Auth::Partial { name: "".into(), instructions: "".into(), prompts: prompts.into() });
        };
        let right = answers.next().as_deref() == Some(user.as_bytes()) && answers.next().as_deref() == Some(b"geheim");
        Ok(if right { Auth::Accept } else { Auth::reject() })
    }

    async fn channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Error> {
        reply.accept().await;
        Ok(())
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        _: &str,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Error> {
        session.channel_success(channel)
    }

    async fn shell_request(&mut self, channel: ChannelId, session: &mut Session) -> Result<(), Error> {
        session.channel_success(channel)
    }

    async fn data(&mut self, channel: ChannelId, bytes: &[u8], session: &mut Session) -> Result<(), Error> {
        let _ = self.came.send((cuesta_record::clock::now(), bytes.to_vec()));
        session.data(channel, bytes.to_vec())
    }
}

/// Serves one login; returns the address and a receiver of the keys.
pub(crate) fn host(
    methods: &'static [MethodKind],
) -> (SocketAddr, std::sync::mpsc::Receiver<(cuesta_record::Stamp, Vec<u8>)>) {
    let (came, coming) = std::sync::mpsc::channel();
    let mut came = Some(came);
    (served(methods, move || Host { came: came.take().expect("one login") }), coming)
}

async fn logs_in(methods: &'static [MethodKind], password: &str) -> Result<(), String> {
    let (address, _came) = host(methods);
    let known = tempfile::NamedTempFile::new().unwrap();
    let url = format!("ssh://{address}?agent=off&known_hosts=accept-new&known_hosts={}", known.path().display());
    let login = Login { user: Some("joe".to_owned()), password: Some(password.to_owned()), ..Login::default() };
    let mut line = opened_by(&url, login).await.map_err(|error| format!("{}: {error}", error.failure().name()))?;
    ask(&mut line, "echo", "echo").await;
    Ok(())
}

const WAYS: [&[MethodKind]; 2] = [&[MethodKind::Password], &[MethodKind::KeyboardInteractive]];

#[test]
fn name_and_password_come_from_the_users_table() {
    for way in WAYS {
        assert_eq!(play(async move { logs_in(way, "geheim").await }), Ok(()));
    }
}

#[test]
fn a_wrong_password_is_refused_and_not_printed() {
    for way in WAYS {
        let said = play(async move { logs_in(way, "falsch").await }).unwrap_err();
        assert!(said.starts_with("auth: ") && said.contains("the password") && !said.contains("falsch"), "{said}");
    }
}
