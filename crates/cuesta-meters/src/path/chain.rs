//! The bytes of a finished path, as `finished.h` writes them → its hops.

use std::net::{Ipv6Addr, SocketAddr};

use cuesta_record::{HopKind, HopReason, PathHop, PathRow, Stamp};
use syscalls::Sysno;

/// In the order of the programs.
pub(super) const KINDS: [HopKind; 12] = [
    HopKind::OnCpu,
    HopKind::RunQueue,
    HopKind::Waking,
    HopKind::Timer,
    HopKind::Disk,
    HopKind::Sleeping,
    HopKind::NetworkStack,
    HopKind::WorkerQueue,
    HopKind::OthersKeys,
    HopKind::Sent,
    HopKind::Held,
    HopKind::Beyond,
];
const REASONS: [HopReason; 7] = [
    HopReason::Other,
    HopReason::Nagle,
    HopReason::Cork,
    HopReason::Window,
    HopReason::Congestion,
    HopReason::Unseen,
    HopReason::Quota,
];
/// Calls that only a timer ends.
const SLEEPS: [&str; 2] = ["nanosleep", "clock_nanosleep"];

/// Offsets of `struct path`, and its size without visits.
const PORTS: usize = 8;
const OFFSETS: usize = 12;
const TIMES: usize = 32;
const COUNT: usize = 48;
const WHOLE: usize = 52;
const HEAD: usize = 56;
/// Offsets of `struct visit`, and its size.
const ENDED: usize = 8 * KINDS.len();
const CALL: usize = ENDED + 16;
const WHY: usize = CALL + 4;
const TASK: usize = WHY + 4;
const RIVAL: usize = TASK + NAME;
const WAKER: usize = RIVAL + NAME;
const VISIT: usize = WAKER + NAME + 4;
/// The size of `struct name`.
const NAME: usize = 20;

/// Reads a path; `None` if it is malformed.
pub(super) fn read_path(bytes: &[u8]) -> Option<PathRow> {
    let bytes = Bytes(bytes);
    let [local_port, remote_port] = [bytes.u16(PORTS)?, bytes.u16(PORTS + 2)?];
    let is_terminal = local_port == 0;
    let [begun, ended] = [bytes.u64(TIMES)?, bytes.u64(TIMES + 8)?];
    let mut hops = Vec::new();
    for visit in (0..bytes.u32(COUNT)? as usize).rev() {
        add_hops(&bytes.part(HEAD + visit * VISIT, VISIT)?, begun, &mut hops)?;
    }
    Some(PathRow {
        port: (!is_terminal).then_some(remote_port),
        terminal: is_terminal.then(|| u32::from(remote_port)),
        key_from: bytes.u32(OFFSETS)?,
        key_to: bytes.u32(OFFSETS + 4)?,
        echo_from: bytes.u32(OFFSETS + 8)?,
        echo_to: bytes.u32(OFFSETS + 12)?,
        begun: Stamp::from_nanos(begun),
        ns: ended.checked_sub(begun)?,
        whole: bytes.u32(WHOLE)? == 1,
        hops,
    })
}

/// Adds a hop for each kind of time that a visit has.
fn add_hops(visit: &Bytes<'_>, begun: u64, hops: &mut Vec<PathHop>) -> Option<()> {
    let ended = visit.u64(ENDED)?.saturating_sub(begun);
    let (task, pid) = visit.name(TASK)?;
    for (at, kind) in KINDS.into_iter().enumerate() {
        let ns = visit.u64(8 * at)?;
        if ns == 0 {
            continue;
        }
        let call = name_call(visit.u32(CALL)?).filter(|_| is_sleep(kind));
        let why = REASONS.get(visit.u32(WHY)? as usize).copied();
        let is_timer = call.is_some_and(|call| SLEEPS.contains(&call)) && why == Some(HopReason::Unseen);
        let kind = if kind == HopKind::Sleeping && is_timer { HopKind::Timer } else { kind };
        let (other, other_pid) = match kind {
            HopKind::RunQueue => visit.name(RIVAL)?,
            HopKind::Sleeping => visit.name(WAKER)?,
            HopKind::Beyond => (visit.peer(RIVAL)?.to_string(), 0),
            _ => (String::new(), 0),
        };
        let is_beyond = kind == HopKind::Beyond;
        hops.push(PathHop {
            kind,
            task: task.clone(),
            pid,
            call: call.map(str::to_owned),
            other: (!other.is_empty()).then_some(other),
            other_pid: (other_pid > 0).then_some(other_pid),
            why: why.filter(|why| tells_of(*why, kind)),
            port: is_beyond.then_some(u16::try_from(visit.u32(WAKER)?).ok()?),
            sent: is_beyond.then_some(visit.u32(CALL)?),
            answered: is_beyond.then_some(visit.u32(WHY)?),
            ns,
            ended,
        });
    }
    Some(())
}

/// Whether a visit's reason is one of its hops of a kind.
fn tells_of(why: HopReason, kind: HopKind) -> bool {
    match kind {
        HopKind::Held => true,
        HopKind::Sleeping => why == HopReason::Unseen,
        HopKind::RunQueue => why == HopReason::Quota,
        _ => false,
    }
}

fn is_sleep(kind: HopKind) -> bool {
    matches!(kind, HopKind::Timer | HopKind::Disk | HopKind::Sleeping)
}

