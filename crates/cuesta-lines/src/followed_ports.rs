//! The local ports of lines that are followed. They say to a tracer in the host's kernel which connections to follow, before a byte comes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use cuesta_record::FOLLOWED_PORTS;
use tokio::net::TcpSocket;

/// Most ports that are tried for one line. Each costs a microsecond of the thread.
const MOST_TRIES: u32 = 256;

/// Ports between the first ones of two processes whose numbers follow one another.
const STRIDE: u32 = 613;

/// How many ports were tried so far.
static TRIED: AtomicU32 = AtomicU32::new(0);

/// Binds a socket to a port that is free. `None` if none was found: the kernel keeps the port of a line that was closed for a minute. The line
/// then has an ordinary port, and is not followed.
pub(crate) fn bind(socket: &TcpSocket, to: SocketAddr) -> Option<u16> {
    bind_to_one(socket, to, (0..MOST_TRIES).map(|_| port(process::id(), TRIED.fetch_add(1, Ordering::Relaxed))))
}

/// Binds a socket to the first of these ports that is free.
fn bind_to_one(socket: &TcpSocket, to: SocketAddr, mut ports: impl Iterator<Item = u16>) -> Option<u16> {
    let any = if to.is_ipv4() { IpAddr::from(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    ports.find(|port| socket.bind(SocketAddr::new(any, *port)).is_ok())
}

/// The port that a process tries as its `turn`th one: processes begin at different ones.
fn port(process: u32, turn: u32) -> u16 {
    let place = process.wrapping_mul(STRIDE).wrapping_add(turn) as usize % FOLLOWED_PORTS.len();
    FOLLOWED_PORTS.start() + place as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_port_that_is_taken_is_passed_over() {
        let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let to = holder.local_addr().unwrap();
        let bind = |ports: &[u16]| bind_to_one(&TcpSocket::new_v4().unwrap(), to, ports.iter().copied());
        assert_eq!(bind(&[to.port()]), None);
        let ports: Vec<_> = std::iter::once(to.port()).chain(FOLLOWED_PORTS).collect();
        assert!(bind(&ports).is_some_and(|port| FOLLOWED_PORTS.contains(&port)));
    }

    #[test]
    fn a_process_tries_each_port_and_the_next_one_begins_elsewhere() {
        let tried: BTreeSet<_> = (0..2000).map(|turn| port(4711, turn)).collect();
        assert!(tried.into_iter().eq(FOLLOWED_PORTS));
        let apart = port(4711, 0).abs_diff(port(4712, 0));
        assert!((500..1500).contains(&apart), "{apart}");
    }
}
