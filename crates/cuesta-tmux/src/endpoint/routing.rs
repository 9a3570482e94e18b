//! Policy routing: which of this host's segments go to the TUN device.
//!
//! A routing table of the agent's own has only routes to peers, by the TUN device; rules send the chosen ports there. When the
//! device goes, the table is empty, and the rules fall through to the main table. The rules are of packets that this host makes
//! (`iif lo`): what it forwards has others' addresses. They are of packets without a mark: the agent marks its own, and these find
//! their way by whatever other rules there are, such as those of a tunnel. (No rule is negated: `ip rule add not …` negates all of
//! the rule.)

use std::fs;
use std::net::IpAddr;

use serde_json::Value;

use super::ip::{self, Version};
use super::{EndpointError, EndpointSpec};

/// The mark of the agent's own packets.
pub(crate) const MARK: u32 = 0x1692;
const TABLE: &str = "1692";
/// The order of the rules.
const RULE: u32 = 1692;
/// The order of rules that only note the value of a device's `rp_filter` before it was changed, for whoever cleans up after an agent
/// that was killed: the order is this much and the value. They change nothing, because the table has no route to [`NOWHERE`].
const NOTE_RULE: u32 = 1690;
const NOWHERE: &str = "255.255.255.255";
/// Segments that may wait in the TUN device.
pub(crate) const QUEUE: usize = 10_000;

/// The kernel's way to a peer, without the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) peer: IpAddr,
    /// The address that this host uses towards it.
    pub(crate) own: IpAddr,
    pub(crate) interface: String,
    /// The largest packet, in octets.
    pub(crate) mtu: usize,
}

/// The rules. Dropping it removes them, and restores what was changed.
#[derive(Debug)]
pub(crate) struct Routing;

/// The ways to all peers.
pub(crate) fn paths(spec: &EndpointSpec) -> Result<Vec<Path>, EndpointError> {
    spec.peers.iter().map(|peer| path(*peer, spec.interface.as_deref())).collect()
}

fn path(peer: IpAddr, interface: Option<&str>) -> Result<Path, EndpointError> {
    let no_route = |why: &str| EndpointError::NoRoute { peer, why: why.to_owned() };
    let found = route_to(peer, interface, 0)?;
    let marked = route_to(peer, interface, MARK)?;
    if ["dev", "prefsrc", "gateway", "table"].iter().any(|name| found[0][name] != marked[0][name]) {
        return Err(no_route(&format!("a rule sends packets with the mark {MARK:#x}, the agent's, another way")));
    }
    let text = |name: &str| found[0][name].as_str().map(str::to_owned);
    if found[0]["type"].as_str().is_some_and(|kind| kind != "unicast") {
        return Err(no_route("it is this host's own address, or a group of hosts"));
    }
    let interface = text("dev").ok_or_else(|| no_route("the route has no device"))?;
    let own = text("prefsrc").and_then(|address| address.parse().ok());
    let own = own.ok_or_else(|| no_route("this host has no address towards it"))?;
    let of_route = found[0]["metrics"][0]["mtu"].as_u64();
    let mtu = of_route.map_or_else(|| link(&interface).map(|link| link.mtu), |mtu| Ok(mtu as usize))?;
    Ok(Path { peer, own, interface, mtu })
}

/// A network device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) number: u32,
    /// Its packets have an Ethernet header.
    pub(crate) is_ethernet: bool,
    /// The largest packet, in octets.
    pub(crate) mtu: usize,
}

/// What the kernel says of a device.
pub(crate) fn link(name: &str) -> Result<Link, EndpointError> {
    let shown = ip::show(Version::V4, &["link", "show", "dev", name])?;
    let number = |what: &str| shown[0][what].as_u64();
    Ok(Link {
        number: number("ifindex").and_then(|number| u32::try_from(number).ok()).unwrap_or_default(),
        is_ethernet: shown[0]["link_type"] == "ether",
        mtu: number("mtu").unwrap_or(1500) as usize,
    })
}

/// What the kernel says of the way that packets with `mark` take.
fn route_to(peer: IpAddr, interface: Option<&str>, mark: u32) -> Result<Value, EndpointError> {
    let (address, mark) = (peer.to_string(), mark.to_string());
    let mut words = vec!["route", "get", &address, "mark", &mark];
    words.extend(interface.iter().flat_map(|name| ["oif", name]));
    ip::show(version(peer), &words).map_err(|error| match error {
        EndpointError::Ip { why, .. } => EndpointError::NoRoute { peer, why },
        other => other,
    })
}

