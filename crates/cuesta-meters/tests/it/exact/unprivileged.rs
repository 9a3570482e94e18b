//! Without privileges nothing is traced: the report names the reason and the remedy and has all other figures.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use cuesta_meters::traced::{Depth, Trace};

use super::program::meter;

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
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("unprivileged");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder.path(), &program] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let drop = ["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--"];
    let mut command = Command::new("setpriv");
    command
        .args(drop)
        .arg(&program)
        .args(["--exact", "exact::unprivileged::a_user_without_privileges_gets_the_reason"])
        .env(UNPRIVILEGED, "1")
        .current_dir("/");
    let output = command.output().expect("setpriv of util-linux is needed");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
