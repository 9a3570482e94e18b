//! The host: its threads, its listeners and its notes.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_lines::{Line, Listener, kind_of};
use cuesta_record::Stamp;
use cuesta_record::clock::{self, Time};
use ipnet::IpNet;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task;

use crate::kernel_path::{self, KernelPath};
use crate::meters::Meters;
use crate::meters::series::{Series, locked, write_each_second};
use crate::meters::snapshot::CounterSnapshot;
use crate::settings::Settings;
use crate::{FrontEnd, HostError, Path, Service, Spec, serve};

/// A host that has descriptors for fewer lines than this has a note about it.
const MANY_LINES: u64 = 10_000;
/// Descriptors for other things than lines: files, event queues, timers.
const OTHER_DESCRIPTORS: u64 = 64;
/// Delay after a failed `accept`: no event announces that the next one will succeed.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// A running host. Dropping it stops it.
#[derive(Debug)]
pub struct Host {
    addresses: Vec<String>,
    notes: Vec<String>,
    first: CounterSnapshot,
    meters: Vec<Arc<Meters>>,
    series: Option<Arc<Mutex<Series>>>,
    threads: Vec<Thread>,
}

/// A thread that runs until it is told to stop.
#[derive(Debug)]
struct Thread {
    stop: Arc<Notify>,
    handle: JoinHandle<()>,
}

impl Host {
    /// Starts a host; when this returns it listens.
    pub fn start(spec: &Spec) -> Result<Self, HostError> {
        let started = clock::now();
        let settings = Settings::resolve(spec, started)?;
        let listeners = listen(spec)?;
        let kernel_paths = kernel_path::for_threads(spec);
        let mut host = Self {
            addresses: listeners.iter().map(|listener| listener.target().to_string()).collect(),
            notes: notes(spec, &listeners, kernel_paths.as_ref().err()),
            first: CounterSnapshot::at_start(started, spec.threads),
            meters: Vec::new(),
            series: None,
            threads: Vec::new(),
        };
        let mut kernel_paths = kernel_paths.unwrap_or_default().into_iter();
        for number in 0..spec.threads {
            let cpu = spec.cpus.as_ref().map(|cpus| cpus[number % cpus.len()]);
            let front = (settings.clone(), kernel_paths.next());
            host.start_thread(number, cpu, front, &listeners, started)?;
        }
        if let Some(folder) = &spec.meters {
            let series = Series::open(folder, host.meters.clone(), host.first.clone())?;
            host.start_series(series, started)?;
        }
        Ok(host)
    }

    /// The addresses that it listens at, as URLs with their actual ports.
    pub fn addresses(&self) -> Vec<String> {
        self.addresses.clone()
    }

    /// Notes for its user: who can reach it, and limits.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The figures since the start.
    pub fn meters(&self) -> Value {
        let mut figures = json!(CounterSnapshot::read(&self.meters).since(&self.first));
        figures["started"] = self.first.at().as_nanos().into();
        figures["notes"] = self.notes.clone().into();
        figures
    }

    /// Ends the current row of the meters' series, if there is a series. Call it when an interval of the caller begins or ends.
    ///
    /// # Errors
    /// When the disk refuses the row.
    pub fn end_row(&self) -> io::Result<()> {
        self.series.as_ref().map_or(Ok(()), |series| locked(series).write_row())
    }

    /// Closes all lines and ends all threads.
    pub fn stop(mut self) {
        self.end();
    }

    /// Starts a thread that serves lines, and waits until it is ready.
    fn start_thread(
        &mut self,
        number: usize,
        cpu: Option<usize>,
        (settings, kernel_path): (Settings, Option<KernelPath>),
        listeners: &[Listener],
        started: Stamp,
    ) -> Result<(), HostError> {
        let cloned: io::Result<Vec<Listener>> = listeners.iter().map(Listener::try_clone).collect();
        let listeners = cloned.map_err(HostError::Thread)?;
        let (ready, is_ready) = mpsc::channel();
        let failed = ready.clone();
        self.spawn(format!("cuesta-host-{number}"), move |stop| {
            let serving = async move {
                let front = FrontEnd::on_thread(settings, kernel_path, number as u64, started);
                serve_listeners(front, listeners, &ready, &stop).await;
            };
            if let Err(error) = pin(cpu).and_then(|()| clock::run(Time::Real, serving)) {
                let _ = failed.send(Err(error));
            }
        })?;
        let gone = || io::Error::other("the thread ended at once");
        let meters = is_ready.recv().unwrap_or_else(|_| Err(gone())).map_err(HostError::Thread)?;
        self.meters.push(meters);
        Ok(())
    }

