//! With the feature `exact`: makes what runs in the kernel, by clang, from our C.

fn main() {
    #[cfg(feature = "exact")]
    cuesta_bpf_build::compile(
        "src/traced/trace.bpf.c",
        &["src/traced/account.h", "src/traced/distributions.h", "src/traced/kernel.h"],
        "trace.bpf.o",
        "exact",
    );
}
