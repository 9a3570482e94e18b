//! The process connector of netlink (`CN_IDX_PROC`): which process forked which. Messages only; the socket is elsewhere.
//!
//! The layout is that of `linux/connector.h` and `linux/cn_proc.h`. Numbers are in the machine's own order.

/// The connector's number of the process events, which is also their multicast group.
pub const PROCESSES: u32 = 1;

const LISTEN: u32 = 1;
const IGNORE: u32 = 2;
const DONE: u16 = 3;
/// Bytes of a netlink header and a connector's header.
const HEADERS: usize = 16 + 20;
const ANSWER: u32 = 0;
const FORK: u32 = 1;

/// An event of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The answer to a request: 0, or the number of the error.
    Answer(u32),
    /// A process was forked.
    Born {
        /// The new process.
        process: u32,
        /// Its parent, which may end before it.
        parent: u32,
    },
}

/// Asks for events.
pub fn ask_to_listen() -> Vec<u8> {
    request(LISTEN)
}

/// Asks for no more events.
pub fn ask_to_ignore() -> Vec<u8> {
    request(IGNORE)
}

fn request(what: u32) -> Vec<u8> {
    let mut message = Vec::new();
    message.extend((HEADERS as u32 + 4).to_ne_bytes());
    message.extend(DONE.to_ne_bytes());
    message.extend([0; 10]);
    message.extend([PROCESSES, 1, 0, 0].map(u32::to_ne_bytes).as_flattened());
    message.extend(4_u16.to_ne_bytes());
    message.extend([0; 2]);
    message.extend(what.to_ne_bytes());
    message
}

/// Reads one datagram. New threads and other events give none.
pub fn event(bytes: &[u8]) -> Option<Event> {
    let body = bytes.get(HEADERS..)?;
    // Kind, CPU, time (8 bytes), then the data of the event.
    match u32_at(body, 0)? {
        ANSWER => Some(Event::Answer(u32_at(body, 16)?)),
        FORK => {
            let [parent, task, process] = [u32_at(body, 20)?, u32_at(body, 24)?, u32_at(body, 28)?];
            (task == process).then_some(Event::Born { process, parent })
        }
        _ => None,
    }
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(place..place + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(what: u32, fields: [u32; 4]) -> Vec<u8> {
        let body = [&[what, 0, 0, 0][..], &fields].concat();
        [vec![0; HEADERS], body.into_iter().flat_map(u32::to_ne_bytes).collect()].concat()
    }

    #[test]
    fn requests_have_the_kernels_layout() {
        let asked = ask_to_listen();
        let words: Vec<u32> = (0..asked.len() / 4).filter_map(|word| u32_at(&asked, 4 * word)).collect();
        assert_eq!(words, [40, 3, 0, 0, 1, 1, 0, 0, 4, 1]);
    }

    #[test]
    fn only_new_processes_give_events() {
        assert_eq!(event(&message(FORK, [7, 8, 9, 9])), Some(Event::Born { process: 9, parent: 8 }));
        assert_eq!(event(&message(FORK, [7, 8, 10, 8])), None);
        assert_eq!(event(&message(ANSWER, [1, 0, 0, 0])), Some(Event::Answer(1)));
        assert_eq!(event(&message(2, [1, 1, 0, 0])), None);
        let whole = message(FORK, [7, 8, 9, 9]);
        for cut in 0..whole.len() {
            assert_eq!(event(&whole[..cut]), None, "cut at {cut}");
        }
    }
}