    /// Starts the thread that writes the meters: a slow disk must not hold up a line.
    fn start_series(&mut self, series: Series, started: Stamp) -> Result<(), HostError> {
        let series = Arc::new(Mutex::new(series));
        self.series = Some(Arc::clone(&series));
        self.spawn("cuesta-meters".to_owned(), move |stop| {
            // Without a timer only the last row is written.
            let _ = clock::run(Time::Real, async move {
                task::spawn_local(write_each_second(series, started));
                stop.notified().await;
            });
        })
    }

    fn spawn(&mut self, name: String, body: impl FnOnce(Arc<Notify>) + Send + 'static) -> Result<(), HostError> {
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let handle = thread::Builder::new().name(name).spawn(move || body(stopped)).map_err(HostError::Thread)?;
        self.threads.push(Thread { stop, handle });
        Ok(())
    }

    /// Stops the threads in reverse order: the series reads the others' counters, and writes its last row when it is dropped.
    fn end(&mut self) {
        self.series = None;
        while let Some(Thread { stop, handle }) = self.threads.pop() {
            stop.notify_one();
            // A panic has been reported where it happened.
            let _ = handle.join();
        }
        // When the host has stopped, all its programs have ended.
        cuesta_lines::wait_for_ended_programs();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

/// Binds all addresses. Anybody who reaches a shell acts as the host's user, so a service that runs programs listens on this
/// machine only, unless `allow` names networks.
fn listen(spec: &Spec) -> Result<Vec<Listener>, HostError> {
    if spec.listen.is_empty() {
        return Err(HostError::setting("listen", "there is no address", "write telnet://127.0.0.1:0"));
    }
    let allowed = spec.allow.iter().map(|text| parse_network(text)).collect::<Result<Vec<_>, _>>()?;
    let listeners = spec.listen.iter().map(|url| bind(url, &spec.service)).collect::<Result<Vec<_>, _>>()?;
    let open = listeners.iter().find(|listener| !listener.is_loopback());
    if let (Some(command), true, Some(open)) = (spec.service.command(), allowed.is_empty(), open) {
        let what = if matches!(spec.service, Service::Shell { .. }) { "a shell" } else { command };
        let problem = format!("{} would give {what} to anybody who connects", open.target());
        return Err(HostError::setting("listen", problem, "listen at 127.0.0.1, or name who may: --allow 10.1.2.0/24"));
    }
    Ok(listeners.into_iter().map(|listener| listener.allow(allowed.clone())).collect())
}

fn bind(url: &str, service: &Service) -> Result<Listener, HostError> {
    let refused = || {
        let problem = format!("the built-in host cannot listen at {url:?}");
        HostError::setting("listen", problem, service.addresses())
    };
    match url.parse() {
        Ok(target) if service.serves(&target) => Listener::bind(&target).map_err(HostError::Listen),
        // What is wrong with it matters only where such lines are served at all.
        Err(error) if kind_of(url).is_some_and(|kind| kind.last_phase != "login") => Err(error.into()),
        _ => Err(refused()),
    }
}

fn parse_network(text: &str) -> Result<IpNet, HostError> {
    let parsed = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let remedy = "write an address or a network, such as 10.1.2.3 or 10.1.2.0/24";
    parsed.map_err(|_| HostError::setting("allow", format!("{text:?} is no network"), remedy))
}

/// Notes for its user: who can reach it, how many lines fit, if that is few, and why the in-kernel path is not used, if it was
/// wanted.
fn notes(spec: &Spec, listeners: &[Listener], no_kernel_path: Option<&String>) -> Vec<String> {
    let path = no_kernel_path.map(|why| format!("lines are relayed in user space, not by the in-kernel path: {why}"));
    listeners
        .iter()
        .filter_map(|listener| note_reach(spec, listener))
        .chain(note_descriptors(spec))
        .chain(path)
        .collect()
}

/// Who can reach an address, unless only this machine can.
fn note_reach(spec: &Spec, listener: &Listener) -> Option<String> {
    if listener.is_loopback() {
        return None;
    }
    let who = if spec.allow.is_empty() { "anybody who reaches this machine".to_owned() } else { spec.allow.join(", ") };
    Some(match spec.service.command() {
        Some(command) => format!(
            "{} gives `{command}` as user {} to {who}: no password is asked",
            listener.target(),
            rustix::process::getuid().as_raw()
        ),
        None => format!("{} listens beyond this machine: {who} can type at it", listener.target()),
    })
}

/// How many lines fit, if that is few.
fn note_descriptors(spec: &Spec) -> Option<String> {
    // A program needs a pseudo-terminal or a socket, of which the in-kernel path has both ends open, and a pidfd as well.
    let per_line = match (spec.service.command(), spec.path) {
        (Some(_), Path::Kernel) => 4,
        (Some(_), Path::User) => 3,
        (None, _) => 1,
    };
    let limit = getrlimit(Resource::Nofile).current?;
    let lines = limit.saturating_sub(OTHER_DESCRIPTORS) / per_line;
    let needed = MANY_LINES * per_line + OTHER_DESCRIPTORS;
    (lines < MANY_LINES).then(|| {
        format!(
            "{limit} file descriptors are room for about {lines} lines; for {MANY_LINES} set `ulimit -n {needed}` first"
        )
    })
}

fn pin(cpu: Option<usize>) -> io::Result<()> {
    let Some(cpu) = cpu else { return Ok(()) };
    let no_such =
        || io::Error::new(io::ErrorKind::InvalidInput, format!("cpus: this machine lets no thread run on CPU {cpu}"));
    if cpu >= CpuSet::MAX_CPU {
        return Err(no_such());
    }
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).map_err(|_| no_such())
}

/// Serves the lines that this thread accepts until it is told to stop. Running services end with the runtime.
async fn serve_listeners(
    front: Rc<FrontEnd>,
    listeners: Vec<Listener>,
    ready: &Sender<io::Result<Arc<Meters>>>,
    stop: &Notify,
) {
    let _ = ready.send(Ok(Arc::clone(&front.meters)));
    if let Some(path) = &front.kernel_path {
        task::spawn_local(Rc::clone(path).watch());
    }
    for listener in listeners {
        task::spawn_local(accept(listener, Rc::clone(&front)));
    }
    stop.notified().await;
}

async fn accept(listener: Listener, front: Rc<FrontEnd>) {
    let mut spare = SpareDescriptor(None);
    loop {
        spare.restock();
        match listener.accept().await {
            Ok(line) => open(line, &front),
            Err(error) if spare.close_for(&error) => {
                // The spare descriptor lets one more line be accepted. It is served if a new spare can be opened, and closed
                // otherwise, which is better than letting it wait.
                let line = listener.accept().await;
                spare.restock();
                match line {
                    Ok(line) if spare.0.is_some() => open(line, &front),
                    line => {
                        drop(line);
                        refuse(&front);
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refuse(&front),
            Err(_) => clock::sleep_until(clock::now() + AFTER_FAILURE).await,
        }
    }
}

fn open(line: Box<dyn Line>, front: &Rc<FrontEnd>) {
    task::spawn_local(serve(line, Rc::clone(front)));
}

/// Counts a line that was refused.
fn refuse(front: &FrontEnd) {
    front.meters.connections.lock().expect("no panic under this lock").refused += 1;
}

/// A spare descriptor, closed when no others are left.
struct SpareDescriptor(Option<File>);

impl SpareDescriptor {
    /// Opens it again if there are descriptors again.
    fn restock(&mut self) {
        if self.0.is_none() {
            self.0 = File::open("/dev/null").ok();
        }
    }

    /// Closes it if `error` is a lack of descriptors; true if it was open.
    fn close_for(&mut self, error: &io::Error) -> bool {
        let missing = [Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error()));
        missing.contains(&error.raw_os_error()) && self.0.take().is_some()
    }
}
