//! The only access to time: nothing else in Cuesta reads a clock or sleeps.
//!
//! Each thread that drives users or serves lines has a queue of due instants and one `timerfd`. The thread checks the queue
//! whenever it runs out of work. So an idle thread wakes within tens of microseconds of a due instant, and a busy thread needs no
//! system call for a timer. tokio's own timer is late by about a millisecond (median).
//!
//! In *virtual* time the clock stands still while any task can run and jumps to the next due instant when all tasks wait. A
//! closed loop of users, loopback lines and the built-in host is then deterministic and runs as fast as the CPU allows.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, LocalOptions};
use tokio::task;

use crate::Stamp;
use crate::timer_fd::{Expirations, TimerFd};
use crate::timer_queue::{SlotNumber, TimerQueue};

mod virtual_tasks;

pub use virtual_tasks::{Task, run_tasks};

/// How time passes on a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// The machine's monotonic clock.
    Real,
    /// The clock jumps from one due instant to the next. A task may wait only for tasks of the same thread.
    Virtual,
}

/// The current instant on this thread's clock. Real stamps of all processes of a machine can be compared.
pub fn now() -> Stamp {
    if !VIRTUAL.get() {
        LATEST.set(Stamp::from_nanos(read(ClockId::Monotonic)));
    }
    LATEST.get()
}

/// Nanoseconds since 1970 (UTC): the date of a run, never a measurement.
pub fn wall() -> u64 {
    read(ClockId::Realtime)
}

/// CPU time that this thread has used.
pub fn thread_cpu() -> Duration {
    Duration::from_nanos(read(ClockId::ThreadCPUTime))
}

/// CPU time that this process has used.
pub fn process_cpu() -> Duration {
    Duration::from_nanos(read(ClockId::ProcessCPUTime))
}

/// A future that completes at `due`, or at once if `due` has passed. Only under [`run`].
pub fn sleep_until(due: Stamp) -> Sleep {
    Sleep { due, slot: None }
}

/// A wait for an instant. [`Sleep::reset`] sets another instant, also after the wait has completed.
#[derive(Debug)]
pub struct Sleep {
    due: Stamp,
    /// The slot in the thread's queue, after the first poll that waits.
    slot: Option<SlotNumber>,
}

impl Sleep {
    /// The instant that is waited for.
    pub fn due(&self) -> Stamp {
        self.due
    }

    /// Waits for another instant from now on.
    pub fn reset(&mut self, due: Stamp) {
        self.due = due;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // The last instant that was read is good enough here: the thread reads a new one before it parks.
        let latest = LATEST.get();
        QUEUE.with_borrow_mut(|queue| {
            if latest >= self.due {
                self.slot.inspect(|slot| queue.expire(*slot, latest));
                return Poll::Ready(());
            }
            let slot = *self.slot.get_or_insert_with(|| queue.take_slot(cx.waker()));
            queue.schedule(slot, self.due, cx.waker());
            if self.due < ARMED.get() && latest.since(IDLE.get()) > BUSY {
                arm(queue);
            }
            Poll::Pending
        })
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            QUEUE.with_borrow_mut(|queue| queue.remove(slot));
        }
    }
}