impl Routing {
    /// Brings up the TUN device with `mtu`, and sends the segments that `spec` chooses to it.
    pub(crate) fn set_up(spec: &EndpointSpec, paths: &[Path], mtu: usize) -> Result<Self, EndpointError> {
        let device = &spec.device;
        let has_v6 = paths.iter().any(|path| path.peer.is_ipv6());
        // The device needs no address, so the kernel need not make one, nor ask for routers.
        let quiet = if has_v6 { "addrgenmode none" } else { "" };
        if !has_v6 {
            let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6"), "1"); // without IPv6 no such file
        }
        let shape = format!("link set dev {device} mtu {mtu} txqueuelen {QUEUE} {quiet}");
        ip::batch(Version::V4, &[shape, format!("link set dev {device} up")])?;
        let routing = Self;
        for path in paths.iter().filter(|path| path.peer.is_ipv4()) {
            allow_asymmetric_paths(&path.interface, Some(NOTE_RULE))?;
        }
        allow_asymmetric_paths(device, None)?;
        for version in [Version::V4, Version::V6] {
            let mut commands = routes(spec, paths, version);
            if !commands.is_empty() {
                commands.extend(rules(spec, version));
                ip::batch(version, &commands)?;
            }
        }
        Ok(routing)
    }
}

impl Drop for Routing {
    fn drop(&mut self) {
        let _ = remove_stale_rules();
    }
}

fn routes(spec: &EndpointSpec, paths: &[Path], version_of_ip: Version) -> Vec<String> {
    let of_version = paths.iter().filter(|path| version(path.peer) == version_of_ip);
    of_version
        .map(|Path { peer, own, .. }| format!("route add {peer} dev {} src {own} table {TABLE}", spec.device))
        .collect()
}

fn rules(spec: &EndpointSpec, version: Version) -> Vec<String> {
    let protocols: &[&str] = if spec.multiplex_udp { &["tcp", "udp"] } else { &["tcp"] };
    // Checks of source addresses look at ports only while there is such a rule: rules of this host's own packets do not count.
    let mut rules = match version {
        Version::V4 => vec![format!("rule add pref {RULE} ipproto tcp to {NOWHERE} lookup {TABLE}")],
        Version::V6 => Vec::new(), // it has no such checks
    };
    for protocol in protocols {
        let rule = format!("rule add pref {RULE} iif lo fwmark 0/0xffffffff ipproto {protocol}");
        let lookup = format!("lookup {TABLE}");
        if spec.ports.is_empty() {
            rules.push(format!("{rule} {lookup}"));
        }
        for port in &spec.ports {
            rules.push(format!("{rule} sport {port} {lookup}"));
            rules.push(format!("{rule} dport {port} {lookup}"));
        }
    }
    rules
}

/// Removes rules, also those of an agent that was killed, and restores what they note; false if there were none.
pub(crate) fn remove_stale_rules() -> Result<bool, EndpointError> {
    let mut any = false;
    for version in [Version::V4, Version::V6] {
        let Ok(shown) = ip::show(version, &["rule", "show"]) else { continue }; // without IPv6 there are none
        let ours = || shown.as_array().into_iter().flatten().filter(|rule| rule["table"] == TABLE);
        let deletions: Vec<String> =
            ours().map(|rule| format!("rule del pref {} lookup {TABLE}", rule["priority"])).collect();
        ip::batch(version, &deletions)?;
        ours().for_each(restore);
        any |= !deletions.is_empty();
    }
    Ok(any)
}

/// Makes the kernel take a peer's packets from `device` though the route to the peer is another: a check of source addresses that
/// is strict (1) becomes loose (2). The larger value of the device's and of all devices' counts. The value before is noted by a rule
/// of order `note` plus this value, if it must be restored.
fn allow_asymmetric_paths(device: &str, note: Option<u32>) -> Result<(), EndpointError> {
    let (before, all) = (rp_filter(device), rp_filter("all"));
    if before.max(all) != Some(1) {
        return Ok(());
    }
    if let Some(note) = note {
        let order = note + before.unwrap_or_default();
        ip::batch(Version::V4, &[format!("rule add pref {order} iif {device} to {NOWHERE} lookup {TABLE}")])?;
    }
    let _ = fs::write(rp_filter_file(device), "2"); // where it may not be written, only plain segments of peers are dropped
    Ok(())
}

/// Restores what a rule notes, unless somebody has changed it since.
fn restore(rule: &Value) {
    let Some(device) = rule["iif"].as_str().filter(|device| rp_filter(device) == Some(2)) else { return };
    let before = rule["priority"].as_u64().and_then(|order| order.checked_sub(NOTE_RULE.into()));
    if let Some(before @ 0..=1) = before {
        let _ = fs::write(rp_filter_file(device), before.to_string());
    }
}

fn rp_filter(device: &str) -> Option<u32> {
    fs::read_to_string(rp_filter_file(device)).ok()?.trim().parse().ok()
}

fn rp_filter_file(device: &str) -> String {
    format!("/proc/sys/net/ipv4/conf/{device}/rp_filter")
}

fn version(address: IpAddr) -> Version {
    if address.is_ipv4() { Version::V4 } else { Version::V6 }
}
