//! The compiled tracers must run on other kernels, so no offset of a kernel structure may be fixed in them.

use cuesta_meters::traced;

const KERNEL: &str = include_str!("../../../src/traced/kernel.h");
const SOURCES: [&str; 4] = [
    KERNEL,
    include_str!("../../../src/traced/account.h"),
    include_str!("../../../src/traced/distributions.h"),
    include_str!("../../../src/traced/trace.bpf.c"),
];

/// Types of the kernel's interface (`linux/bpf.h`), which never change.
const BY_CONTRACT: [&str; 1] = ["bpf_spin_lock"];

#[test]
fn every_kernel_structure_is_relocated_when_it_is_loaded() {
    let structures: Vec<(&str, &str)> = KERNEL
        .split("\nstruct ")
        .skip(1)
        .map(|text| {
            (text.split_whitespace().next().unwrap(), text.split_once("\n}").unwrap().1.lines().next().unwrap())
        })
        .collect();
    assert!(structures.len() > 5, "{structures:?}");
    for (name, end) in structures {
        let is_looked_up = end.trim() == "OF_KERNEL;";
        assert_eq!(is_looked_up, !BY_CONTRACT.contains(&name), "struct {name}: `}}{end}`");
    }
    // The kernel's headers would fix the offsets of the machine that compiles.
    for source in SOURCES {
        assert!(!source.contains("#include <linux") && !source.contains("vmlinux.h"));
    }
}

#[test]
fn the_objects_have_relocations_and_no_path_of_this_machine() {
    for object in traced::objects().unwrap() {
        let has = |text: &str| object.windows(text.len()).any(|bytes| bytes == text.as_bytes());
        assert!(object.starts_with(b"\x7fELF"));
        assert!(has(".BTF.ext"), "the object has no relocations");
        assert!(!has(env!("CARGO_MANIFEST_DIR")), "the object contains a path of this machine");
    }
}
