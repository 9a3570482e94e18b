//! Timer queue: a 4-ary heap with lazy rescheduling. Pure: instants and wakers in, wakers out.
//!
//! A waiting task keeps its timer as long as its line, and schedules it for one instant after another. Most of these are
//! deadlines that are postponed before they expire. So each timer has a *slot* with its waker and its due instant. A postponed
//! instant is stored only in the slot; the heap is updated when the old instant expires.

use std::task::Waker;

use crate::Stamp;

/// The wakers of waiting tasks, the earliest due instant first.
#[derive(Debug)]
pub(crate) struct TimerQueue {
    /// A heap with four children to a node, the earliest on top.
    heap: Vec<Node>,
    slots: Vec<TimerSlot>,
    /// Index of each slot's node in the heap, or [`NOT_QUEUED`]. Apart from the slots, because each move in the heap writes one:
    /// those of a million timers fit in a cache.
    positions: Vec<u32>,
    free: Vec<SlotNumber>,
    /// Orders nodes that are due at the same instant.
    next: u64,
}

pub(crate) type SlotNumber = u32;

#[derive(Debug, Clone, Copy)]
struct Node {
    due: Stamp,
    order: u64,
    slot: SlotNumber,
}

#[derive(Debug)]
struct TimerSlot {
    waker: Waker,
    /// The due instant; never before the instant in the heap.
    due: Stamp,
}

const NOT_QUEUED: u32 = u32::MAX;
const CHILDREN: usize = 4;

impl TimerQueue {
    pub(crate) const fn new() -> Self {
        Self { heap: Vec::new(), slots: Vec::new(), positions: Vec::new(), free: Vec::new(), next: 0 }
    }

    pub(crate) fn take_slot(&mut self, waker: &Waker) -> SlotNumber {
        let slot = TimerSlot { waker: waker.clone(), due: Stamp::FAR };
        if let Some(number) = self.free.pop() {
            self.slots[number as usize] = slot;
            return number;
        }
        self.slots.push(slot);
        self.positions.push(NOT_QUEUED);
        SlotNumber::try_from(self.slots.len() - 1).expect("no machine has memory for so many")
    }

    pub(crate) fn remove(&mut self, number: SlotNumber) {
        self.cancel(number);
        self.slots[number as usize].waker.clone_from(Waker::noop());
        self.free.push(number);
    }

    /// Sets the due instant of a slot, in place of an earlier one.
    pub(crate) fn schedule(&mut self, number: SlotNumber, due: Stamp, waker: &Waker) {
        let slot = &mut self.slots[number as usize];
        slot.waker.clone_from(waker);
        slot.due = due;
        match self.position(number) {
            None => {
                self.heap.push(Node { due, order: 0, slot: number });
                self.reschedule(self.heap.len() - 1, due);
            }
            Some(position) if due < self.heap[position].due => self.reschedule(position, due),
            Some(_) => {}
        }
    }

    /// Ends the wait of a slot at `now`. A node that is due is removed; a later one stays until it expires.
    pub(crate) fn expire(&mut self, number: SlotNumber, now: Stamp) {
        if self.position(number).is_some_and(|position| self.heap[position].due <= now) {
            self.cancel(number);
        }
    }

    /// The earliest due instant.
    pub(crate) fn next_due(&mut self) -> Option<Stamp> {
        loop {
            let first = self.heap.first()?;
            let wanted = self.slots[first.slot as usize].due;
            if wanted <= first.due {
                return Some(first.due);
            }
            self.reschedule(0, wanted);
        }
    }

    /// Removes the first node that is due at `now` and returns its waker.
    pub(crate) fn take_due(&mut self, now: Stamp) -> Option<&Waker> {
        self.next_due().filter(|due| *due <= now)?;
        let number = self.heap[0].slot;
        self.cancel(number);
        Some(&self.slots[number as usize].waker)
    }

    /// Where a slot's node is in the heap, if it has one.
    fn position(&self, number: SlotNumber) -> Option<usize> {
        let position = self.positions[number as usize];
        (position != NOT_QUEUED).then_some(position as usize)
    }

    fn cancel(&mut self, number: SlotNumber) {
        let Some(position) = self.position(number) else { return };
        self.positions[number as usize] = NOT_QUEUED;
        self.heap.swap_remove(position);
        if position < self.heap.len() {
            self.sift(position);
        }
    }

    /// Gives a node another due instant, behind all others of that instant.
    fn reschedule(&mut self, position: usize, due: Stamp) {
        self.next += 1;
        let node = &mut self.heap[position];
        (node.due, node.order) = (due, self.next);
        self.sift(position);
    }

