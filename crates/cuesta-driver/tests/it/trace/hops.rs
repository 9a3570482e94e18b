//! Measures how long the machine takes to wake a thread that waits for a character. This time lies between the driver's
//! stamps and the trace's.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_record::clock;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::cpus;

/// Pause between characters, as between keys at 30 a second: long enough for the reader to sleep and to lose its caches.
const PAUSE: Duration = Duration::from_millis(33);

/// Two threads that send characters to each other until the median is read.
pub struct Hops {
    stop: Arc<AtomicBool>,
    sender: JoinHandle<()>,
    receiver: JoinHandle<Vec<u64>>,
}

impl Hops {
    /// Over a pseudo-terminal: each write wakes a worker of the kernel and then the reader.
    pub fn over_a_terminal() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let mut modes = tcgetattr(&slave).unwrap();
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        Self::between(slave, File::from(master))
    }

    /// Over a connection on loopback.
    pub fn over_a_connection() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let writer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        writer.set_nodelay(true).unwrap();
        Self::between(writer, listener.accept().unwrap().0)
    }

    fn between(mut writer: impl Write + Send + 'static, mut reader: impl Read + Send + 'static) -> Self {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, stamp) = (Arc::clone(&stop), Arc::clone(&sent));
        let sender = thread::spawn(move || {
            cpus::pin_to_other(None);
            while !stopped.load(Ordering::Relaxed) {
                thread::park_timeout(PAUSE);
                stamp.store(clock::now().as_nanos(), Ordering::SeqCst);
                writer.write_all(b"x").unwrap();
            }
        });
        let receiver = thread::spawn(move || {
            let mut took = Vec::new();
            // When the writer is dropped, a connection ends and a terminal gives an error.
            while let Ok(1) = reader.read(&mut [0]) {
                took.push(clock::now().as_nanos() - sent.load(Ordering::SeqCst));
            }
            took
        });
        Self { stop, sender, receiver }
    }

    /// The median time of a hop, in seconds.
    pub fn median(self) -> f64 {
        self.stop.store(true, Ordering::Relaxed);
        self.sender.join().unwrap();
        let mut took = self.receiver.join().unwrap();
        took.sort_unstable();
        took[took.len() / 2] as f64 / 1e9
    }
}
