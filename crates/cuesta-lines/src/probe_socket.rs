//! The socket of a line that is followed, for the test of delayed acknowledgements.

use std::os::fd::BorrowedFd;

use rustix::net::sockopt::set_tcp_quickack;

use crate::tcp_info;

/// A TCP connection with the host.
#[derive(Debug, Clone, Copy)]
pub struct ProbeSocket<'a>(pub(crate) BorrowedFd<'a>);

/// What a connection has carried so far, modulo 2³².
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentCounts {
    /// Segments with data from the host.
    pub with_data: u32,
    /// Acknowledgements that were sent without data.
    pub acknowledgements: u32,
}

impl ProbeSocket<'_> {
    /// Has the kernel acknowledge what comes at once, or as late as it may (`TCP_QUICKACK`). It forgets that soon: say it before and after each
    /// write, and after each read.
    pub fn acknowledge(self, at_once: bool) {
        // A line that cannot is acknowledged as usual.
        let _ = set_tcp_quickack(self.0, at_once);
    }

    /// What it has carried; zeros on a connection that is gone.
    pub fn segments(self) -> SegmentCounts {
        let counts = |info: tcp_info::TcpInfo| SegmentCounts {
            with_data: info.data_segments_in,
            acknowledgements: info.bare_segments_out,
        };
        tcp_info(&self.0).map_or_else(|_| SegmentCounts::default(), counts)
    }
}

impl SegmentCounts {
    /// What was added since an earlier count.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            with_data: self.with_data.wrapping_sub(before.with_data),
            acknowledgements: self.acknowledgements.wrapping_sub(before.acknowledgements),
        }
    }
}
