//! The handle of a relay.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_cast::{Cast, Header};
use cuesta_lines::{Charset, Login, OpenError, Options, Target};
use cuesta_record::clock::{self, Time};
use thiserror::Error;

use crate::cast_recorder::CastRecorder;
use crate::session::Session;
use crate::terminal::{Terminal, is_terminal, window};

/// The target and the terminal of a session.
#[derive(Debug)]
pub struct RelayConfig {
    /// The host.
    pub target: Target,
    /// User and password, for lines that log in by themselves.
    pub login: Login,
    /// The name of the person's terminal (`TERM`).
    pub terminal: String,
    /// The host's character set of eight bits; none = UTF-8.
    pub charset: Option<Charset>,
    /// The command that the cast's header names.
    pub command: Option<String>,
    /// The terminal that keys are read from.
    pub keyboard: OwnedFd,
    /// The terminal that output is written to.
    pub screen: OwnedFd,
}

/// Why there is no recording.
#[derive(Debug, Error)]
pub enum RelayError {
    #[error("there is no terminal to record at: standard input must be one")]
    NoTerminal,
    #[error(transparent)]
    NoLine(#[from] OpenError),
    #[error("the recording broke off: {0}")]
    Io(#[from] io::Error),
    #[error("the relay failed")]
    Panicked,
}

/// A session on its own thread. Dropping it ends the session and restores the terminal.
#[derive(Debug)]
pub struct Relay {
    stop: Arc<AtomicBool>,
    /// Disconnected when the session has ended.
    ended: Mutex<Receiver<()>>,
    thread: Mutex<Option<JoinHandle<Result<Cast, RelayError>>>>,
}

impl Relay {
    /// Starts the thread, which opens the line and makes the terminal raw; returns at once.
    ///
    /// # Errors
    /// When there is no terminal, or no thread can be started.
    pub fn start(config: RelayConfig) -> Result<Self, RelayError> {
        if !is_terminal(&config.keyboard) {
            return Err(RelayError::NoTerminal);
        }
        let stop = Arc::<AtomicBool>::default();
        let (running, ended) = channel::<()>();
        let told = Arc::clone(&stop);
        let thread = thread::Builder::new().name("cuesta-relay".into()).spawn(move || {
            let _running = running;
            clock::run(Time::Real, relay(config, told))?
        })?;
        Ok(Self { stop, ended: ended.into(), thread: Some(thread).into() })
    }

    /// Waits for the end at most `timeout`; true if the session has ended.
    pub fn wait(&self, timeout: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.recv_timeout(timeout) != Err(RecvTimeoutError::Timeout)
    }

    /// Asks the session to end. The recording up to then is kept.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end and returns the recording, secrets included: see [`Cast::without_secrets`].
    ///
    /// # Errors
    /// When there was no line, or the terminal broke.
    pub fn finish(&self) -> Result<Cast, RelayError> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.map_or(Err(RelayError::Panicked), |thread| thread.join().unwrap_or(Err(RelayError::Panicked)))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
        let _ = self.finish();
    }
}

async fn relay(config: RelayConfig, stop: Arc<AtomicBool>) -> Result<Cast, RelayError> {
    let RelayConfig { target, login, terminal, charset, command, keyboard, screen } = config;
    let (columns, rows) = window(&keyboard).unwrap_or((80, 24));
    let options = Options { columns, rows, terminal: terminal.clone(), charset, login, ..Options::default() };
    let line = cuesta_lines::open(&target, &options).await?;
    let begun = clock::now();
    let header = Header {
        columns,
        rows,
        timestamp: Some(clock::wall() / 1_000_000_000),
        command,
        title: None,
        terminal: Some(terminal),
    };
    // Not earlier: an error up to here is printed on a terminal in its usual mode.
    let terminal = Terminal::take(keyboard, screen)?;
    Ok(Session::new(line, terminal, CastRecorder::new(header, begun), stop).run().await?)
}
