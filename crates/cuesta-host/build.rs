//! With the feature `kernel-path`: makes what handles telnet in the kernel, by clang, from our C.

fn main() {
    #[cfg(feature = "kernel-path")]
    cuesta_bpf_build::compile(
        "src/kernel_path/telnet.bpf.c",
        &["src/kernel_path/kernel.h"],
        "telnet.bpf.o",
        "kernel-path",
    );
}
