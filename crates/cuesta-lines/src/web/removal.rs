//! Removes what sessions leave at the host: a request each, sent by a thread of its own, so that no user waits for it, and that it is sent
//! however the session ended.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_record::clock::{self, Time};

use super::client::Client;
use super::secrets::Secrets;
use super::target::WebTarget;
use crate::wire::http::{CookieJar, Request};
use crate::{Options, tcp};

/// How long a host may take for one removal.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(5);

/// After this many failures in a row at one host, its others are only counted; once they are waited for, they are not tried either.
const MOST_FAILURES: usize = 3;

/// What is to be removed.
pub(super) struct Removal {
    pub(super) target: WebTarget,
    pub(super) options: Options,
    pub(super) headers: Vec<(String, String)>,
    pub(super) cookies: CookieJar,
    pub(super) request: Request,
}

/// What is to be removed once this is dropped: when its session is over, or when that was not opened after all.
#[derive(Default)]
pub(super) struct RemovalAtDrop(pub(super) Option<Box<Removal>>);

impl Drop for RemovalAtDrop {
    fn drop(&mut self) {
        if let Some(removal) = self.0.take() {
            removal.queue();
        }
    }
}

/// A thread that removes what it is sent until its sender is gone. It returns what could not be removed, one sentence each.
struct Worker {
    removals: Sender<Box<Removal>>,
    is_awaited: Arc<AtomicBool>,
    /// None if it could not be started.
    thread: Option<JoinHandle<Vec<String>>>,
}

/// The thread, while there is something to remove. It connects from the network namespace of the thread that starts it.
static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

/// What is still to be removed.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// How many sessions have left something at their hosts that is still to be removed.
pub fn count_removals() -> usize {
    LEFT.load(Ordering::Relaxed)
}

/// Waits until what sessions left at their hosts is removed. Returns what could not be, one sentence each.
pub fn wait_for_removals() -> Vec<String> {
    // Lines that end meanwhile start another thread: the lock is not held.
    let worker = WORKER.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Worker { removals, is_awaited, thread }) = worker else { return Vec::new() };
    is_awaited.store(true, Ordering::Relaxed);
    drop(removals);
    let not_removed = || vec!["nothing is removed: the thread for that does not run".to_owned()];
    thread.and_then(|thread| thread.join().ok()).unwrap_or_else(not_removed)
}

impl Worker {
    fn start() -> Self {
        let (removals, received) = mpsc::channel();
        let is_awaited = Arc::new(AtomicBool::new(false));
        let hurries = Arc::clone(&is_awaited);
        let thread =
            thread::Builder::new().name("cuesta-removals".into()).spawn(move || remove_all(&received, &hurries));
        Self { removals, is_awaited, thread: thread.ok() }
    }
}

impl Removal {
    /// Has it removed.
    fn queue(self: Box<Self>) {
        let mut worker = WORKER.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a thread nothing is removed; `wait_for_removals` says so.
        LEFT.fetch_add(1, Ordering::Relaxed);
        if worker.get_or_insert_with(Worker::start).removals.send(self).is_err() {
            LEFT.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn address(&self) -> String {
        self.target.address.to_string()
    }

    async fn send(self) -> Result<(), String> {
        let secrets = Secrets::from_login(&self.target, &self.options.login);
        self.ask().await.map_err(|why| secrets.hide(&why))
    }

    async fn ask(self) -> Result<(), String> {
        let due = clock::now() + REMOVAL_TIMEOUT;
        let what = format!("{}{}", self.target.address, self.request.path_alone());
        let cookies = self.cookies.clone();
        let sent = tcp::with_deadline(due, async {
            let mut client = Client::new(&self.target, &self.options, self.headers.clone(), cookies)?;
            client.ask(self.request.clone()).await
        });
        match sent.await {
            // What is gone already needs no removal.
            Some(Ok(answer)) if answer.is_success() || answer.status == 404 => Ok(()),
            Some(Ok(answer)) => Err(format!("{what} is not removed: it answered {}", answer.status)),
            Some(Err(error)) => Err(format!("{what} is not removed: {error}")),
            None => Err(format!("{what} is not removed: no answer in {} s", REMOVAL_TIMEOUT.as_secs())),
        }
    }
}

/// Failures at one host.
#[derive(Default)]
struct Failures {
    in_a_row: usize,
    /// Those that no sentence tells.
    untold: usize,
}

/// Removes what is sent until the sender is gone. Once `is_awaited`, hosts that have failed are given up: thousands of sessions at a host
/// that does not answer would take hours.
fn remove_all(removals: &Receiver<Box<Removal>>, is_awaited: &AtomicBool) -> Vec<String> {
    let (mut told, mut by_host) = (Vec::new(), HashMap::<String, Failures>::new());
    for removal in removals {
        let failures = by_host.entry(removal.address()).or_default();
        let is_failing = failures.in_a_row >= MOST_FAILURES;
        let removed = if is_failing && is_awaited.load(Ordering::Relaxed) {
            Err("given up".to_owned())
        } else {
            clock::run(Time::Real, removal.send()).unwrap_or_else(|error| Err(error.to_string()))
        };
        failures.in_a_row = if removed.is_ok() { 0 } else { failures.in_a_row + 1 };
        match removed {
            Ok(()) => {}
            Err(why) if !is_failing => told.push(why),
            Err(_) => failures.untold += 1,
        }
        LEFT.fetch_sub(1, Ordering::Relaxed);
    }
    let untold = by_host.into_iter().filter(|(_, failures)| failures.untold > 0);
    told.extend(untold.map(|(host, failures)| format!("{host}: {} more sessions were not removed", failures.untold)));
    told
}