    /// Moves a node up or down until the heap is in order.
    fn sift(&mut self, mut position: usize) {
        let node = self.heap[position];
        while position > 0 && node.key() < self.heap[(position - 1) / CHILDREN].key() {
            let parent = (position - 1) / CHILDREN;
            self.set_node(position, self.heap[parent]);
            position = parent;
        }
        while let Some(child) = self.first_child(position).filter(|child| self.heap[*child].key() < node.key()) {
            self.set_node(position, self.heap[child]);
            position = child;
        }
        self.set_node(position, node);
    }

    /// The child of a position that is due before its siblings.
    fn first_child(&self, position: usize) -> Option<usize> {
        let eldest = position * CHILDREN + 1;
        let children = eldest..(eldest + CHILDREN).min(self.heap.len());
        children.min_by_key(|child| self.heap[*child].key())
    }

    fn set_node(&mut self, position: usize, node: Node) {
        self.heap[position] = node;
        self.positions[node.slot as usize] = position as u32;
    }
}

impl Node {
    fn key(&self) -> (Stamp, u64) {
        (self.due, self.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    /// A waker that stores its number when it is woken.
    struct Bell {
        number: usize,
        rung: Arc<AtomicUsize>,
    }

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.rung.store(self.number, Ordering::Relaxed);
        }
    }

    /// A queue with `count` slots, and the number of the waker that was called last.
    fn queue_of(count: usize) -> (TimerQueue, Vec<(SlotNumber, Waker)>, Arc<AtomicUsize>) {
        let mut queue = TimerQueue::new();
        let rung = Arc::<AtomicUsize>::default();
        let bell = |number| Waker::from(Arc::new(Bell { number, rung: Arc::clone(&rung) }));
        let slots = (0..count).map(|number| (queue.take_slot(&bell(number)), bell(number))).collect();
        (queue, slots, rung)
    }

    fn all_due(queue: &mut TimerQueue, rung: &AtomicUsize, now: u64) -> Vec<usize> {
        let mut woken = Vec::new();
        while let Some(waker) = queue.take_due(Stamp::from_nanos(now)) {
            waker.wake_by_ref();
            woken.push(rung.load(Ordering::Relaxed));
        }
        woken
    }

    #[test]
    fn timers_expire_by_deadline_then_in_order_of_insertion() {
        let (mut queue, slots, rung) = queue_of(6);
        for ((slot, waker), due) in slots.iter().zip([50, 10, 50, 30, 10, 90]) {
            queue.schedule(*slot, Stamp::from_nanos(due), waker);
        }
        assert_eq!(queue.next_due(), Some(Stamp::from_nanos(10)));
        assert_eq!(all_due(&mut queue, &rung, 50), [1, 4, 3, 0, 2]);
        assert_eq!(queue.next_due(), Some(Stamp::from_nanos(90)));
    }

    #[test]
    fn a_postponed_deadline_is_neither_missed_nor_early() {
        let (mut queue, slots, rung) = queue_of(2);
        let (slot, waker) = &slots[1];
        queue.schedule(*slot, Stamp::from_nanos(10), waker);
        queue.schedule(*slot, Stamp::from_nanos(70), waker);
        assert!(all_due(&mut queue, &rung, 69).is_empty());
        queue.schedule(*slot, Stamp::from_nanos(40), waker);
        assert_eq!(all_due(&mut queue, &rung, 40), [1]);
        assert_eq!(queue.next_due(), None);
    }

    #[test]
    fn a_removed_timer_does_not_expire_and_its_slot_is_reused() {
        let (mut queue, slots, rung) = queue_of(2);
        for (slot, waker) in &slots {
            queue.schedule(*slot, Stamp::from_nanos(10), waker);
        }
        queue.remove(slots[0].0);
        assert_eq!(queue.take_slot(&slots[0].1), slots[0].0);
        assert_eq!(all_due(&mut queue, &rung, 99), [1]);
    }

    #[test]
    fn timers_expire_sorted_after_any_insertions_and_removals() {
        let (mut queue, slots, rung) = queue_of(300);
        let mut wanted = vec![None; slots.len()];
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (number, due) = ((random >> 33) as usize % slots.len(), random >> 50);
            let (slot, waker) = &slots[number];
            if due % 7 == 0 {
                queue.cancel(*slot);
                wanted[number] = None;
            } else {
                queue.schedule(*slot, Stamp::from_nanos(due), waker);
                wanted[number] = Some(due);
            }
        }
        let woken = all_due(&mut queue, &rung, u64::MAX);
        assert_eq!(woken.len(), wanted.iter().flatten().count());
        assert!(woken.is_sorted_by_key(|number| wanted[*number]));
    }
}
