//! With the feature `kernel-receive`: makes what receives in the kernel, by clang, from our C.

fn main() {
    #[cfg(feature = "kernel-receive")]
    cuesta_bpf_build::compile(
        "src/endpoint/kernel_receive/receive.bpf.c",
        &["src/endpoint/kernel_receive/kernel.h"],
        "receive.bpf.o",
        "kernel-receive",
    );
}
