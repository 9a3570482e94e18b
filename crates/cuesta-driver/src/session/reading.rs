//! Reads the line, and passes the stamped characters to the echoes, the response matcher and the terminal.

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Received, StampPair, failure_of};
use cuesta_record::Failure;
use cuesta_tape::WaitCondition;

use super::Session;
use super::ready::MOST_PROBED;

impl Session {
    /// Reads the line once. If there is nothing to read, it draws a piece of the output that was read earlier.
    pub(super) fn poll_listen(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.show_if_due();
        self.answer_host(cx)?;
        if !self.terminal.is_full() {
            let read = self.poll_read(cx);
            if let Poll::Ready(Err(_)) = read {
                self.draw_all();
            }
            if read.is_ready() {
                return read;
            }
            if self.counted.bisync.is_some() {
                // It may have done something without any text for the user.
                self.count_traffic();
            }
        }
        self.poll_draw(cx)
    }

    /// Reads the line once.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let shared = Rc::clone(&self.shared);
        shared.with_buffer(|buffer| {
            let received = ready!(self.line.poll_receive(cx, buffer)).map_err(|error| failure_of(&error))?;
            if received.len == 0 {
                return Poll::Ready(Err(Failure::Closed));
            }
            self.follow_read(&received);
            self.take(&buffer[..received.len], &received);
            self.count_traffic();
            Poll::Ready(Ok(()))
        })
    }

    fn take(&mut self, bytes: &[u8], received: &Received) {
        self.shared.tally(|tally| tally.counts.characters.out += bytes.len() as u64);
        if let (None, Some(came)) = (self.since_key.first_stamps, received.stamped) {
            self.since_key.first_stamps = Some(came);
            self.count_own_part(came);
        }
        self.since_key.received = true;
        self.counted.first_output.get_or_insert(received.at);
        self.continued.note_received(received.at_character(bytes.len().saturating_sub(1)));
        let from = if self.program().matches_stream { self.take_echoes(bytes, received) } else { 0 };
        let condition = self.shared.program(self.group, self.program).condition(self.next_condition);
        self.response.take(condition, &bytes[from..], from, received);
        self.terminal.read(bytes, received);
        if let Some(probed) = &mut self.probed {
            let room = MOST_PROBED.saturating_sub(probed.len()).min(bytes.len());
            probed.extend(&bytes[..room]);
        }
        self.report_answer_signs();
        if self.response.floods(bytes.len()) && self.condition().and_then(WaitCondition::count).is_none() {
            self.shared.tally(|tally| tally.counts.count_failure(Failure::Flood));
        }
    }

    /// Records what this driver added to the time from the last key to the first character after it: from our stamp before the key
    /// to its packet, and from the packet that came to our stamp.
    fn count_own_part(&mut self, came: StampPair) {
        if let Some((kernel, ours)) = self.line.kernel_sent().and_then(|sent| came.since(sent)) {
            let series = self.shared.groups[self.group].series.own;
            self.shared.tally(|tally| tally.record(series, ours.saturating_sub(kernel)));
        }
    }

    /// Takes echoes out of a read; returns the index of the first byte that is not handled yet.
    fn take_echoes(&mut self, bytes: &[u8], received: &Received) -> usize {
        // With a map, only echoes may come while one is expected.
        let strict = !self.program().echo_map.is_empty();
        let mut from = 0;
        let mut events = self.shared.event_buffer.take();
        self.echoes.begin_read(&self.shared.echo_buffer);
        for (index, byte) in bytes.iter().enumerate() {
            if !self.echoes.follows() {
                self.echoes.skip(&bytes[index..]);
                break;
            }
            if !self.echoes.take(*byte, strict, || received.at_character(index), &mut events) {
                continue;
            }
            let condition = self.shared.program(self.group, self.program).condition(self.next_condition);
            self.response.take(condition, &bytes[from..index], from, received);
            from = index + 1;
            self.handle_events(&mut events);
        }
        self.echoes.end_read(&self.shared.echo_buffer, &mut events);
        self.handle_events(&mut events);
        self.shared.event_buffer.set(events);
        from
    }
}