fn name_call(number: u32) -> Option<&'static str> {
    Sysno::new(number as usize).map(|call| call.name())
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn part(&self, at: usize, length: usize) -> Option<Bytes<'a>> {
        self.0.get(at..at + length).map(Bytes)
    }

    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at + N)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_ne_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_ne_bytes)
    }

    /// Another machine's address and port, as `struct beyond` has them.
    fn peer(&self, at: usize) -> Option<SocketAddr> {
        let address = Ipv6Addr::from(self.array::<16>(at + 4)?).to_canonical();
        Some(SocketAddr::new(address, u16::try_from(self.u32(at)?).ok()?))
    }

    /// A task's name and number, as `struct name` has them: no name if the number is 0.
    fn name(&self, at: usize) -> Option<(String, u32)> {
        let (pid, name) = (self.u32(at)?, self.array::<16>(at + 4)?);
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let name = if pid == 0 { "".into() } else { String::from_utf8_lossy(&name[..end]) };
        Some((name.into_owned(), pid))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn name(pid: u32, comm: &str) -> Vec<u8> {
        let mut bytes = pid.to_ne_bytes().to_vec();
        bytes.extend(comm.as_bytes());
        bytes.resize(NAME, 0);
        bytes
    }

    /// A visit of bash, which was woken by cron, with a time of each given kind.
    fn visit(times: &[(usize, u64)], ended: u64, call: u32, why: u32) -> Vec<u8> {
        let mut ns = [0_u64; KINDS.len()];
        for (kind, time) in times {
            ns[*kind] = *time;
        }
        let mut bytes: Vec<u8> = ns.iter().chain([&ended]).flat_map(|number| number.to_ne_bytes()).collect();
        bytes.extend([1, 0, call, why].iter().flat_map(|number: &u32| number.to_ne_bytes()));
        bytes.extend([name(902, "bash"), name(7, "make"), name(8, "cron")].concat());
        bytes.resize(VISIT, 0);
        bytes
    }

    /// A path that began at 1,000 ns and ended at 1,600 ns; the kernel writes the last visit first.
    fn path(local_port: u16, visits: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![127, 0, 0, 1, 127, 0, 0, 1];
        bytes.extend([local_port, 20_007].iter().flat_map(|port| port.to_ne_bytes()));
        bytes.extend([40, 76, 500, 536, 0].iter().flat_map(|number: &u32| number.to_ne_bytes()));
        bytes.extend([1000, 1600].iter().flat_map(|time: &u64| time.to_ne_bytes()));
        bytes.extend([visits.len() as u32, 1].iter().flat_map(|number| number.to_ne_bytes()));
        bytes.extend(visits.concat());
        bytes
    }

    #[test]
    fn visits_become_hops_in_order_each_with_who_had_to_do_with_it() {
        let held = visit(&[(10, 300)], 1600, 0, 1);
        let shell = visit(&[(0, 50), (1, 100), (5, 120)], 1300, libc::SYS_flock as u32, 0);
        let path = read_path(&path(22, &[held, shell])).unwrap();
        assert_eq!((path.port, path.terminal, path.key_from, path.key_to), (Some(20_007), None, 40, 76));
        assert_eq!((path.echo_from, path.echo_to, path.ns, path.whole), (500, 536, 600, true));
        let hops: Vec<_> = path.hops.iter().map(|hop| (hop.kind, hop.ns, hop.ended, hop.other.as_deref())).collect();
        let wanted = [
            (HopKind::OnCpu, 50, 300, None),
            (HopKind::RunQueue, 100, 300, Some("make")),
            (HopKind::Sleeping, 120, 300, Some("cron")),
            (HopKind::Held, 300, 600, None),
        ];
        assert_eq!(hops, wanted);
        assert_eq!((path.hops[2].call.as_deref(), path.hops[3].why), (Some("flock"), Some(HopReason::Nagle)));
    }

    #[test]
    fn a_sleep_whose_end_was_not_seen_is_told_unless_only_a_timer_ends_it() {
        let kind_of = |call: libc::c_long| {
            let visit = visit(&[(5, 120)], 1300, call as u32, 5);
            let hop = read_path(&path(22, &[visit])).unwrap().hops.remove(0);
            (hop.kind, hop.why)
        };
        assert_eq!(kind_of(libc::SYS_pselect6), (HopKind::Sleeping, Some(HopReason::Unseen)));
        assert_eq!(kind_of(libc::SYS_clock_nanosleep), (HopKind::Timer, None));
    }

    #[test]
    fn another_machine_is_named_by_its_address() {
        let mut visit = visit(&[(11, 400)], 1500, 7000, 9000);
        let peers = [("::ffff:10.0.0.5", "10.0.0.5:22"), ("2001:db8::5", "[2001:db8::5]:22")];
        for (address, name) in peers {
            let address: Ipv6Addr = address.parse().unwrap();
            let peer = [&22_u32.to_ne_bytes()[..], &address.octets(), &43_210_u32.to_ne_bytes()].concat();
            visit[RIVAL..RIVAL + peer.len()].copy_from_slice(&peer);
            let hop = read_path(&path(22, &[visit.clone()])).unwrap().hops.remove(0);
            assert_eq!((hop.kind, hop.ns, hop.other.as_deref()), (HopKind::Beyond, 400, Some(name)));
            assert_eq!((hop.port, hop.sent, hop.answered), (Some(43_210), Some(7000), Some(9000)));
        }
    }

    #[test]
    fn a_terminal_has_a_number_in_place_of_a_port() {
        let path = read_path(&path(0, &[visit(&[(0, 50)], 1300, 0, 0)])).unwrap();
        assert_eq!((path.port, path.terminal), (None, Some(20_007)));
    }

    #[test]
    fn what_is_cut_off_is_no_path() {
        let whole = path(22, &[visit(&[(0, 50)], 1300, 0, 0)]);
        assert!((0..whole.len()).all(|length| read_path(&whole[..length]).is_none()));
    }
}
