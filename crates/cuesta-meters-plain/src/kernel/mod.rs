//! The kernel's interfaces, one file each, all of one shape: text in, numbers out; no file is read here.
//!
//! | file | interface | says |
//! |---|---|---|
//! | [`stat`] | `/proc/stat` | CPU time by use, interrupts, switches, forks |
//! | [`vmstat`] | `/proc/vmstat` | page faults of the machine, processes killed for want of memory |
//! | [`diskstats`] | `/proc/diskstats` | what block devices did |
//! | [`netstat`] | `/proc/net/netstat` | connections that a full queue dropped |
//! | [`conntrack`] | `/proc/net/stat/nf_conntrack` | packets that connection tracking dropped |
//! | [`udp`] | `/proc/net/udp` | look-ups of names under way |
//! | [`net_dev`] | `/proc/net/dev` | what network interfaces carried |
//! | [`interrupts`] | `/proc/interrupts`, `/proc/softirqs` | interrupts by CPU |
//! | [`pressure`] | `/proc/pressure/*`, `*.pressure` of cgroups | stall (PSI) |
//! | [`loadavg`] | `/proc/loadavg` | the load average |
//! | [`sched`] | `/proc/schedstat` | run-queue delay and wake-ups by CPU |
//! | [`schedstat`] | `/proc/PID/schedstat` | exact CPU time and run-queue delay of a task |
//! | [`pid_stat`] | `/proc/PID/stat` | a process: CPU, faults, block-I/O delay, parent |
//! | [`pid_status`] | `/proc/PID/status` | context switches of a task, the CPUs it may use |
//! | [`pid_cgroup`] | `/proc/PID/cgroup` | the control groups of a process |
//! | [`cgroup`] | `cpu.stat`, `cpu.max`, `memory.stat` … | CPU, quota and faults of a control group |
//! | [`taskstats`] | netlink `TASKSTATS` | the last account of a task that ended |
//! | [`proc_events`] | netlink, process connector | who was forked by whom |
//! | [`sshd`] | titles and configuration of sshd | its limits of logins |
//! | [`cpu_list`] | `0-3,8` wherever it stands | |

pub use cuesta_meters_report::cpu_list;

pub mod cgroup;
pub mod conntrack;
pub mod diskstats;
pub mod interrupts;
pub mod loadavg;
pub mod net_dev;
pub mod netstat;
pub mod pid_cgroup;
pub mod pid_stat;
pub mod pid_status;
pub mod pressure;
pub mod proc_events;
pub mod sched;
pub mod schedstat;
pub mod sshd;
pub mod stat;
pub mod taskstats;
pub mod udp;
pub mod vmstat;

/// A file of the kernel with unexpected text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: not as expected: {text:?}")]
pub struct Malformed {
    file: &'static str,
    text: String,
}

impl Malformed {
    /// Names the file and quotes the beginning of the text.
    fn new(file: &'static str, text: &str) -> Self {
        Self { file, text: text.trim().chars().take(60).collect() }
    }
}

/// The numbers at the start of a text that consists of them.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split_ascii_whitespace().map_while(|word| word.parse().ok())
}

/// The number in a file that holds nothing else.
pub fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The value of `key` in rows of `key value`.
fn value_of(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|row| number(row.strip_prefix(key)?.strip_prefix([' ', '\t'])?))
}

/// How much a counter grew from `earlier` to `later`; none if it was set back.
///
/// Some counters of the kernel have 32 bits (the milliseconds of `/proc/diskstats`; everything on a 32-bit kernel): a counter
/// that falls from the upper half of 32 bits to a lower value has wrapped.
pub fn grown(earlier: u64, later: u64) -> Option<u64> {
    const SPAN: u64 = 1 << 32;
    if later >= earlier {
        Some(later - earlier)
    } else if (SPAN / 2..SPAN).contains(&earlier) && later < SPAN / 2 {
        Some(later + SPAN - earlier)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: &str = "(cpu|CPU|intr|ctxt|softirq|version 1|[0-9]{1,3}|\\([a-z) ]{0,9}\\)|[a-zA-Z0-9: \n-]){0,60}";

    proptest! {
        #[test]
        fn any_text_parses_or_is_refused(text in WORDS) {
            let _ = (stat::Stat::parse(&text), diskstats::parse(&text), interrupts::parse(&text));
            let _ = (net_dev::parse(&text), sched::parse(&text), pid_stat::PidStat::parse(&text));
            let _ = (netstat::ListenCounters::parse(&text), conntrack::drops(&text), sshd::seconds(&text), udp::name_lookups(&text));
        }

        #[test]
        fn any_bytes_parse_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (taskstats::parse_datagram(&bytes), proc_events::event(&bytes));
        }
    }

    #[test]
    fn a_counter_of_32_bits_wraps_and_one_that_was_set_back_gives_no_value() {
        let wrapped = [(u32::MAX.into(), 4, Some(5)), (7, 19, Some(12)), (u64::MAX - 1, u64::MAX, Some(1))];
        for (earlier, later, growth) in wrapped.into_iter().chain([(100, 4, None), (1 << 40, 4, None)]) {
            assert_eq!(grown(earlier, later), growth, "{earlier} to {later}");
        }
    }
}
