//! What is compiled here must find its way in the kernels of others: no offset of a kernel's structure may be fixed in it.

use cuesta_meters::traced;

const KERNEL: &str = include_str!("../../src/traced/kernel.h");
const SOURCES: [&str; 4] = [
    KERNEL,
    include_str!("../../src/traced/account.h"),
    include_str!("../../src/traced/distributions.h"),
    include_str!("../../src/traced/trace.bpf.c"),
];

/// Types that a program and the kernel share by contract (`linux/bpf.h`), which never change.
const BY_CONTRACT: [&str; 1] = ["bpf_spin_lock"];

#[test]
fn every_structure_of_the_kernel_is_looked_up_where_it_is_loaded() {
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
    // The kernel's own headers would fix the offsets of the machine that compiled it.
    for source in SOURCES {
        assert!(!source.contains("#include <linux") && !source.contains("vmlinux.h"));
    }
}

#[test]
fn the_object_says_what_is_to_be_looked_up_and_names_no_place_of_this_machine() {
    let object = traced::object().unwrap();
    let has = |text: &str| object.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(object.starts_with(b"\x7fELF"));
    assert!(has(".BTF.ext"), "relocations are in it");
    assert!(!has(env!("CARGO_MANIFEST_DIR")), "the same source gives the same object anywhere");
}
