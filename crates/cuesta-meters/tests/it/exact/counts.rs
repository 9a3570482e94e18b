//! The tracers' counts equal those of the kernel and of programs exactly.

use cuesta_meters::Figure;
use cuesta_meters::traced::Depth;

use super::program::{Program, counted, meter};

const FAULTS: &str = "m = mmap.mmap(-1, 5000 * 4096); [m.__setitem__(n * 4096, 1) for n in range(5000)]; m.close()";

#[test]
fn page_faults_and_switches_are_those_of_the_kernel() {
    let mut program = Program::start();
    program.run(FAULTS);
    let mut traced = program.traced(Depth::Light);
    let mut plain = meter(&format!("pid:{}", program.pid()));
    program.run(FAULTS);
    // Long beside the way to sleep: a task that is woken before it sleeps does not switch.
    program.run("for n in range(300): time.sleep(1e-3)");
    let (traced, plain) = (traced.report().unwrap(), plain.report().unwrap());
    let notes = traced.notes.join("; ");
    let (traced, plain) = (traced.counts, plain.counts);
    let kernel = |figure: &Figure<_>| figure.value().map(|count: &cuesta_meters::Count| count.count);
    for (name, traced, plain) in [
        ("minor faults", &traced.minor_faults, &plain.minor_faults),
        ("major faults", &traced.major_faults, &plain.major_faults),
        ("voluntary switches", &traced.voluntary_switches, &plain.voluntary_switches),
        ("involuntary switches", &traced.involuntary_switches, &plain.involuntary_switches),
    ] {
        assert_eq!(Some(counted(traced)), kernel(plain), "{name}: {notes}");
    }
    assert!(counted(&traced.minor_faults) >= 5000);
    assert!(counted(&traced.wakeups).abs_diff(counted(&traced.voluntary_switches)) < 5, "{traced:?}");
    assert!(!traced.of_machine.iter().any(|name| name == "forks"), "{:?}", traced.of_machine);
}

#[test]
fn system_calls_are_those_that_the_program_makes() {
    let mut program = Program::start();
    let calls = |program: &mut Program, count: u32| {
        let row = format!("for n in range({count}): os.getppid()");
        let (report, _) = program.report(Depth::Full, &row);
        let cause = &report.by_cause.value().unwrap().causes["system_calls"];
        assert!(cause.count.value().unwrap() <= &(counted(&report.counts.system_calls) as f64));
        counted(&report.counts.system_calls)
    };
    calls(&mut program, 10);
    let around = calls(&mut program, 0);
    assert_eq!(calls(&mut program, 100_000), around + 100_000);
}

#[test]
fn calls_are_classed_by_purpose() {
    let mut program = Program::start();
    let row = "for n in range(200): mmap.mmap(-1, 1 << 16).close()";
    program.run(row);
    let (report, _) = program.report(Depth::Full, row);
    let of = |name: &str| *report.by_cause.value().unwrap().causes[name].count.value().unwrap();
    assert!((400.0..440.0).contains(&of("mapping")), "{}", of("mapping"));
    assert!(of("system_calls") < 100.0, "{}", of("system_calls"));
}

#[test]
fn short_lived_programs_belong_to_their_starter() {
    let mut program = Program::start();
    let row = "[os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0) for n in range(20)]";
    program.run(row);
    let (report, _) = program.report(Depth::Full, row);
    assert_eq!((counted(&report.counts.forks), counted(&report.counts.execs)), (20, 20));
    let loading = &report.by_cause.value().unwrap().causes["loading"];
    // Each program is a fork, an exec and an exit.
    assert_eq!(loading.count.map(|count| *count as u64), Figure::traced(60));
    assert!(counted(&report.counts.minor_faults) > 20 * 20);
}
