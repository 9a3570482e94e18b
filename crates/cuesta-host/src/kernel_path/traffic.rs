//! Characters by the way that they took between lines and programs.

use crate::meters::row::{KernelPathInput, KernelPathOutput};

/// The reasons for which output is left to the host, in the order of `enum reason` in `telnet.bpf.c`: telnet gives a character of it
/// a meaning; the message is too long to search; the line has no room; earlier output is still with the host.
const REASONS: [&str; 4] = ["escape", "long", "full", "behind"];
/// Numbers in `struct counts` of `telnet.bpf.c`: four sums, then output by reason, of which the first is unused.
#[cfg(any(feature = "kernel-path", test))]
const NUMBERS: usize = 4 + 1 + REASONS.len();

/// Characters since the start, or in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// From lines to programs within the kernel.
    pub(crate) input: u64,
    /// From programs to lines within the kernel.
    pub(crate) output: u64,
    /// Bytes of telnet's commands, which the host is told.
    commands: u64,
    /// Lines that were ended because commands or input of theirs were lost.
    pub(super) lost: u64,
    /// From programs, offered and left to user space, by reason.
    output_left: [u64; REASONS.len()],
}

impl Traffic {
    /// Reads `struct counts`. Nothing if it has another size.
    #[cfg(any(feature = "kernel-path", test))]
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let numbers: Vec<u64> =
            bytes.chunks_exact(8).map(|number| u64::from_ne_bytes(number.try_into().expect("8 bytes"))).collect();
        let [input, output, commands, lost, _, output_left @ ..]: [u64; NUMBERS] = numbers.try_into().ok()?;
        Some(Self { input, output, commands, lost, output_left })
    }

    /// What passed on a line without framing.
    pub(crate) fn plain(input: u64, output: u64) -> Self {
        Self { input, output, ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        *self = self.combine(other, u64::wrapping_add);
    }

    pub(crate) fn since(&self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }

    /// The figures of each way, for a row.
    pub(crate) fn figures(&self) -> (KernelPathInput, KernelPathOutput) {
        let user = REASONS.into_iter().zip(self.output_left).collect();
        (
            KernelPathInput { kernel: self.input, commands: self.commands, lost: self.lost },
            KernelPathOutput { kernel: self.output, user },
        )
    }

    fn combine(&self, other: &Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: operation(self.input, other.input),
            output: operation(self.output, other.output),
            commands: operation(self.commands, other.commands),
            lost: operation(self.lost, other.lost),
            output_left: std::array::from_fn(|reason| operation(self.output_left[reason], other.output_left[reason])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_programs_count() {
        let numbers: [u64; NUMBERS] = std::array::from_fn(|at| at as u64);
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let traffic = Traffic::read(&bytes).unwrap();
        let wanted = Traffic { input: 0, output: 1, commands: 2, lost: 3, output_left: [5, 6, 7, 8] };
        assert_eq!(traffic, wanted);
        assert_eq!(Traffic::read(&bytes[8..]), None);
        let mut sum = wanted;
        sum.add(&wanted);
        assert_eq!(sum.since(&wanted), wanted);
        let (input, output) = sum.figures();
        assert_eq!(input, KernelPathInput { kernel: 0, commands: 4, lost: 6 });
        assert_eq!((output.kernel, output.user["escape"], output.user["behind"]), (2, 10, 16));
    }
}
