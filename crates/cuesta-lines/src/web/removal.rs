//! Removes what sessions leave at the host: a request each, sent by a thread of its own, so that no user waits for it, and that it is sent
//! however the session ended.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
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

enum Order {
    Remove(Box<Removal>),
    /// To be answered with what could not be removed, when all earlier orders are done.
    Report(Sender<Vec<String>>),
}

static ORDERS: LazyLock<Mutex<Option<Sender<Order>>>> = LazyLock::new(Mutex::default);

/// Waits until what sessions left at their hosts is removed. Returns what could not be, one sentence each.
pub fn wait_for_removals() -> Vec<String> {
    // Lines that end meanwhile add orders: the lock is not held.
    let orders = ORDERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(orders) = orders else { return Vec::new() };
    let (report, reported) = mpsc::channel();
    let _ = orders.send(Order::Report(report));
    reported.recv().unwrap_or_else(|_| vec!["nothing is removed: the thread for that does not run".to_owned()])
}

impl Removal {
    /// Has it removed.
    fn queue(self: Box<Self>) {
        let mut orders = ORDERS.lock().unwrap_or_else(PoisonError::into_inner);
        let orders = orders.get_or_insert_with(|| {
            let (orders, received) = mpsc::channel();
            // Without a thread nothing is removed; `wait_for_removals` says so.
            let _ = thread::Builder::new().name("cuesta-removals".into()).spawn(move || work(&received));
            orders
        });
        let _ = orders.send(Order::Remove(self));
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

fn work(orders: &Receiver<Order>) {
    let (mut failed, mut failing) = (Vec::new(), HashMap::new());
    while let Ok(order) = orders.recv() {
        match order {
            Order::Remove(removal) => remove(*removal, &mut failed, &mut failing),
            Order::Report(report) => {
                let others = failing.drain().filter(|(_, count)| *count > MOST_FAILURES);
                failed.extend(
                    others.map(|(address, count)| format!("{address}: {} more are not removed", count - MOST_FAILURES)),
                );
                let _ = report.send(std::mem::take(&mut failed));
            }
        }
    }
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
