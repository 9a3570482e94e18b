//! Shared functions of the tests: serve logins, open a line, type, and read until a text arrives.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cuesta_lines::{Line, Login, OpenError, Options, receive, send};
use cuesta_record::clock;
use russh::keys::{Algorithm, PrivateKey};
use russh::server::{Config, Handler};
use russh::{MethodKind, MethodSet};

use crate::real::play;

/// After this time a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Serves logins by these methods on a thread, each connection by a host of its own; returns the address.
pub(crate) fn served<H: Handler + Send + 'static>(
    methods: &'static [MethodKind],
    mut host: impl FnMut() -> H + Send + 'static,
) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let config = Arc::new(Config {
                keys: vec![PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519).unwrap()],
                methods: MethodSet::from(methods),
                auth_rejection_time: Duration::ZERO,
                ..Config::default()
            });
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(session) = russh::server::run_stream(Arc::clone(&config), stream, host()).await {
                    let _ = session.await;
                }
            }
        });
    });
    address
}

pub(crate) async fn opened(url: &str) -> Result<Box<dyn Line>, OpenError> {
    opened_by(url, Login::default()).await
}

pub(crate) async fn opened_by(url: &str, login: Login) -> Result<Box<dyn Line>, OpenError> {
    let options = Options {
        login,
        columns: 100,
        rows: 30,
        terminal: "vt100".to_owned(),
        connect_timeout: PATIENCE,
        ..Options::default()
    };
    cuesta_lines::open(&url.parse().unwrap(), &options).await
}

/// The name and the text of the error with which a login is refused.
pub(crate) async fn refused(url: &str) -> (&'static str, String) {
    refused_within(url, PATIENCE).await
}

pub(crate) async fn refused_within(url: &str, connect_timeout: Duration) -> (&'static str, String) {
    crate::real::refused(url, &Options { connect_timeout, ..Options::default() }).await
}

pub(crate) fn is_refused(url: &str) -> (&'static str, String) {
    let url = url.to_owned();
    play(async move { refused(&url).await })
}

/// Logs in to a host that echoes rows as `cat` does.
pub(crate) fn echoes(url: &str) {
    let url = url.to_owned();
    play(async move { ask(&mut opened(&url).await.unwrap(), "hi\r", "hi\r\nhi").await });
}

/// Types `keys`, and reads until `wanted` arrives.
pub(crate) async fn ask(line: &mut dyn Line, keys: &str, wanted: &str) -> String {
    send(line, keys.as_bytes()).await.unwrap();
    until(line, wanted).await
}

/// Reads until `wanted` arrives, and returns everything read.
pub(crate) async fn until(line: &mut dyn Line, wanted: &str) -> String {
    let mut text = String::new();
    let mut room = [0; 4096];
    while !text.contains(wanted) {
        let mut limit = pin!(clock::sleep_until(clock::now() + PATIENCE));
        let received = poll_fn(|cx| {
            assert!(limit.as_mut().poll(cx).is_pending(), "no {wanted:?} after {text:?}");
            line.poll_receive(cx, &mut room)
        });
        let received = received.await.unwrap_or_else(|error| panic!("{error} after {text:?}"));
        assert!(received.len > 0, "the line was closed after {text:?}");
        text.push_str(&String::from_utf8_lossy(&room[..received.len]));
    }
    text
}

/// Reads until the line ends, and returns how: closed, or the name and text of its fault.
pub(crate) async fn end(line: &mut dyn Line) -> String {
    let mut room = [0; 4096];
    loop {
        match receive(line, &mut room).await {
            Ok(received) if received.len == 0 => return "closed by the host".to_owned(),
            Ok(_) => {}
            Err(error) => return format!("{}: {error}", cuesta_lines::failure_of(&error).name()),
        }
    }
}
