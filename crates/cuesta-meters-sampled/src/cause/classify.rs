//! A sample → its cause. Pure: from the classes of the functions on the kernel's stack and the kind of the user's address.
//!
//! The **innermost** classified function decides: a packet that arrives while a system call sends one is softirq, not system
//! call; a page fault inside a call is a page fault. By the outermost one, nine of ten softirqs of a loopback load would count
//! as system calls.

use super::causes::Cause;

/// The reason why the kernel runs, by a function on its stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolClass {
    /// Nothing.
    None,
    /// Deferred work of interrupts: network receive, timers, RCU.
    Softirq,
    /// Inside a softirq: the network's.
    Network,
    /// An interrupt of a device, a timer or another CPU.
    Interrupt,
    PageFault,
    /// Any other exception: floating point, breakpoint, general protection.
    Exception,
    /// A system call.
    Call,
    /// A new task: a process if it has a user part, else a kernel thread.
    Born,
    /// The idle loop.
    Idle,
    /// Choosing the next task and switching to it.
    Dispatch,
    /// Inside a call: making, loading or ending a process.
    Loading,
    /// Inside a call: opening and mapping files.
    Mapping,
    /// Inside a call: any other call, known by its name.
    OtherCall,
}

/// The code below the kernel's stack, or the code that ran without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackBase {
    /// No user: a kernel thread.
    Kernel,
    /// The CPU's idle task.
    Idle,
    /// A user's address of this kind.
    User(UserCode),
}

/// The kind of code at a user's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserCode {
    /// Code of a program or library, or generated at run time.
    Program,
    /// Code of the dynamic linker.
    Linker,
    /// The instruction after a system call of this kind. Interrupts are off while the kernel returns, so a sample that was due
    /// there is taken here, before any user code has run.
    SyscallReturn(CallKind, CodeOwner),
    /// No mapping of this address is known.
    Unknown,
}

/// The owner of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeOwner {
    /// A program or a library.
    Program,
    /// Code of the dynamic linker.
    Linker,
}

/// The purpose of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// fork, exec, exit.
    Loading,
    /// open, close, mmap.
    Mapping,
    /// Any other call.
    Other,
    /// Its number is not known.
    Unnamed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each says another thing.
pub struct SampleClass {
    pub cause: Cause,
    /// The number of its system call is known, or it is in no call.
    pub named: bool,
    /// It is in a network softirq.
    pub network: bool,
    /// The dynamic linker's code ran or made the call.
    pub for_linker: bool,
    /// It was taken at the instruction after a system call.
    pub syscall_return: bool,
}

/// `classes` are those of the kernel's stack, innermost first. `number` is the kind of the call by its number, if that could be
/// read.
pub fn classify(classes: impl Iterator<Item = SymbolClass>, base: StackBase, number: Option<CallKind>) -> SampleClass {
    let for_linker = matches!(base, StackBase::User(code) if code.is_linker());
    let class = |(cause, named)| SampleClass { cause, named, network: false, for_linker, syscall_return: false };
    let sure = |cause| class((cause, true));
    let (mut inside, mut network) = (None, false);
    let mut empty = true;
    for function in classes {
        empty = false;
        match function {
            SymbolClass::None => {}
            SymbolClass::Network => network = true,
            SymbolClass::Softirq => return SampleClass { network, ..sure(Cause::Softirq) },
            SymbolClass::Interrupt => return sure(Cause::Interrupts),
            SymbolClass::PageFault => return sure(Cause::PageFaults),
            SymbolClass::Exception => return sure(Cause::OtherFaults),
            SymbolClass::Dispatch if base != StackBase::Idle => return sure(Cause::Dispatching),
            SymbolClass::Dispatch | SymbolClass::Idle => return sure(Cause::Idle),
            // The outermost of these is the call itself, since exec maps files too.
            SymbolClass::Loading => inside = Some(CallKind::Loading),
            SymbolClass::Mapping => inside = Some(CallKind::Mapping),
            SymbolClass::OtherCall => inside = Some(CallKind::Other),
            SymbolClass::Call => return class(call(number.or(inside).unwrap_or(CallKind::Unnamed))),
            SymbolClass::Born if base == StackBase::Kernel => return sure(Cause::KernelThreads),
            SymbolClass::Born => return sure(Cause::Loading),
        }
    }
    match base {
        StackBase::User(code) if empty => {
            SampleClass { syscall_return: matches!(code, UserCode::SyscallReturn(..)), ..class(user(code)) }
        }
        _ => sure(Cause::Unclassified),
    }
}

/// The cause of a system call, and whether its number is known.
fn call(kind: CallKind) -> (Cause, bool) {
    let cause = match kind {
        CallKind::Loading => Cause::Loading,
        CallKind::Mapping => Cause::Mapping,
        CallKind::Other | CallKind::Unnamed => Cause::SystemCalls,
    };
    (cause, kind != CallKind::Unnamed)
}

fn user(code: UserCode) -> (Cause, bool) {
    match code {
        UserCode::Program => (Cause::User, true),
        UserCode::Linker => (Cause::Linking, true),
        UserCode::SyscallReturn(kind, _) => call(kind),
        UserCode::Unknown => (Cause::Unclassified, true),
    }
}

