//! With the feature `exact`: makes what runs in the kernel, by clang, from our C.

use std::env;
use std::path::Path;
use std::process::Command;

const SOURCES: [&str; 4] =
    ["src/traced/trace.bpf.c", "src/traced/account.h", "src/traced/distributions.h", "src/traced/kernel.h"];

fn main() {
    for source in SOURCES {
        tell(&format!("rerun-if-changed={source}"));
    }
    if env::var_os("CARGO_FEATURE_EXACT").is_none() {
        return;
    }
    let variable = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let architecture = match variable("CARGO_CFG_TARGET_ARCH").as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        other => panic!("the traced tier knows nothing of {other}: build without the feature `exact`"),
    };
    let object = Path::new(&variable("OUT_DIR")).join("trace.bpf.o");
    let mut clang = Command::new("clang");
    // Debugging information is how libbpf finds the kernel's fields; version 3 has the exchanges that we need.
    clang.args(["-g", "-O2", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3"]);
    let (headers, here) = (variable("DEP_BPF_INCLUDE"), variable("CARGO_MANIFEST_DIR"));
    clang.arg(format!("-D__TARGET_ARCH_{architecture}")).arg(format!("-I{headers}"));
    // No path of this machine is in it: the same source gives the same object anywhere, so that the two can be compared.
    clang.arg(format!("-ffile-prefix-map={headers}=libbpf")).arg(format!("-ffile-prefix-map={here}=."));
    clang.arg("-fdebug-compilation-dir=.");
    let done = clang.arg("-c").arg(SOURCES[0]).arg("-o").arg(object).status();
    match done {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("clang could not make the tracers: {status}"),
        Err(error) => panic!("clang: {error}: apt-get install clang, or build without the feature `exact`"),
    }
}

#[allow(clippy::print_stdout)] // Cargo listens to it.
fn tell(order: &str) {
    println!("cargo::{order}");
}
