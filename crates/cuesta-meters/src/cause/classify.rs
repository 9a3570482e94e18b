//! A moment of CPU time → its cause. Pure: the marks of the kernel's stack and what the user's address is, in; a cause, out.
//!
//! The **innermost** mark decides: a packet that is received while a system call sends one is softirq, not system call; a
//! page fault inside a call is a page fault. By the outermost, nine of ten softirqs of a loopback load would be called
//! system calls.

use super::kind::Cause;
use super::marks::Mark;

/// What lies below the kernel's stack, or what ran itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// No user: a kernel thread.
    Kernel,
    /// The CPU's idle task.
    Idle,
    /// A user's address of this kind.
    User(Place),
}

/// What is at a user's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A program's or a library's instructions, or made at run time.
    Program,
    /// The dynamic linker's.
    Linker,
    /// The instruction behind a system call of this kind: interrupts are off on the way out of the kernel, so a sample that
    /// was due there is taken here, when the user has not run yet.
    Crossing(Call, Whose),
    /// Nobody told us what is there.
    Unknown,
}

/// Whose instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// A program's or a library's.
    Program,
    /// The dynamic linker's.
    Linker,
}

/// What a system call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// fork, exec, exit.
    Loading,
    /// open, close, mmap.
    Mapping,
    /// Some other.
    Other,
    /// Its number is not known.
    Unnamed,
}

/// What a moment was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Its cause.
    pub cause: Cause,
    /// Which call it was is known, or it was none.
    pub named: bool,
}

/// Which number of call the instruction had, if it could be read; the marks of the stack, innermost first; what lies below.
pub fn classify(marks: impl Iterator<Item = Mark>, ground: Ground, number: Option<Call>) -> Verdict {
    let sure = |cause| Verdict { cause, named: true };
    let mut inside = None;
    let mut empty = true;
    for mark in marks {
        empty = false;
        match mark {
            Mark::None => {}
            Mark::Softirq => return sure(Cause::Softirq),
            Mark::Interrupt => return sure(Cause::Interrupts),
            Mark::PageFault => return sure(Cause::PageFaults),
            Mark::Exception => return sure(Cause::OtherFaults),
            Mark::Dispatch if ground != Ground::Idle => return sure(Cause::Dispatching),
            Mark::Dispatch | Mark::Idle => return sure(Cause::Idle),
            // The outermost of these is the call itself: exec maps files too.
            Mark::Loading => inside = Some(Call::Loading),
            Mark::Mapping => inside = Some(Call::Mapping),
            Mark::OtherCall => inside = Some(Call::Other),
            Mark::Call => return call(number.or(inside).unwrap_or(Call::Unnamed)),
            Mark::Born if ground == Ground::Kernel => return sure(Cause::KernelThreads),
            Mark::Born => return sure(Cause::Loading),
        }
    }
    match ground {
        Ground::User(place) if empty => user(place),
        _ => sure(Cause::Unclassified),
    }
}

fn call(call: Call) -> Verdict {
    let cause = match call {
        Call::Loading => Cause::Loading,
        Call::Mapping => Cause::Mapping,
        Call::Other | Call::Unnamed => Cause::SystemCalls,
    };
    Verdict { cause, named: call != Call::Unnamed }
}

fn user(place: Place) -> Verdict {
    let cause = match place {
        Place::Program => Cause::User,
        Place::Linker => Cause::Linking,
        Place::Crossing(which, _) => return call(which),
        Place::Unknown => Cause::Unclassified,
    };
    Verdict { cause, named: true }
}

impl Place {
    /// Whether the instructions are the dynamic linker's.
    pub fn is_linker(self) -> bool {
        matches!(self, Self::Linker | Self::Crossing(_, Whose::Linker))
    }
}
