//! Removes what sessions leave at the host: a request each, sent by a thread of its own, so that no user waits for it, and that it is sent
//! however the session ended.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_record::clock::{self, Time};

use super::client::Client;
use super::secrets::Secrets;
use super::target::WebTarget;
use crate::wire::http::{CookieJar, Request};
use crate::{Options, tcp};

/// How long a host may take for one removal.
const PATIENCE: Duration = Duration::from_secs(5);

/// After this many failures in a row at one host, its other removals are given up.
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
    /// None if it could not be started.
    thread: Option<JoinHandle<Vec<String>>>,
}

/// The thread, while there is something to remove. It connects from the network namespace of the thread that starts it.
static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

/// Waits until what sessions left at their hosts is removed. Returns what could not be, one sentence each.
pub fn wait_for_removals() -> Vec<String> {
    // Lines that end meanwhile start another thread: the lock is not held.
    let worker = WORKER.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Worker { removals, thread }) = worker else { return Vec::new() };
    drop(removals);
    let not_removed = || vec!["nothing is removed: the thread for that does not run".to_owned()];
    thread.and_then(|thread| thread.join().ok()).unwrap_or_else(not_removed)
}

impl Worker {
    fn start() -> Self {
        let (removals, received) = mpsc::channel();
        let thread = thread::Builder::new().name("cuesta-removals".into()).spawn(move || remove_all(&received));
        Self { removals, thread: thread.ok() }
    }
}

impl Removal {
    /// Has it removed.
    fn queue(self: Box<Self>) {
        let mut worker = WORKER.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a thread nothing is removed; `wait_for_removals` says so.
        let _ = worker.get_or_insert_with(Worker::start).removals.send(self);
    }

    fn address(&self) -> String {
        self.target.address.to_string()
    }

    async fn send(self) -> Result<(), String> {
        let secrets = Secrets::from_login(&self.target, &self.options.login);
        self.ask().await.map_err(|why| secrets.hide(&why))
    }

    async fn ask(self) -> Result<(), String> {
        let due = clock::now() + PATIENCE;
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
            None => Err(format!("{what} is not removed: no answer in {} s", PATIENCE.as_secs())),
        }
    }
}

fn remove_all(removals: &Receiver<Box<Removal>>) -> Vec<String> {
    let (mut failed, mut failing) = (Vec::new(), HashMap::new());
    for removal in removals {
        remove(*removal, &mut failed, &mut failing);
    }
    let others = failing.into_iter().filter(|(_, count)| *count > MOST_FAILURES);
    failed.extend(others.map(|(address, count)| format!("{address}: {} more are not removed", count - MOST_FAILURES)));
    failed
}

/// Removes something, unless too many others at the same host were not removed: thousands would take hours.
fn remove(removal: Removal, failed: &mut Vec<String>, failing: &mut HashMap<String, usize>) {
    let address = removal.address();
    let failures = failing.get(&address).copied().unwrap_or(0);
    if failures < MOST_FAILURES {
        match clock::run(Time::Real, removal.send()).unwrap_or_else(|error| Err(error.to_string())) {
            Ok(()) => {
                failing.remove(&address);
                return;
            }
            Err(why) => failed.push(why),
        }
    }
    failing.insert(address, failures + 1);
}