/// Runs `future`, and what it spawns with [`tokio::task::spawn_local`], on this thread until `future` is done.
///
/// # Errors
/// When the kernel refuses a timer or an event queue: too few file descriptors.
///
/// # Panics
/// In virtual time, when every task waits and nothing is due.
pub fn run<F>(time: Time, future: F) -> io::Result<F::Output>
where
    F: Future + 'static,
{
    let mut builder = Builder::new_current_thread();
    match time {
        // `russh` uses tokio's timers for keep-alives; no measurement depends on them.
        Time::Real => builder.enable_io().enable_time().on_thread_park(fire_or_arm),
        Time::Virtual => builder.on_thread_park(advance_virtual_time),
    };
    let runtime = builder.build_local(LocalOptions::default())?;
    let _reset = enter(time)?;
    let output = runtime.block_on(async move {
        let timer = TIMER.with_borrow(Clone::clone);
        if let Some(timer) = timer {
            task::spawn_local(fire_on_expirations(timer.register()?));
        }
        // A separate task, so that virtual time cannot jump between its waking and its running.
        let main = task::spawn_local(async move {
            let output = future.await;
            FINISHED.set(true);
            output
        });
        match main.await {
            Ok(output) => Ok(output),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    drop(runtime);
    output
}

/// A thread that has not parked for this long may not park soon, so a task that begins to wait arms the timer itself.
const BUSY: Duration = Duration::from_millis(1);

/// Wakes every task that is due at `now`; true if there was one.
fn fire(queue: &mut TimerQueue, now: Stamp) -> bool {
    let mut any = false;
    while let Some(waker) = queue.take_due(now) {
        waker.wake_by_ref();
        any = true;
    }
    any
}

/// Least time between two expirations of the timer, because arming it and waking by it are expensive. A thread with more
/// instants than that is also woken by its lines.
const LEAST_TIMER_GAP: Duration = Duration::from_micros(50);

/// Arms the timer for the next due instant, unless it expires before that anyway.
fn arm(queue: &mut TimerQueue) {
    let Some(due) =
        queue.next_due().map(|due| due.max(WENT_OFF.get() + LEAST_TIMER_GAP)).filter(|due| *due < ARMED.get())
    else {
        return;
    };
    if TIMER.with_borrow(|timer| timer.as_ref().is_some_and(|timer| timer.set(due).is_ok())) {
        ARMED.set(due);
    }
}

thread_local! {
    static VIRTUAL: Cell<bool> = const { Cell::new(false) };
    /// The instant that was last read; in virtual time, the current instant.
    static LATEST: Cell<Stamp> = const { Cell::new(Stamp::ZERO) };
    static FINISHED: Cell<bool> = const { Cell::new(false) };
    static TIMER: RefCell<Option<TimerFd>> = const { RefCell::new(None) };
    /// When the thread last parked.
    static IDLE: Cell<Stamp> = const { Cell::new(Stamp::ZERO) };
    /// When the timer last expired.
    static WENT_OFF: Cell<Stamp> = const { Cell::new(Stamp::ZERO) };
    /// The instant that the timer is armed for.
    static ARMED: Cell<Stamp> = const { Cell::new(Stamp::FAR) };
    static QUEUE: RefCell<TimerQueue> = const { RefCell::new(TimerQueue::new()) };
}

/// Restores the thread's clock when a run ends.
struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        VIRTUAL.set(false);
        LATEST.set(Stamp::ZERO);
        TIMER.set(None);
        ARMED.set(Stamp::FAR);
        WENT_OFF.set(Stamp::ZERO);
    }
}

fn enter(time: Time) -> io::Result<Reset> {
    FINISHED.set(false);
    match time {
        // Not zero, so that instants before the start can be represented.
        Time::Virtual => {
            VIRTUAL.set(true);
            LATEST.set(Stamp::from_nanos(1_000_000_000));
        }
        Time::Real => TIMER.set(Some(TimerFd::new()?)),
    }
    Ok(Reset)
}

/// Called when the thread is about to park: wakes the tasks that are due, or arms the timer for the next.
fn fire_or_arm() {
    let now = now();
    IDLE.set(now);
    QUEUE.with_borrow_mut(|queue| {
        if !fire(queue, now) {
            arm(queue);
        }
    });
}

/// Fires timers on a thread that never parks, in turn with its lines.
async fn fire_on_expirations(expirations: Expirations) -> io::Result<()> {
    loop {
        expirations.next().await?;
        let now = now();
        WENT_OFF.set(now);
        ARMED.set(Stamp::FAR);
        QUEUE.with_borrow_mut(|queue| {
            fire(queue, now);
            arm(queue);
        });
    }
}

/// Called when the thread is about to park in virtual time: sets the clock to the next due instant.
fn advance_virtual_time() {
    QUEUE.with_borrow_mut(|queue| match queue.next_due() {
        Some(due) => {
            LATEST.set(due);
            fire(queue, due);
        }
        None => assert!(FINISHED.get(), "virtual time stands still: every task waits and nothing is due"),
    });
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;
    use std::task::Waker;

    #[test]
    fn virtual_time_is_exact() {
        let woken = run(Time::Virtual, async {
            let start = now();
            let mut woken = Vec::new();
            for nanos in [5, 1, 1_000_000_007] {
                sleep_until(start + Duration::from_nanos(nanos)).await;
                woken.push(now().since(start).as_nanos());
            }
            woken
        });
        assert_eq!(woken.expect("runs"), [5, 5, 1_000_000_007]);
    }

    #[test]
    fn sleepers_due_together_wake_together_in_order() {
        let order = run(Time::Virtual, async {
            let due = now() + Duration::from_secs(3600);
            let order = Rc::new(RefCell::new(Vec::new()));
            let tasks: Vec<_> = (0..4)
                .map(|n| {
                    let order = Rc::clone(&order);
                    task::spawn_local(async move {
                        sleep_until(due).await;
                        order.borrow_mut().push((n, now() == due));
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("no panic");
            }
            order.take()
        });
        assert_eq!(order.expect("runs"), [(0, true), (1, true), (2, true), (3, true)]);
    }

    #[test]
    fn a_sleep_that_is_dropped_or_moved_leaves_nothing_behind() {
        run(Time::Virtual, async {
            let far = now() + Duration::from_secs(9);
            let mut sleep = sleep_until(far);
            assert!(futures_poll(&mut sleep).is_pending());
            sleep.reset(now() + Duration::from_secs(1));
            assert!(futures_poll(&mut sleep).is_pending());
            assert_eq!(QUEUE.with_borrow_mut(TimerQueue::next_due), Some(sleep.due()));
            drop(sleep);
            assert_eq!(QUEUE.with_borrow_mut(TimerQueue::next_due), None);
        })
        .expect("runs");
    }

    fn futures_poll(sleep: &mut Sleep) -> Poll<()> {
        Pin::new(sleep).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn real_time_wakes_after_due_never_before() {
        run(Time::Real, async {
            let mut due = now();
            for _ in 0..50 {
                due += Duration::from_micros(700);
                sleep_until(due).await;
                assert!(now() >= due);
            }
        })
        .expect("runs");
    }

    #[test]
    fn a_busy_thread_still_wakes_its_sleepers() {
        run(Time::Real, async {
            let done = Rc::new(Cell::new(false));
            let seen = Rc::clone(&done);
            let busy = task::spawn_local(async move {
                while !seen.get() {
                    task::yield_now().await;
                }
            });
            for _ in 0..5 {
                sleep_until(now() + Duration::from_millis(3)).await;
            }
            done.set(true);
            busy.await.expect("no panic");
        })
        .expect("runs");
    }

    #[test]
    #[should_panic(expected = "virtual time stands still")]
    fn a_deadlock_in_virtual_time_panics() {
        let _ = run(Time::Virtual, std::future::pending::<()>());
    }
}
