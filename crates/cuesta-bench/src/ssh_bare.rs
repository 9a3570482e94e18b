//! The limit over ssh: the smallest loop with `russh` that sends the same bytes and measures the same two figures of each key. It
//! has a session for each user, one task that types for all, and a handler that receives the output.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Time};
use russh::client::{Config, Handle, Handler, Session, connect_stream};
use russh::keys::PublicKeyOrCertificate;
use russh::{ChannelId, ChannelReadHalf};
use tokio::net::TcpStream;

use crate::histogram::Histogram;
use crate::job::{Job, KEY, phases};
use crate::outcome::Outcome;
use crate::process;
use crate::usage::{Used, resident};

/// Runs a job and prints its outcome.
pub(crate) fn play(job: Job) -> Result<(), Box<dyn Error>> {
    process::pin(job.cpu)?;
    let outcome = clock::run(Time::Real, async move { drive(&job).await.map_err(|error| error.to_string()) })??;
    process::print_answer(&outcome)
}

/// One session, with a shell on it.
struct User {
    handle: Handle<Client>,
    channel: ChannelId,
    /// When the last key was sent, in ns; the handler reads it.
    sent: Arc<AtomicU64>,
}

/// The handler of a session's output.
struct Client {
    sent: Arc<AtomicU64>,
}

thread_local! {
    /// Responses of all sessions. A thread-local because a handler must be `Send`, and all of them run on this thread.
    static RESPONSE: RefCell<Histogram> = RefCell::default();
}

impl Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(&mut self, _: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(true)
    }

    async fn data(&mut self, _: ChannelId, _: &[u8], _: &mut Session) -> Result<(), Self::Error> {
        let response = clock::now().as_nanos().saturating_sub(self.sent.load(Ordering::Relaxed));
        RESPONSE.with_borrow_mut(|responses| responses.record(response));
        Ok(())
    }
}

async fn drive(job: &Job) -> Result<Outcome, Box<dyn Error>> {
    let (before, used_at_first) = (resident("self")?, Used::now());
    let config = Arc::new(Config { window_size: 64 * 1024, ..Config::default() });
    let mut users = Vec::new();
    // The read half is dropped, or its full queue would block the session.
    for address in job.addresses().cycle().take(job.users as usize) {
        users.push(connect(address, Arc::clone(&config)).await?);
    }
    let grown = resident("self")?.saturating_sub(before);
    let opening = Used::now().cpu - used_at_first.cpu;
    let tally = Rc::new(RefCell::new(KeyTally::default()));
    let typing = tokio::task::spawn_local(type_keys(users, job.clone(), Rc::clone(&tally)));
    clock::sleep_until(job.window_start()).await;
    *tally.borrow_mut() = KeyTally::default();
    RESPONSE.with_borrow_mut(|response| *response = Histogram::default());
    let opened = Used::now();
    clock::sleep_until(job.window_end()).await;
    let closed = Used::now();
    typing.await?;
    let tally = tally.borrow();
    Ok(Outcome {
        operations: tally.keys,
        lateness: tally.lateness.p50_and_p99(),
        echo: RESPONSE.with_borrow(Histogram::p50_and_p99),
        opening,
        ..Outcome::of_window(job, opened, closed, grown)
    })
}

async fn connect(address: &str, config: Arc<Config>) -> Result<User, Box<dyn Error>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let sent = Arc::new(AtomicU64::new(0));
    let mut handle = connect_stream(config, stream, Client { sent: Arc::clone(&sent) }).await?;
    if !handle.authenticate_none("bench").await?.success() {
        return Err("the host refuses the login".into());
    }
    let channel = handle.channel_open_session().await?;
    channel.request_pty(false, "xterm-256color", 80, 24, 0, 0, &[]).await?;
    channel.request_shell(false).await?;
    let id = channel.id();
    let (unread, _): (ChannelReadHalf, _) = channel.split();
    drop(unread);
    Ok(User { handle, channel: id, sent })
}

/// Figures of the keys sent in the window.
#[derive(Default)]
struct KeyTally {
    keys: u64,
    lateness: Histogram,
}

/// Types for all users, whose first instants are random within the cycle.
async fn type_keys(users: Vec<User>, job: Job, tally: Rc<RefCell<KeyTally>>) {
    let (start, until) = (clock::now(), job.window_end());
    let mut due: BinaryHeap<Reverse<(Stamp, usize)>> =
        phases(job.cycle).zip(0..users.len()).map(|(phase, number)| Reverse((start + phase, number))).collect();
    while let Some(Reverse((at, number))) = due.pop().filter(|Reverse((at, _))| *at < until) {
        clock::sleep_until(at).await;
        let user = &users[number];
        let now = clock::now();
        user.sent.store(now.as_nanos(), Ordering::Relaxed);
        // A broken line shows in the count of operations.
        if user.handle.data(user.channel, KEY).await.is_ok() {
            let mut tally = tally.borrow_mut();
            tally.keys += 1;
            tally.lateness.record(now.since(at).as_nanos() as u64);
        }
        due.push(Reverse((at + job.cycle, number)));
    }
}
