//! With the feature `kernel-path`: makes what relays in the kernel, by clang, from our C.

fn main() {
    #[cfg(feature = "kernel-path")]
    cuesta_bpf_build::compile(
        "src/kernel_path/relay.bpf.c",
        &["src/kernel_path/kernel.h"],
        "relay.bpf.o",
        "kernel-path",
    );
}
