//! Subjects of other kinds and the tasks that belong to them.

use std::fs;
use std::path::Path;

use cuesta_meters::traced::Depth;

use super::program::{Group, Program, counted, exact, meter};

/// Code that runs a program a number of times.
fn spawn(times: u32) -> String {
    format!("[os.waitpid(os.posix_spawn('/bin/true', ['true'], {{}}), 0) for n in range({times})]")
}

#[test]
fn only_the_children_of_a_driver_count() {
    let mut program = Program::start();
    let mut children = meter(&format!("children:{}", program.pid())).with_tracer(Depth::Light);
    program.run(&spawn(10));
    let counts = children.report().unwrap().counts;
    assert_eq!((counted(&counts.forks), counted(&counts.execs)), (0, 10));
    assert!(counted(&counts.minor_faults) > 100);
}

#[test]
fn a_control_group_has_its_tasks_and_those_below() {
    let mut program = Program::start();
    let pid = program.pid().to_string();
    let mounts = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(Path::new);
    let mount = mounts.into_iter().find(|mount| mount.join("cgroup.procs").exists()).expect("there are groups");
    let group = Group::new(mount, program.pid());
    fs::create_dir(group.0.join("below")).unwrap();
    group.write("below/cgroup.procs", &pid);
    let name = group.0.file_name().unwrap().display();
    let mut traced = meter(&format!("cgroup:/{name}")).with_tracer(Depth::Light);
    // Some kernels do not report every switch. A fork right after one of these must count too: at 1,000 some come there.
    program.run(&spawn(1000));
    let inside = traced.report().unwrap();
    assert_eq!((counted(&inside.counts.forks), counted(&inside.counts.execs)), (1000, 1000));
    fs::write(mount.join("cgroup.procs"), &pid).unwrap();
    traced.report().unwrap();
    program.run(&spawn(10));
    let outside = traced.report().unwrap();
    assert_eq!(counted(&outside.counts.execs), 0);
    assert!(exact(&outside.own.seconds) < 1e-9, "{:?}", outside.own);
}

#[test]
fn a_cpu_has_all_tasks_that_run_there() {
    let mut program = Program::start();
    program.run("os.sched_setaffinity(0, {0})");
    let mut one = meter("cpus:0").with_tracer(Depth::Full);
    program.run("t = time.process_time() + 0.3; any(iter(lambda: time.process_time() > t, True))");
    let report = one.report().unwrap();
    assert!(exact(&report.own.usr) > 10.0, "{:?}", report.own);
    assert!(counted(&report.counts.system_calls) > 10);
    let rows: f64 = report.by_cause.value().unwrap().causes.values().map(|cause| exact(&cause.percent)).sum();
    assert!((rows - exact(&report.own.percent)).abs() < 0.1, "{rows} of {:?}", report.own);
}