impl UserCode {
    /// Whether the dynamic linker's code ran or made the call.
    pub fn is_linker(self) -> bool {
        matches!(self, Self::Linker | Self::SyscallReturn(_, CodeOwner::Linker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::symbol_classes::class_of;
    use proptest::prelude::*;

    const PROGRAM: StackBase = StackBase::User(UserCode::Program);

    /// Captured on Linux 6.18, the innermost first.
    const CAPTURED: &[(&str, StackBase, Cause)] = &[
        ("", PROGRAM, Cause::User),
        ("", StackBase::User(UserCode::Linker), Cause::Linking),
        ("", StackBase::User(UserCode::Unknown), Cause::Unclassified),
        ("", StackBase::User(UserCode::SyscallReturn(CallKind::Other, CodeOwner::Program)), Cause::SystemCalls),
        ("", StackBase::User(UserCode::SyscallReturn(CallKind::Mapping, CodeOwner::Linker)), Cause::Mapping),
        (
            "copy_mc_enhanced_fast_string do_wp_page __handle_mm_fault handle_mm_fault exc_page_fault asm_exc_page_fault",
            PROGRAM,
            Cause::PageFaults,
        ),
        (
            "__handle_mm_fault handle_mm_fault exc_page_fault asm_exc_page_fault __put_user_4 schedule_tail ret_from_fork ret_from_fork_asm",
            PROGRAM,
            Cause::PageFaults,
        ),
        ("schedule_tail ret_from_fork ret_from_fork_asm", PROGRAM, Cause::Loading),
        (
            "migration_cpu_stop cpu_stopper_thread smpboot_thread_fn kthread ret_from_fork ret_from_fork_asm",
            StackBase::Kernel,
            Cause::KernelThreads,
        ),
        (
            "__mmap_region do_mmap vm_mmap_pgoff elf_load load_elf_binary bprm_execve do_execveat_common.isra.0 __x64_sys_execve do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::Loading,
        ),
        (
            "mas_preallocate __mmap_region do_mmap vm_mmap_pgoff ksys_mmap_pgoff do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::Mapping,
        ),
        (
            "__d_lookup_rcu lookup_fast path_openat do_filp_open do_sys_openat2 __x64_sys_openat do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::Mapping,
        ),
        (
            "unmap_page_range unmap_vmas exit_mmap __mmput do_exit do_group_exit __x64_sys_exit_group x64_sys_call do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::Loading,
        ),
        (
            "dup_mmap copy_process kernel_clone __do_sys_clone do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::Loading,
        ),
        (
            "vfs_statx do_statx __x64_sys_statx do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::SystemCalls,
        ),
        (
            "finish_task_switch.isra.0 __schedule schedule exit_to_user_mode_loop do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::Dispatching,
        ),
        (
            "finish_task_switch.isra.0 __schedule schedule irqentry_exit_to_user_mode asm_sysvec_reschedule_ipi",
            PROGRAM,
            Cause::Dispatching,
        ),
        (
            "ip_rcv net_rx_action handle_softirqs do_softirq.part.0 __local_bh_enable_ip tcp_sendmsg __sys_sendto __x64_sys_sendto do_syscall_64 entry_SYSCALL_64_after_hwframe",
            PROGRAM,
            Cause::Softirq,
        ),
        (
            "blk_done_softirq handle_softirqs __irq_exit_rcu common_interrupt asm_common_interrupt",
            PROGRAM,
            Cause::Softirq,
        ),
        ("irqentry_exit_to_user_mode asm_sysvec_reschedule_ipi", PROGRAM, Cause::Interrupts),
        ("exc_general_protection asm_exc_general_protection", PROGRAM, Cause::OtherFaults),
        (
            "pv_native_safe_halt default_idle cpuidle_enter_state do_idle cpu_startup_entry start_secondary common_startup_64",
            StackBase::Idle,
            Cause::Idle,
        ),
        (
            "__schedule schedule_idle do_idle cpu_startup_entry start_secondary common_startup_64",
            StackBase::Idle,
            Cause::Idle,
        ),
        (
            "net_rx_action handle_softirqs __irq_exit_rcu common_interrupt asm_common_interrupt pv_native_safe_halt do_idle common_startup_64",
            StackBase::Idle,
            Cause::Softirq,
        ),
        ("some_function nobody_knows", PROGRAM, Cause::Unclassified),
    ];

    fn judge(chain: &str, base: StackBase, number: Option<CallKind>) -> SampleClass {
        classify(chain.split(' ').filter(|name| !name.is_empty()).map(class_of), base, number)
    }

    #[test]
    fn captured_stacks_have_their_causes() {
        for (chain, base, cause) in CAPTURED {
            assert_eq!(judge(chain, *base, None).cause, *cause, "{chain}");
        }
    }

    #[test]
    fn the_system_call_number_takes_precedence_over_the_stack() {
        let chain = "fput do_syscall_64 entry_SYSCALL_64_after_hwframe";
        for (number, expected) in
            [(None, (Cause::SystemCalls, false)), (Some(CallKind::Mapping), (Cause::Mapping, true))]
        {
            let class = judge(chain, PROGRAM, number);
            assert_eq!((class.cause, class.named), expected);
        }
    }

    #[test]
    fn network_softirqs_are_recognized() {
        let softirqs = CAPTURED.iter().filter(|(_, _, cause)| *cause == Cause::Softirq);
        let network: Vec<bool> = softirqs.map(|(chain, base, _)| judge(chain, *base, None).network).collect();
        assert_eq!(network, [true, false, true]);
        assert!(!judge("net_rx_action nobody_knows", PROGRAM, None).network);
    }

    proptest! {
        #[test]
        fn outer_functions_do_not_change_the_cause_of_a_stack(
            row in 0..CAPTURED.len(),
            outer in proptest::collection::vec(0..CAPTURED.len(), 0..4),
        ) {
            let (chain, base, cause) = CAPTURED[row];
            let marked = ![Cause::Unclassified, Cause::User, Cause::Linking].contains(&cause) && !chain.is_empty();
            let all: Vec<_> = std::iter::once(chain).chain(outer.iter().map(|other| CAPTURED[*other].0)).collect();
            if marked {
                prop_assert_eq!(judge(&all.join(" "), base, None).cause, cause);
            }
        }
    }
}
