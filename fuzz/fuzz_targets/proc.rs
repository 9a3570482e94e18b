//! Gives any text to the parsers of the kernel's files and of snapshots: they read it or return an error.
#![no_main]

use cuesta_meters::plain::kernel::{
    cgroup, conntrack, cpu_list, diskstats, interrupts, loadavg, net_dev, netstat::ListenCounters, pid_cgroup,
    pid_stat::PidStat, pid_status::PidStatus, pressure::Pressure, proc_events, sched, schedstat::SchedStat, sshd,
    stat::Stat, taskstats, udp, vmstat::FaultCounters,
};
use cuesta_meters::{CounterSnapshot, Delta, Subject};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(stat) = Stat::parse(text) {
        for ticks in stat.cpus.values() {
            let _ = ticks.since(*ticks).and(*ticks).total();
        }
    }
    let _ = FaultCounters::parse(text);
    let _ = diskstats::parse(text);
    let _ = net_dev::parse(text);
    let _ = interrupts::parse(text);
    let _ = Pressure::parse(text);
    assert!(loadavg::parse(text).map_or(true, f64::is_finite));
    let _ = SchedStat::parse(text);
    let _ = sched::parse(text);
    let _ = PidStat::parse(text).map(|stat| stat.own());
    let _ = PidStatus::parse(text);
    let _ =
        (cgroup::Usage::parse(text), cgroup::Usage::parse_v1(text, text, 10_000_000), cgroup::Throttled::parse(text));
    let _ = (cgroup::quota(text), cgroup::quota_v1(text, text));
    let _ = pid_cgroup::path(text, "cpu");
    let _ =
        (ListenCounters::parse(text), conntrack::drops(text), udp::name_lookups(text), cgroup::events(text, "high"));
    let _ = sshd::Startups::parse(text).and_then(|startups| startups.rate(text));
    let _ = (sshd::config_file(text), sshd::setting(text, "maxstartups"), sshd::seconds(text));
    if let Some(cpus) = cpu_list::parse(text) {
        assert_eq!(cpu_list::parse(&cpu_list::show(&cpus)), Some(cpus));
    }
    if let Ok(subject) = text.parse::<Subject>() {
        assert_eq!(subject.to_string().parse(), Ok(subject));
    }
    let _ = taskstats::parse_datagram(text.as_bytes());
    let _ = proc_events::event(text.as_bytes());
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let (one, other) = text.split_at(middle);
    if let (Ok(earlier), Ok(later)) = (CounterSnapshot::of_node_exporter(one), CounterSnapshot::of_node_exporter(other))
    {
        let _ = Delta::compare(&earlier, &later).map(|delta| delta.report());
    }
    let _ = CounterSnapshot::of_node_exporter(text);
    let _ = serde_json::from_str::<CounterSnapshot>(text);
});
