//! Loads the programs, and reads what they have followed.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;

use cuesta_record::{FOLLOWED_PORTS, PathCounts, PathRecord, clock};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;
use libbpf_rs::{Link, Map, MapCore, MapFlags, Object, ObjectBuilder, OpenObject, RingBufferBuilder, set_print};

use super::{FollowSpec, chain};
use crate::traced::{TYPES, no_types, refusal};

/// Made by `build.rs` from `path.bpf.c`.
pub(crate) const PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/path.bpf.o"));

/// Tracepoints that a kernel may lack: the kinds of hops that then have no figure, if any, and what is not told apart.
const MAY_LACK: [(&str, &str); 8] = [
    ("tcp_sendmsg_locked", "sent, held: how long TCP held an echo back counts as network"),
    ("sock_send_length", "held: what TCP held back counts as sent"),
    ("sock_recv_length", "no path: of a key that comes while its reader runs"),
    ("workqueue_queue_work", "worker_queue: no path goes through a terminal"),
    ("workqueue_execute_start", "worker_queue: no path goes through a terminal"),
    ("workqueue_execute_end", "no path: of a key through a terminal whose reader is awake"),
    ("hrtimer_expire_entry", "timer: what a timer ends counts as sleeping"),
    ("inet_sock_set_state", "no path: of a login"),
];

/// The running programs. They stop when it is dropped.
pub struct Follower {
    object: Object,
    _links: Vec<Link>,
    missing: Vec<String>,
    /// The counts that were told last.
    counts: Option<PathCounts>,
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("missing", &self.missing).finish_non_exhaustive()
    }
}

impl Follower {
    /// Starts to follow.
    ///
    /// # Errors
    /// The reason, and the remedy.
    pub fn start(spec: FollowSpec) -> Result<Self, String> {
        if !Path::new(TYPES).exists() {
            return Err(no_types());
        }
        set_print(None);
        let mut open = ObjectBuilder::default().open_memory(PROGRAMS).map_err(refusal)?;
        let types = Btf::from_path(TYPES).map_err(refusal)?;
        let has_point = |point: &str| types.type_by_name::<Typedef<'_>>(&format!("btf_trace_{point}")).is_some();
        let lacking = leave_out_missing(&mut open, has_point)?;
        let sees_writes = !lacking.contains(&"tcp_sendmsg_locked");
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy().ends_with(".rodata") {
                map.set_initial_value(&settings(spec, sees_writes)).map_err(refusal)?;
            }
        }
        let object = open.load().map_err(refusal)?;
        let mut links = Vec::new();
        for program in object.progs_mut().filter(|program| program.autoload()) {
            links.push(program.attach().map_err(refusal)?);
        }
        let missing = MAY_LACK.iter().filter(|(point, _)| lacking.contains(point));
        let missing = missing.map(|(point, what)| format!("{what} (this kernel has no tracepoint {point})")).collect();
        Ok(Self { object, _links: links, missing, counts: None })
    }

    /// What has finished since the last call, and what is counted so far if that has changed, as rows of `paths.jsonl`.
    ///
    /// # Errors
    /// If the kernel's buffer cannot be read.
    pub fn read_rows(&mut self) -> Result<String, String> {
        let (at, mut rows) = (clock::now(), String::new());
        let counts = Some(self.read_counts());
        let paths = self.map("paths");
        let mut ring = RingBufferBuilder::new();
        let add = |bytes: &[u8]| {
            if let Some(path) = chain::read_path(bytes) {
                add_row(&PathRecord { host_at: at, path: Some(path), counts: None }, &mut rows);
            }
            0
        };
        ring.add(&paths, add).map_err(refusal)?;
        let ring = ring.build().map_err(refusal)?;
        ring.consume().map_err(refusal)?;
        drop((ring, paths));
        if counts != self.counts {
            add_row(&PathRecord { host_at: at, path: None, counts: counts.clone() }, &mut rows);
            self.counts = counts;
        }
        Ok(rows)
    }

    fn read_counts(&self) -> PathCounts {
        let counts = self.map("counts");
        let read = |which: u32| {
            let bytes = counts.lookup(&which.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
            bytes.try_into().map_or(0, u64::from_ne_bytes)
        };
        PathCounts { keys: read(0), finished: read(1), lost: read(2), unknown: read(3), missing: self.missing.clone() }
    }

    fn map(&self, name: &str) -> Map<'_> {
        self.object.maps().find(|map| map.name() == name).expect("the object has it")
    }
}

