//! Without privileges nothing is traced: the report names the reason and the remedy and has all other figures.

use cuesta_meters::traced::{Depth, Trace};

use crate::running::{meter, run_as_nobody};

/// Environment variable that is set when this program runs again without privileges.
const UNPRIVILEGED: &str = "CUESTA_TEST_UNPRIVILEGED";

#[test]
fn a_user_without_privileges_gets_the_reason() {
    if std::env::var_os(UNPRIVILEGED).is_some() {
        let mut meter = meter(&format!("pid:{}", std::process::id())).with_tracer(Depth::Light);
        let first = meter.snapshot();
        let mut report = meter.report().unwrap();
        // There is no figure before the kernel's first tick.
        while report.cpu.idle.value().is_none() {
            report = meter.report_since(&first).unwrap();
        }
        let why = "only root, or a process with CAP_BPF and CAP_PERFMON, may trace";
        assert!(report.notes.contains(&format!("not traced: {why}")), "{:?}", report.notes);
        assert_eq!(report.idle.page_wait.why(), Some(why));
        assert_eq!(Trace::absence(true).as_deref(), Some(why), "the reason is also known before the start");
        assert!(report.own.seconds.value().is_some() && report.cpu.idle.value().is_some());
        return;
    }
    assert_eq!(Trace::absence(true), None, "these tests must run as root");
    let this_test = "exact::unprivileged::a_user_without_privileges_gets_the_reason";
    let output = run_as_nobody(&["--exact", this_test], &[(UNPRIVILEGED, "1")]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}
