//! With the feature `exact`: makes what runs in the kernel, by clang, from our C.

fn main() {
    #[cfg(feature = "exact")]
    {
        let traced = ["src/traced/account.h", "src/traced/distributions.h", "src/traced/kernel.h"];
        cuesta_bpf_build::compile("src/traced/trace.bpf.c", &traced, "trace.bpf.o", "exact");
        let path = [
            "connections",
            "contexts",
            "finished",
            "flows",
            "kernel",
            "keys",
            "segments",
            "spent",
            "tasks",
            "terminals",
        ];
        let path = path.map(|name| format!("src/path/{name}.h"));
        let headers: Vec<&str> = path.iter().map(String::as_str).collect();
        cuesta_bpf_build::compile("src/path/path.bpf.c", &headers, "path.bpf.o", "exact");
    }
}