fn add_row(record: &PathRecord, rows: &mut String) {
    rows.push_str(&serde_json::to_string(record).expect("its keys are text"));
    rows.push('\n');
}

/// Leaves out programs whose tracepoints this kernel lacks, and names these.
fn leave_out_missing(open: &mut OpenObject, has_point: impl Fn(&str) -> bool) -> Result<Vec<&'static str>, String> {
    let mut missing = Vec::new();
    for mut program in open.progs_mut() {
        let section = program.section().to_string_lossy().into_owned();
        let point = section.strip_prefix("tp_btf/").unwrap_or_default();
        if has_point(point) {
            continue;
        }
        let Some((known, _)) = MAY_LACK.iter().find(|(known, _)| *known == point) else {
            return Err(format!("this kernel has no tracepoint {point}, without which no key can be followed"));
        };
        program.set_autoload(false);
        missing.push(*known);
    }
    Ok(missing)
}

/// In the form of `settings` in `connections.h`.
fn settings(spec: FollowSpec, sees_writes: bool) -> Vec<u8> {
    let ports = if spec.from.is_some() { 1..=u16::MAX } else { FOLLOWED_PORTS };
    let ports = [ports.start(), ports.end()].map(|port| port.to_ne_bytes()).concat();
    // Which keys are controls the driver tells by its own ports.
    let flags = [spec.terminals, spec.controls && spec.from.is_none(), sees_writes, false].map(u8::from);
    let from = spec.from.map_or(0, fold).to_ne_bytes();
    [ports, flags.to_vec(), from.to_vec()].concat()
}

/// Of an address 32 bits, as `fold` of `connections.h`.
fn fold(address: IpAddr) -> u32 {
    match address.to_canonical() {
        IpAddr::V4(address) => u32::from_ne_bytes(address.octets()),
        IpAddr::V6(address) => {
            let octets = address.octets();
            octets.as_chunks::<4>().0.iter().fold(0, |all, word| all ^ u32::from_ne_bytes(*word))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use libbpf_rs::ProgramImpl;

    use super::*;

    fn open() -> OpenObject {
        set_print(None);
        ObjectBuilder::default().open_memory(PROGRAMS).unwrap()
    }

    #[test]
    #[ignore = "nightly"]
    fn what_a_kernel_lacks_is_left_out_and_the_rest_is_accepted() {
        for (lacking, _) in MAY_LACK {
            let mut open = open();
            assert_eq!(leave_out_missing(&mut open, |point| point != lacking).unwrap(), [lacking]);
            let object = open.load().unwrap();
            let running = object.progs().filter(ProgramImpl::autoload).count();
            assert_eq!(running + 1, object.progs().count(), "without {lacking}");
        }
    }

    #[test]
    fn what_is_lacking_begins_with_kinds_of_hops_or_with_no_path() {
        let kinds: Vec<_> = chain::KINDS.iter().map(|kind| serde_json::to_string(kind).unwrap()).collect();
        for (_, what) in MAY_LACK {
            let names = what.split_once(": ").unwrap().0;
            let is_kind = |name: &str| kinds.contains(&format!("{name:?}"));
            assert!(names == "no path" || names.split(", ").all(is_kind), "{what}");
        }
    }

    #[test]
    fn a_kernel_without_what_every_path_needs_is_refused() {
        let refused = leave_out_missing(&mut open(), |point| point != "sched_switch").unwrap_err();
        assert!(refused.contains("sched_switch"), "{refused}");
    }
}
