//! Two network namespaces joined by a wire (a veth pair). Each end's packets are received on the CPU of its side (receive packet
//! steering), so that what a CPU does is its side's.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{self, Command};

/// The wire's ends, in their namespaces.
const WIRE: &str = "wire";
/// The beginning of the namespaces' names; the number of the process that made them follows.
const PREFIX: &str = "cuesta-bench-";
/// The folder of iproute2's namespaces.
const NAMESPACES: &str = "/run/netns";
/// Addresses of the driver's and the host's end, in a network reserved for tests (RFC 2544).
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)];

/// One end of the wire.
#[derive(Debug)]
pub(crate) struct Side {
    namespace: String,
    pub(crate) address: IpAddr,
    pub(crate) cpu: usize,
}

/// Both ends. Dropping it deletes the namespaces.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) driver: Side,
    pub(crate) host: Side,
}

impl Wire {
    /// Makes the namespaces (as root).
    pub(crate) fn new((drivers, hosts): (usize, usize)) -> Result<Self, Box<dyn Error>> {
        clear_stale();
        let side = |name, address: Ipv4Addr, cpu| Side {
            namespace: format!("{PREFIX}{}-{name}", process::id()),
            address: address.into(),
            cpu,
        };
        let wire = Self { driver: side("driver", ADDRESSES[0], drivers), host: side("host", ADDRESSES[1], hosts) };
        let (driver, host) = (&wire.driver, &wire.host);
        for side in [driver, host] {
            ip(&["netns", "add", &side.namespace])?;
        }
        let peer = ["type", "veth", "peer", "name", WIRE, "netns", &host.namespace];
        ip(&[&["link", "add", WIRE, "netns", &driver.namespace][..], &peer].concat())?;
        for side in [driver, host] {
            side.set_up()?;
        }
        Ok(wire)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for side in [&self.driver, &self.host] {
            // It may never have been made.
            let _ = ip(&["netns", "delete", &side.namespace]);
        }
    }
}

impl Side {
    /// A command that runs there.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace]).arg(program);
        command
    }

    fn set_up(&self) -> Result<(), Box<dyn Error>> {
        let address = format!("{}/30", self.address);
        ip(&["-n", &self.namespace, "address", "add", &address, "dev", WIRE])?;
        for device in ["lo", WIRE] {
            ip(&["-n", &self.namespace, "link", "set", device, "up"])?;
        }
        let mask = 1_u64.checked_shl(self.cpu as u32).ok_or("a CPU below 64 is needed")?;
        let steer = format!("for queue in /sys/class/net/{WIRE}/queues/rx-*/rps_cpus; do echo {mask:x} >$queue; done");
        run(self.command("sh").args(["-c", &steer]))
    }
}

/// Deletes the namespaces of benches that were killed.
fn clear_stale() {
    let names = fs::read_dir(NAMESPACES).into_iter().flatten().flatten().map(|entry| entry.file_name());
    for name in names.filter_map(|name| name.into_string().ok()) {
        if maker(&name).is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            // Another bench may have deleted it.
            let _ = ip(&["netns", "delete", &name]);
        }
    }
}

/// The process that made a namespace of this name.
fn maker(namespace: &str) -> Option<u32> {
    namespace.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Packets so far at the end of the wire that a process is at, both ways. Linux: `/proc/PID/net/dev`.
pub(crate) fn packets(pid: u32) -> Result<u64, Box<dyn Error>> {
    let table = fs::read_to_string(format!("/proc/{pid}/net/dev"))?;
    let row = table.lines().find_map(|row| row.trim().strip_prefix(WIRE)?.strip_prefix(':'));
    let row = row.ok_or("the process is not at the wire")?;
    let counts: Vec<u64> = row.split_ascii_whitespace().flat_map(str::parse).collect();
    match counts[..] {
        [_, received, _, _, _, _, _, _, _, sent, ..] => Ok(received + sent),
        _ => Err("the kernel's table of interfaces has another form".into()),
    }
}

fn ip(words: &[&str]) -> Result<(), Box<dyn Error>> {
    run(Command::new("ip").args(words))
}

fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let done = command.output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&done.stderr).trim()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_benchs_own_namespaces_have_a_maker() {
        assert_eq!(maker("cuesta-bench-123-driver"), Some(123));
        assert_eq!(maker("cuesta-123-driver"), None);
        assert_eq!(maker("cuesta-bench-driver"), None);
    }

    #[test]
    fn namespaces_of_a_dead_process_are_deleted() {
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let [stale, own] = [ended.id(), process::id()].map(|pid| format!("{PREFIX}{pid}-host"));
        for name in [&stale, &own] {
            ip(&["netns", "add", name]).unwrap();
        }
        clear_stale();
        let exist = [&stale, &own].map(|name| Path::new(NAMESPACES).join(name).exists());
        ip(&["netns", "delete", &own]).unwrap();
        assert_eq!(exist, [false, true]);
    }
}
