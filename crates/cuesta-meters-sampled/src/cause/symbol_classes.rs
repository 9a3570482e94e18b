//! The classes of the kernel's functions by name: tables, one for each architecture. Pure.
//!
//! The names are those of Linux 5.10 to 6.18. Those of x86-64 are tested; those of aarch64 come from the kernel's source and
//! never ran.

use super::classify::SymbolClass;

pub fn class_of(name: &str) -> SymbolClass {
    // Parts that the compiler splits off keep the name before the point: `handle_softirqs.cold`.
    let name = name.split('.').next().unwrap_or(name);
    if let Some((_tag, program)) = name.strip_prefix("bpf_prog_").and_then(|rest| rest.split_once('_')) {
        return TRACERS
            .iter()
            .find(|(_, names)| names.contains(&program))
            .map_or(SymbolClass::None, |(class, _)| *class);
    }
    let exact = EXACT.iter().find(|(_, names)| names.contains(&name));
    let begins = || BEGINS.iter().find(|(_, starts)| starts.iter().any(|start| name.starts_with(start)));
    exact.or_else(begins).map_or(SymbolClass::None, |(class, _)| *class)
}

/// Whole names.
const EXACT: &[(SymbolClass, &[&str])] = &[
    (SymbolClass::Softirq, &["handle_softirqs", "__do_softirq", "__softirqentry_text_start"]),
    (SymbolClass::Network, &["net_rx_action", "net_tx_action"]),
    (SymbolClass::Interrupt, ENTRIES.interrupts),
    (SymbolClass::PageFault, ENTRIES.page_faults),
    (SymbolClass::Exception, ENTRIES.exceptions),
    (SymbolClass::Call, ENTRIES.calls),
    (SymbolClass::Born, &["ret_from_fork_asm", "ret_from_fork"]),
    (SymbolClass::Idle, &["do_idle", "cpu_startup_entry", "rest_init", "start_secondary", "secondary_start_kernel"]),
    (SymbolClass::Idle, &["common_startup_64", "secondary_startup_64", "secondary_startup_64_no_verify"]),
    (SymbolClass::Idle, &["__primary_switched", "__secondary_switched"]),
    (SymbolClass::Dispatch, &["__schedule"]),
    (SymbolClass::Loading, LOADING),
    (SymbolClass::Mapping, MAPPING),
];

/// The tracer's programs (`traced/trace.bpf.c`), each with the class of the function it is attached to: their callers are often
/// not on the stack.
const TRACERS: &[(SymbolClass, &[&str])] = &[
    (SymbolClass::Softirq, &["softirq_entry", "softirq_exit"]),
    (SymbolClass::PageFault, &["fault_of_user", "fault_of_kernel", "fault_minor", "fault_major"]),
    (SymbolClass::Call, &["call_begins", "call_ends"]),
    (SymbolClass::Dispatch, &["switched"]),
];

/// Prefixes of names.
const BEGINS: &[(SymbolClass, &[&str])] = &[
    (SymbolClass::Interrupt, ENTRIES.interrupts_begin),
    (SymbolClass::Exception, ENTRIES.exceptions_begin),
    (
        SymbolClass::OtherCall,
        &["__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__do_sys_", "__se_sys_", "ksys_", "__sys_"],
    ),
];

/// Functions that make, load or end a process. A call's own function is often not on the stack, since it ends with a jump to
/// one of these.
const LOADING: &[&str] = &[
    "do_execveat_common",
    "bprm_execve",
    "load_elf_binary",
    "begin_new_exec",
    "kernel_clone",
    "copy_process",
    "_do_fork",
    "do_exit",
    "do_group_exit",
    "exit_mmap",
    "mmput",
    "__x64_sys_execve",
    "__x64_sys_execveat",
    "__x64_sys_clone",
    "__x64_sys_clone3",
    "__x64_sys_fork",
    "__x64_sys_vfork",
    "__x64_sys_exit",
    "__x64_sys_exit_group",
    "__arm64_sys_execve",
    "__arm64_sys_execveat",
    "__arm64_sys_clone",
    "__arm64_sys_clone3",
    "__arm64_sys_exit",
    "__arm64_sys_exit_group",
    "__do_sys_clone",
    "__do_sys_clone3",
    "__do_sys_fork",
    "__do_sys_vfork",
    "__do_sys_exit_group",
];

