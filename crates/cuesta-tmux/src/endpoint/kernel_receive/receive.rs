//! Loads the program and puts it at the interfaces to the peers.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::{ErrorKind, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, set_print};

use super::memory::Counters;
use super::{ReceivedInKernel, link};
use crate::endpoint::routing::{self, Path};

/// Made by `build.rs` from `receive.bpf.c`.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/receive.bpf.o"));

/// The program at the interfaces. Dropping it takes it away.
#[derive(Debug)]
pub(crate) struct KernelReceive {
    _links: Vec<OwnedFd>,
    _object: Object,
    counters: Counters,
    /// What the counters were, by peer.
    last: Vec<ReceivedInKernel>,
}

impl KernelReceive {
    /// Receives from the peers of IPv4 at the ends of `paths` into the TUN device.
    ///
    /// # Errors
    /// Why the agent must receive everything itself.
    pub(crate) fn start(paths: &[Path], device: &str) -> Result<Self, String> {
        let interfaces: BTreeSet<&str> =
            paths.iter().filter(|path| path.peer.is_ipv4()).map(|path| path.interface.as_str()).collect();
        if interfaces.is_empty() {
            return Err("it is for peers of IPv4".to_owned());
        }
        set_print(None);
        let object = ObjectBuilder::default()
            .open_memory(PROGRAM)
            .and_then(libbpf_rs::OpenObject::load)
            .map_err(|error| refusal(&error))?;
        let map = |name: &str| {
            let found = object.maps().find(|map| map.name() == name).ok_or_else(|| format!("it has no map {name}"))?;
            MapHandle::try_from(&found).map_err(|error| refusal(&error))
        };
        let counters = Counters::map(map("heard")?.as_fd(), paths.len()).map_err(|error| error.to_string())?;
        let device = routing::link(device).map_err(|error| error.to_string())?;
        tell_peers(&map("peers")?, paths, device.number)?;
        let program = object.progs().next().ok_or("it has no program")?;
        let attach = |interface: &str| {
            link::at_interface(program.as_fd(), ethernet(interface)?)
                .map_err(|error| format!("{interface}: the kernel does not take it: {error}"))
        };
        let links = interfaces.into_iter().map(attach).collect::<Result<_, _>>()?;
        let last = vec![ReceivedInKernel::default(); paths.len()];
        Ok(Self { _links: links, _object: object, counters, last })
    }

    /// What was received from a peer since the last call, if anything was.
    pub(crate) fn news(&mut self, peer: usize) -> Option<ReceivedInKernel> {
        let now = self.counters.read(peer);
        let before = std::mem::replace(self.last.get_mut(peer)?, now);
        now.since(before)
    }
}

impl ReceivedInKernel {
    /// What is new; `None` if nothing is. The program changes one count after the other, so that each may be new by itself.
    fn since(self, before: Self) -> Option<Self> {
        (self != before).then(|| Self {
            at: self.at,
            messages: self.messages - before.messages,
            segments: self.segments - before.segments,
            octets: self.octets - before.octets,
            lost: self.lost - before.lost,
        })
    }
}

/// Writes the addresses of each peer of IPv4, with its number and that of the TUN device.
fn tell_peers(peers: &MapHandle, paths: &[Path], device: u32) -> Result<(), String> {
    for (number, path) in paths.iter().enumerate() {
        if let (IpAddr::V4(peer), IpAddr::V4(own)) = (path.peer, path.own) {
            let number = u32::try_from(number).map_err(|_| "too many peers")?;
            let value = [number.to_ne_bytes(), device.to_ne_bytes()].concat();
            peers.update(&addresses(peer, own), &value, MapFlags::ANY).map_err(|error| refusal(&error))?;
        }
    }
    Ok(())
}

/// `struct addresses` of a datagram from `peer`.
fn addresses(peer: Ipv4Addr, own: Ipv4Addr) -> Vec<u8> {
    [peer.octets(), own.octets()].concat()
}

/// The number of an interface with Ethernet headers.
fn ethernet(name: &str) -> Result<i32, String> {
    let link = routing::link(name).map_err(|error| error.to_string())?;
    if !link.is_ethernet {
        return Err(format!("{name} is no Ethernet"));
    }
    i32::try_from(link.number).map_err(|error| error.to_string())
}

fn refusal(error: &libbpf_rs::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "only root, or a process with CAP_BPF and CAP_NET_ADMIN, may do it".to_owned(),
        _ => format!("the kernel does not take it: {error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_read_while_the_program_changes_them_are_not_lost() {
        let before = ReceivedInKernel { messages: 1, segments: 3, octets: 99, ..ReceivedInKernel::default() };
        let between = ReceivedInKernel { messages: 2, ..before };
        let after = ReceivedInKernel { segments: 7, octets: 250, lost: 1, ..between };
        assert_eq!(between.since(before), Some(ReceivedInKernel { messages: 1, ..ReceivedInKernel::default() }));
        assert_eq!(
            after.since(between),
            Some(ReceivedInKernel { segments: 4, octets: 151, lost: 1, ..ReceivedInKernel::default() })
        );
        assert_eq!(after.since(after), None);
    }
}
