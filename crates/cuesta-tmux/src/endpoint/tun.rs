//! The TUN device: what the kernel routes to it is read here, and what is written here the kernel receives.
//!
//! It is not persistent: it goes when its descriptor is closed, also when the agent is killed, and with it the routes to it.
//! A file of its own because making the device is unsafe.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};

use super::EndpointError;

/// A TUN device without addresses; each read and each write is one IP packet.
#[derive(Debug)]
pub(crate) struct Tun(OwnedFd);

impl Tun {
    /// Makes the device `name`, which is down.
    pub(crate) fn new(name: &str) -> Result<Self, EndpointError> {
        if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains(['/', '%', ' ', ':']) {
            let remedy = "write a name of at most 15 characters, such as tmux0";
            return Err(EndpointError::setting("device", format!("{name:?} names no network device"), remedy));
        }
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open("/dev/net/tun", flags, Mode::empty()).map_err(|error| match error {
            rustix::io::Errno::ACCESS | rustix::io::Errno::PERM => {
                EndpointError::system("opening /dev/net/tun")(error.into())
            }
            _ => EndpointError::NoTun(error.into()),
        })?;
        attach(&file, name).map_err(|error| match error.raw_os_error() {
            Some(libc::EBUSY | libc::EINVAL) => {
                let remedy = "give another one, or end the program that has it";
                EndpointError::setting("device", format!("{name} is in use, or of another kind"), remedy)
            }
            _ => EndpointError::system("making a TUN device")(error),
        })?;
        Ok(Self(file))
    }

    /// Reads one packet that this host sends.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.0, into)?)
    }

    /// Gives the kernel one packet to receive.
    pub(crate) fn write(&self, packet: &[u8]) -> io::Result<()> {
        rustix::io::write(&self.0, packet)?;
        Ok(())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn attach(file: &OwnedFd, name: &str) -> io::Result<()> {
    // SAFETY: all zeroes is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: this call reads and writes one ifreq, which outlives it.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
