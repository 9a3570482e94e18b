//! Compiles our C for the kernel with clang. Only build scripts use it.
//!
//! `include/types.h` has the kernel's basic types, for all programs.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const TYPES: &str = include_str!("../include/types.h");

/// Compiles `source` into the file `object` of `OUT_DIR`, and again whenever it or one of `headers` changes. The package must
/// depend on `libbpf-sys`, which says where its headers are. `without`: the feature to leave out where there is no clang.
///
/// # Panics
/// When the program cannot be compiled: the build ends.
pub fn compile(source: &str, headers: &[&str], object: &str, without: &str) {
    let architecture = match variable("CARGO_CFG_TARGET_ARCH").as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        other => panic!("no programs are made for kernels on {other}: build without the feature `{without}`"),
    };
    let out = variable("OUT_DIR");
    fs::write(Path::new(&out).join("types.h"), TYPES).unwrap_or_else(|error| panic!("{out}: {error}"));
    let mut clang = Command::new("clang");
    // Debugging information is how libbpf finds the kernel's fields; version 3 has the exchanges that we need.
    clang.args(["-g", "-O2", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3"]);
    let (headers_of_libbpf, here) = (variable("DEP_BPF_INCLUDE"), variable("CARGO_MANIFEST_DIR"));
    clang.arg(format!("-D__TARGET_ARCH_{architecture}")).arg(format!("-I{headers_of_libbpf}")).arg(format!("-I{out}"));
    // No path of this machine is in it: the same source gives the same object anywhere, so that the two can be compared.
    for (path, name) in [(&headers_of_libbpf, "libbpf"), (&out, "out"), (&here, ".")] {
        clang.arg(format!("-ffile-prefix-map={path}={name}"));
    }
    clang.arg("-fdebug-compilation-dir=.");
    match clang.arg("-c").arg(source).arg("-o").arg(Path::new(&out).join(object)).status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("clang could not compile {source}: {status}"),
        Err(error) => panic!("clang: {error}: apt-get install clang, or build without the feature `{without}`"),
    }
    for file in headers.iter().chain([&source]) {
        tell(&format!("rerun-if-changed={file}"));
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

#[allow(clippy::print_stdout)] // Cargo listens to it.
fn tell(order: &str) {
    println!("cargo::{order}");
}
