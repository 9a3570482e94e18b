//! The bytes of a finished path, as `finished.h` writes them → its hops.

use cuesta_record::{HopKind, HopReason, PathHop, PathRow, Stamp};
use syscalls::Sysno;

/// In the order of the programs.
const KINDS: [HopKind; 11] = [
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
];
const REASONS: [HopReason; 6] =
    [HopReason::Other, HopReason::Nagle, HopReason::Cork, HopReason::Window, HopReason::Congestion, HopReason::Unseen];
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
        let (other, other_pid) = match kind {
            HopKind::RunQueue => visit.name(RIVAL)?,
            HopKind::Sleeping => visit.name(WAKER)?,
            _ => (String::new(), 0),
        };
        hops.push(PathHop {
            kind: if kind == HopKind::Sleeping && is_timer { HopKind::Timer } else { kind },
            task: task.clone(),
            pid,
            call: call.map(str::to_owned),
            other: (!other.is_empty()).then_some(other),
            other_pid: (other_pid > 0).then_some(other_pid),
            why: why.filter(|why| kind == HopKind::Held || (kind == HopKind::Sleeping && *why == HopReason::Unseen)),
            ns,
            ended,
        });
    }
    Some(())
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

    /// A task's name and number, as `struct name` has them: no name if the number is 0.
    fn name(&self, at: usize) -> Option<(String, u32)> {
        let (pid, name) = (self.u32(at)?, self.array::<16>(at + 4)?);
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let name = if pid == 0 { "".into() } else { String::from_utf8_lossy(&name[..end]) };
        Some((name.into_owned(), pid))
    }
}
