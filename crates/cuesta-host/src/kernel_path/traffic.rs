//! Characters by the way that they took between lines and programs.

use serde_json::{Map, Value, json};

/// The reasons for which characters are left to the host, in the order of `enum reason` in `relay.bpf.c`: telnet gives one of them a
/// meaning; the piece is too long to search; the program does not read; earlier ones are still with the host.
const REASONS: [&str; 4] = ["escape", "long", "unread", "behind"];
/// Numbers in `struct counts` of `relay.bpf.c`: two sums, then each way's by reason, of which the first is unused.
#[cfg(any(feature = "kernel-path", test))]
const NUMBERS: usize = 2 + 2 * (REASONS.len() + 1);

/// Characters since the start, or in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// From lines to programs within the kernel.
    pub(crate) input: u64,
    /// From programs to lines within the kernel.
    pub(crate) output: u64,
    /// From lines through user space, by reason.
    input_left: [u64; REASONS.len()],
    /// From programs through user space, by reason.
    output_left: [u64; REASONS.len()],
}

impl Traffic {
    /// Reads `struct counts` of one CPU. Nothing if it has another size.
    #[cfg(any(feature = "kernel-path", test))]
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let numbers: Vec<u64> =
            bytes.chunks_exact(8).map(|number| u64::from_ne_bytes(number.try_into().expect("8 bytes"))).collect();
        let numbers: [u64; NUMBERS] = numbers.try_into().ok()?;
        let by_reason = |from: usize| std::array::from_fn(|reason| numbers[from + 1 + reason]);
        let second = 2 + REASONS.len() + 1;
        Some(Self { input: numbers[0], output: numbers[1], input_left: by_reason(2), output_left: by_reason(second) })
    }

    pub(crate) fn add(&mut self, other: &Self) {
        *self = self.with(other, u64::wrapping_add);
    }

    /// The growth since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    /// Each way: characters within the kernel, and those through user space by reason.
    pub(crate) fn figures(&self) -> [Value; 2] {
        let way = |kernel: u64, left: &[u64]| {
            let user: Map<String, Value> =
                REASONS.iter().zip(left).map(|(reason, count)| ((*reason).to_owned(), (*count).into())).collect();
            json!({ "kernel": kernel, "user": user })
        };
        [way(self.input, &self.input_left), way(self.output, &self.output_left)]
    }

    fn with(&self, other: &Self, of: impl Fn(u64, u64) -> u64) -> Self {
        let each = |ours: &[u64; REASONS.len()], others: &[u64; REASONS.len()]| {
            std::array::from_fn(|reason| of(ours[reason], others[reason]))
        };
        Self {
            input: of(self.input, other.input),
            output: of(self.output, other.output),
            input_left: each(&self.input_left, &other.input_left),
            output_left: each(&self.output_left, &other.output_left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_relay_counts() {
        let numbers: [u64; NUMBERS] = std::array::from_fn(|at| at as u64);
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let traffic = Traffic::read(&bytes).unwrap();
        let wanted = Traffic { input: 0, output: 1, input_left: [3, 4, 5, 6], output_left: [8, 9, 10, 11] };
        assert_eq!(traffic, wanted);
        assert_eq!(Traffic::read(&bytes[8..]), None);
        let mut sum = wanted;
        sum.add(&wanted);
        assert_eq!(sum.since(&wanted), wanted);
        assert_eq!(
            sum.figures()[1],
            json!({"kernel": 2, "user": {"escape": 16, "long": 18, "unread": 20, "behind": 22}})
        );
    }
}