/// Functions that open and map files.
const MAPPING: &[&str] = &[
    "do_sys_openat2",
    "do_sys_open",
    "do_filp_open",
    "vm_mmap_pgoff",
    "ksys_mmap_pgoff",
    "do_mmap",
    "__vm_munmap",
    "do_vmi_munmap",
    "do_munmap",
    "do_mprotect_pkey",
    "mremap_to",
    "move_vma",
    "file_close_fd",
    "close_fd",
    "filp_close",
    "filp_flush",
    "__x64_sys_open",
    "__x64_sys_openat",
    "__x64_sys_openat2",
    "__x64_sys_close",
    "__x64_sys_close_range",
    "__x64_sys_mmap",
    "__x64_sys_munmap",
    "__x64_sys_mprotect",
    "__x64_sys_mremap",
    "__arm64_sys_openat",
    "__arm64_sys_openat2",
    "__arm64_sys_close",
    "__arm64_sys_close_range",
    "__arm64_sys_mmap",
    "__arm64_sys_munmap",
    "__arm64_sys_mprotect",
    "__arm64_sys_mremap",
    "__do_sys_mremap",
    "__do_sys_munmap",
];

/// How an architecture enters its kernel.
struct Entries {
    calls: &'static [&'static str],
    page_faults: &'static [&'static str],
    exceptions: &'static [&'static str],
    exceptions_begin: &'static [&'static str],
    interrupts: &'static [&'static str],
    interrupts_begin: &'static [&'static str],
}

#[cfg(target_arch = "x86_64")]
const ENTRIES: Entries = Entries {
    calls: &[
        "entry_SYSCALL_64",
        "entry_SYSCALL_64_after_hwframe",
        "entry_SYSCALL_64_safe_stack",
        "entry_SYSCALL_compat_after_hwframe",
        "entry_SYSENTER_compat_after_hwframe",
        "entry_INT80_compat",
        "asm_int80_emulation",
    ],
    page_faults: &["asm_exc_page_fault"],
    exceptions: &[],
    exceptions_begin: &["asm_exc_"],
    interrupts: &["asm_common_interrupt", "asm_spurious_interrupt", "asm_exc_nmi", "asm_exc_nmi_kvm_vmx"],
    interrupts_begin: &["asm_sysvec_"],
};

/// Not tested.
#[cfg(target_arch = "aarch64")]
const ENTRIES: Entries = Entries {
    calls: &["el0_svc", "el0t_64_sync_compat", "el0_svc_compat"],
    page_faults: &["el0_da", "el0_ia", "el1_abort", "do_mem_abort"],
    exceptions: &["el0_sp", "el0_pc", "el0_undef", "el0_dbg", "el0_fpsimd_acc", "el0_sve_acc", "el1_undef", "el1_dbg"],
    exceptions_begin: &[],
    interrupts: &["el1_interrupt", "el0_interrupt", "el1h_64_irq", "el0t_64_irq", "el1h_64_fiq", "el0t_64_fiq"],
    interrupts_begin: &[],
};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the names by which this architecture enters its kernel are not known: add them to `ENTRIES`");

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;

    #[test]
    fn names_give_the_cause() {
        let classes = [
            ("handle_softirqs.cold", SymbolClass::Softirq),
            ("net_rx_action", SymbolClass::Network),
            ("asm_sysvec_apic_timer_interrupt", SymbolClass::Interrupt),
            ("asm_exc_page_fault", SymbolClass::PageFault),
            ("asm_exc_nmi", SymbolClass::Interrupt),
            ("asm_exc_divide_error", SymbolClass::Exception),
            ("entry_SYSCALL_64_after_hwframe", SymbolClass::Call),
            ("do_execveat_common.isra.0", SymbolClass::Loading),
            ("ksys_mmap_pgoff", SymbolClass::Mapping),
            ("ksys_write", SymbolClass::OtherCall),
            ("__x64_sys_openat", SymbolClass::Mapping),
            ("tcp_ack", SymbolClass::None),
            ("bpf_prog_5d0da398c94fb499_softirq_exit", SymbolClass::Softirq),
            ("bpf_prog_5d0da398c94fb499_sd_devices", SymbolClass::None),
            ("", SymbolClass::None),
        ];
        for (name, expected) in classes {
            assert_eq!(class_of(name), expected, "{name}");
        }
    }
}
