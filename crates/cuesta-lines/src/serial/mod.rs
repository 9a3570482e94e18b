//! A serial device as a line. The device itself keeps the line speed.

mod target;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use cuesta_record::{Failure, Stamp, clock};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serial2_tokio::SerialPort;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{Line, OpenError, Opening, Received, Traffic};

pub use target::SerialTarget;

/// Why a device could not be opened as a line.
#[derive(Debug, Error)]
pub enum SerialError {
    #[error("{device} is no serial device ({cause}): see `ls /dev/tty*`, and `dmesg` for one that was plugged in")]
    NoDevice { device: String, cause: io::Error },
    #[error(
        "{device} is in use: each user takes a device of its own, in a group of its own; or another program has it"
    )]
    Busy { device: String },
    #[error("{device} may not be opened: join the group that owns it (often dialout), or run as root")]
    NotPermitted { device: String },
    #[error("{target} cannot be set so ({cause}): choose a speed and a format that the device supports")]
    BadSettings { target: String, cause: io::Error },
}

impl SerialError {
    pub fn failure(&self) -> Failure {
        match self {
            Self::NoDevice { .. } => Failure::NoDevice,
            Self::Busy { .. } => Failure::Busy,
            Self::NotPermitted { .. } => Failure::NotPermitted,
            Self::BadSettings { .. } => Failure::BadSettings,
        }
    }
}

/// A serial device. Closing it hangs up a modem.
pub(crate) struct Serial {
    port: SerialPort,
    /// Locks the device against other lines and programs.
    _lock: File,
    opened: Stamp,
    traffic: Traffic,
}

/// Opens a device and discards what it had received before.
pub(crate) fn open(target: &SerialTarget) -> Result<Serial, OpenError> {
    let failed = |cause| not_opened(target, cause);
    let lock = lock(target).map_err(failed)?;
    let port = SerialPort::open(&target.device, |mut settings: serial2_tokio::Settings| {
        target.apply(&mut settings)?;
        Ok(settings)
    });
    let port = port.map_err(failed)?;
    port.discard_input_buffer().map_err(failed)?;
    Ok(Serial { port, _lock: lock, opened: clock::now(), traffic: Traffic::default() })
}

fn lock(target: &SerialTarget) -> io::Result<File> {
    let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(&target.device)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

fn not_opened(target: &SerialTarget, cause: io::Error) -> OpenError {
    let device = target.device.display().to_string();
    match Errno::from_io_error(&cause) {
        Some(Errno::MFILE | Errno::NFILE) => return OpenError::OutOfFiles { address: device },
        Some(Errno::WOULDBLOCK | Errno::BUSY) => SerialError::Busy { device },
        Some(Errno::ACCESS | Errno::PERM) => SerialError::NotPermitted { device },
        // The error has no number when the device applied other settings than those requested.
        Some(Errno::INVAL) | None => SerialError::BadSettings { target: target.to_string(), cause },
        _ => SerialError::NoDevice { device, cause },
    }
    .into()
}

impl Line for Serial {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let mut buffer = ReadBuf::new(into);
        let outcome = ready!(Pin::new(&mut self.port).poll_read(cx, &mut buffer));
        let at = clock::now();
        match outcome {
            // The device was unplugged, or the other end of a pseudo-terminal pair was closed.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::IO) => {}
            outcome => outcome?,
        }
        let len = buffer.filled().len();
        self.traffic.received += len as u64;
        Poll::Ready(Ok(Received { len, at, ..Received::default() }))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let len = ready!(Pin::new(&mut self.port).poll_write(cx, bytes))?;
        self.traffic.sent += len as u64;
        Poll::Ready(Ok(len))
    }

    fn opening(&self) -> Opening {
        Opening { connected: Some(self.opened), ..Opening::default() }
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}
