//! Removes what sessions leave at the host: a request each, sent by a thread of its own, so that no user waits for it, and that it is sent
//! however the session ended.

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

/// How long the host may take for one.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is to be removed.
pub(super) struct Removal {
    pub(super) target: WebTarget,
    pub(super) options: Options,
    pub(super) headers: Vec<(String, String)>,
    pub(super) cookies: CookieJar,
    pub(super) request: Request,
}

enum Order {
    Remove(Box<Removal>),
    /// To be answered with what could not be removed, when all earlier orders are done.
    Report(Sender<Vec<String>>),
}

static ORDERS: LazyLock<Mutex<Option<Sender<Order>>>> = LazyLock::new(Mutex::default);

/// Waits until what sessions left at their hosts is removed. Returns what could not be, one sentence each.
pub fn wait_for_removals() -> Vec<String> {
    let orders = ORDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(orders) = orders.as_ref() else { return Vec::new() };
    let (report, reported) = mpsc::channel();
    if orders.send(Order::Report(report)).is_err() {
        return Vec::new();
    }
    reported.recv().unwrap_or_default()
}

impl Removal {
    /// Has it removed.
    pub(super) fn queue(self: Box<Self>) {
        let mut orders = ORDERS.lock().unwrap_or_else(PoisonError::into_inner);
        let orders = orders.get_or_insert_with(|| {
            let (orders, received) = mpsc::channel();
            // Without a thread nothing is removed; the report says so.
            let _ = thread::Builder::new().name("cuesta-removals".into()).spawn(move || work(&received));
            orders
        });
        let _ = orders.send(Order::Remove(self));
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
    let mut failed = Vec::new();
    while let Ok(order) = orders.recv() {
        match order {
            Order::Remove(removal) => match clock::run(Time::Real, removal.send()) {
                Ok(Ok(())) => {}
                Ok(Err(why)) => failed.push(why),
                Err(error) => failed.push(error.to_string()),
            },
            Order::Report(report) => {
                let _ = report.send(std::mem::take(&mut failed));
            }
        }
    }
}
