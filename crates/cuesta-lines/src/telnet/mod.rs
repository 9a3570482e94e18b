//! Telnet over another line, both ends. The framing itself is [`crate::wire::telnet`].

mod target;

pub use target::{Enter, TelnetTarget};

use crate::framed::Framed;
use crate::wire::telnet::Framing;
use crate::{Line, Options};

/// A line that speaks telnet.
pub type Telnet<L> = Framed<L, Framing>;

impl<L: Line> Telnet<L> {
    /// The terminal's end, and what its Enter sends.
    pub fn terminal(line: L, options: &Options, enter: Enter) -> Self {
        Self::new(line, Framing::terminal(options.columns, options.rows, &options.terminal, enter))
    }

    /// The host's end.
    pub fn host(line: L) -> Self {
        Self::new(line, Framing::host())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RateLimited, tcp::Tcp};

    #[test]
    fn a_line_is_small() {
        let sizes = [size_of::<Telnet<Tcp>>(), size_of::<RateLimited<Telnet<Tcp>>>()];
        assert!(sizes[0] <= 256 && sizes[1] <= 400, "{sizes:?}");
    }
}
