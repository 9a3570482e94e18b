//! Services a line: sends the output that is due, reads and echoes input, and counts both.

use std::io;
use std::task::{Context, Poll};

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_record::clock;

use super::{MOST_ANSWER, Terminal};

/// Most characters of echoes that may wait beyond `MOST_ANSWER`, so that the line is still read while a long answer goes out.
const MOST_ECHO: usize = 512;
/// Most characters of one read.
const MOST_READ: usize = 512;

impl Terminal {
    /// Moves characters both ways as far as possible. Returns when to service the line again if nothing arrives.
    pub(crate) fn service_line(&mut self, cx: &mut Context<'_>) -> io::Result<Stamp> {
        let began = clock::now();
        if let Some(end) = self.front.stalled(began) {
            return Ok(end);
        }
        let mut now = began;
        loop {
            self.send(cx, &mut now)?;
            // The echo of a message's last key is sent with the answer if that is ready at once.
            if !self.receive(cx, &mut now)? || (self.asked && self.input.is_ready()) {
                break;
            }
        }
        self.count_traffic();
        self.front.meters.count_wake(now.since(began));
        // A blocked line wakes the task when it takes more.
        Ok(self.output.next_due().filter(|_| !self.blocked).unwrap_or(Stamp::FAR))
    }

    /// Sends the output that is due, as far as the line takes it.
    fn send(&mut self, cx: &mut Context<'_>, now: &mut Stamp) -> io::Result<()> {
        loop {
            let ready = self.output.ready(*now);
            if ready.is_empty() {
                return Ok(());
            }
            let sent = self.line.poll_send(cx, ready)?;
            let began = std::mem::replace(now, clock::now());
            self.front.meters.write_nanos.add(now.since(began).as_nanos() as u64);
            let Poll::Ready(sent) = sent else {
                let left = ready.len();
                self.block(left);
                return Ok(());
            };
            self.front.meters.writes.add(1);
            self.output.sent(sent);
            self.front.pool.give(sent);
            self.unblock();
        }
    }

    fn block(&mut self, left: usize) {
        if !std::mem::replace(&mut self.blocked, true) {
            self.front.meters.count_block(left as u64);
        }
    }

    pub(super) fn unblock(&mut self) {
        if std::mem::take(&mut self.blocked) {
            self.front.meters.levels.blocked.subtract(1);
        }
    }

    /// Reads input, as far as there is room for it and its echo; true if any was read.
    fn receive(&mut self, cx: &mut Context<'_>, now: &mut Stamp) -> io::Result<bool> {
        let room = self.room_to_read();
        if room == 0 || self.hung_up {
            if let Some(station) = self.line.station() {
                station.poll_serve(cx);
            }
            return Ok(false);
        }
        let mut buffer = [0; MOST_READ];
        let received = self.line.poll_receive(cx, &mut buffer[..room.min(MOST_READ)])?;
        let began = std::mem::replace(now, clock::now());
        self.front.meters.read_nanos.add(now.since(began).as_nanos() as u64);
        let Poll::Ready(received) = received else { return Ok(false) };
        self.front.meters.reads.add(1);
        self.hung_up = received.len == 0;
        self.take(&buffer[..received.len], &received);
        Ok(!self.hung_up)
    }

    fn room_to_read(&self) -> usize {
        let room = self.input.room();
        if !self.front.settings.discipline.echo {
            return room;
        }
        // Each character is echoed as two at most.
        room.min(self.front.pool.room(self.output.len(), MOST_ANSWER + MOST_ECHO).characters / 2)
    }

    fn take(&mut self, typed: &[u8], received: &Received) {
        let discipline = &self.front.settings.discipline;
        let (output, mut echoed) = (&mut self.output, 0);
        let taken = self.input.take(discipline, typed, received, |echo| {
            if discipline.echo {
                output.push(Stamp::ZERO, echo.len(), |into| into.copy_from_slice(echo));
                echoed += echo.len();
            }
        });
        self.front.pool.take(echoed);
        self.front.meters.count_typed(typed.len(), echoed, taken);
    }

    pub(super) fn count_traffic(&mut self) {
        let traffic = self.line.traffic();
        let before = std::mem::replace(&mut self.traffic, traffic);
        self.front.meters.line_in.add(traffic.received - before.received);
        self.front.meters.line_out.add(traffic.sent - before.sent);
        if let Some(before) = &mut self.bisync
            && let Some(totals) = self.line.station().map(|station| station.totals())
            && totals != *before
        {
            self.front.meters.count_bisync(&totals.since(before));
            *before = totals;
        }
    }
}
