//! The only access to time: nothing else in Cuesta reads a clock or sleeps.
//!
//! Each thread that drives users or serves lines has a queue of due instants and one `timerfd`. The thread checks the queue
//! whenever it runs out of work. So an idle thread wakes within tens of microseconds of a due instant, and a busy thread needs no
//! system call for a timer. tokio's own timer is late by about a millisecond (median). How a thread that drives users waits is
//! chosen in `wait_policy`.
//!
//! In *virtual* time the clock stands still while any task can run and jumps to the next due instant when all tasks wait. A
//! closed loop of users, loopback lines and the built-in host is then deterministic and runs as fast as the CPU allows.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::num::NonZero;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{fs, io};

use rustix::thread::{clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::{ClockId, Timespec, clock_gettime};
use tokio::runtime::{Builder, LocalOptions};
use tokio::task;

use crate::Stamp;
use crate::timer_fd::{Expirations, TimerFd};
use crate::timer_queue::{SlotNumber, TimerQueue};

mod virtual_tasks;
mod wait_policy;

use wait_policy::{WaitKind, WaitPolicy};

pub use virtual_tasks::{Task, run_tasks};

/// How time passes on a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// The machine's monotonic clock.
    Real,
    /// The clock jumps from one due instant to the next. A task may wait only for tasks of the same thread.
    Virtual,
}

/// The current instant on this thread's clock. Real stamps of two processes can be compared if their clocks have one [`name`].
pub fn now() -> Stamp {
    if !VIRTUAL.get() {
        READS.set(READS.get().wrapping_add(1));
        return read_real_clock();
    }
    LATEST.get()
}

/// The instant that this thread read last, without reading the clock. It is older than now by the work done since: for decisions,
/// never for stamps.
pub fn latest() -> Stamp {
    LATEST.get()
}

/// Reads the real clock for the thread itself, not for a task.
fn read_real_clock() -> Stamp {
    let now = Stamp::from_nanos(read(ClockId::Monotonic));
    LATEST.set(now);
    now
}

/// Nanoseconds since 1970 (UTC): the date of a run, never a measurement.
pub fn wall() -> u64 {
    read(ClockId::Realtime)
}

/// The name of this process's monotonic clock: the machine's boot, and the time namespace. `None` if `/proc` does not tell.
pub fn name() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    let number: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Some(format!("{}-{number}", boot.split('-').next()?))
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
            if self.due < ARMED.get() && latest.since(PARKED.get()) > BUSY {
                arm(queue, Duration::ZERO);
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
        Time::Real => builder.enable_io().enable_time().on_thread_park(on_park).on_thread_unpark(on_unpark),
        Time::Virtual => builder.on_thread_park(advance_virtual_time),
    };
    let runtime = builder.build_local(LocalOptions::default())?;
    let _reset = set_up(time)?;
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

/// Least time between two expirations of the timer, because arming it and waking by it are expensive. On a thread with more
/// than one instant in this time, the lines of its many users wake it sooner.
const LEAST_TIMER_GAP: Duration = Duration::from_micros(50);

/// Arms the timer by `early` before the next due instant, unless it expires by then anyway.
fn arm(queue: &mut TimerQueue, early: Duration) {
    let Some(due) = queue.next_due() else { return };
    let due = (due - early).max(EXPIRED.get() + LEAST_TIMER_GAP);
    if due >= ARMED.get() {
        return;
    }
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
    static PARKED: Cell<Stamp> = const { Cell::new(Stamp::ZERO) };
    /// When the timer last expired.
    static EXPIRED: Cell<Stamp> = const { Cell::new(Stamp::ZERO) };
    /// The instant that the timer is armed for.
    static ARMED: Cell<Stamp> = const { Cell::new(Stamp::FAR) };
    /// How often the clock was read since the thread last parked.
    static READS: Cell<u32> = const { Cell::new(0) };
    static WAIT_POLICY: RefCell<Option<WaitPolicy>> = const { RefCell::new(None) };
    /// Wakes the task `spin`.
    static SPINNER: RefCell<Waker> = RefCell::new(Waker::noop().clone());
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
        EXPIRED.set(Stamp::ZERO);
        WAIT_POLICY.set(None);
        SPINNER.set(Waker::noop().clone());
    }
}

fn set_up(time: Time) -> io::Result<Reset> {
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

/// Has the thread wait as one that drives users and not as a host: a busy one wakes seldom, which saves much of its CPU time, and an
/// idle one may spin (`clock/wait_policy.rs`). Only under [`run`].
pub fn wait_as_driver() {
    // By default the kernel ends a sleep up to 50 us late, so that threads wake together.
    let _ = set_current_timer_slack(NonZero::new(1));
    WAIT_POLICY.set(Some(WaitPolicy::new(read_real_clock())));
    task::spawn_local(spin());
}

/// Allows an idle thread to spin for a small share of the time, or forbids it. Not at first. Only after [`wait_as_driver`].
pub fn allow_spinning(may_spin: bool) {
    WAIT_POLICY.with_borrow_mut(|policy| policy.as_mut().map(|policy| policy.may_spin = may_spin));
}

/// How long the thread has spun in all.
pub fn spun() -> Duration {
    WAIT_POLICY.with_borrow(|policy| policy.as_ref().map_or(Duration::ZERO, |policy| policy.spun))
}

/// Called when the thread is about to park: wakes the tasks that are due, or arms the timer for the next.
fn on_park() {
    let reads = READS.take();
    let mut now = read_real_clock();
    let kind = WAIT_POLICY.with_borrow_mut(|policy| {
        let policy = policy.as_mut()?;
        let due = QUEUE.with_borrow_mut(TimerQueue::next_due).unwrap_or(Stamp::FAR);
        Some(policy.begin(now, reads, due))
    });
    if let Some(WaitKind::Turn(until)) = kind {
        sleep_thread_until(until);
        now = read_real_clock();
    }
    PARKED.set(now);
    QUEUE.with_borrow_mut(|queue| {
        if fire(queue, now) {
            return;
        }
        match kind {
            Some(WaitKind::Spin) => SPINNER.with_borrow(Waker::wake_by_ref),
            Some(WaitKind::Wait(early)) => arm(queue, early),
            Some(WaitKind::Turn(_)) | None => arm(queue, Duration::ZERO),
        }
    });
}

/// Called when the thread wakes from parking.
fn on_unpark() {
    WAIT_POLICY.with_borrow_mut(|policy| policy.as_mut().map(|policy| policy.end(read_real_clock())));
}

/// While a thread spins, this task is woken each time, so that the runtime looks at its lines and does not wait for them.
async fn spin() {
    poll_fn(|cx| {
        SPINNER.with_borrow_mut(|spinner| spinner.clone_from(cx.waker()));
        Poll::<()>::Pending
    })
    .await;
}

/// Fires timers on a thread that never parks, in turn with its lines.
async fn fire_on_expirations(expirations: Expirations) -> io::Result<()> {
    loop {
        expirations.next().await?;
        let now = read_real_clock();
        EXPIRED.set(now);
        ARMED.set(Stamp::FAR);
        // The interrupt of a timer would delay a thread that spins until it is due.
        let spins = WAIT_POLICY.with_borrow(|policy| policy.as_ref().is_some_and(WaitPolicy::may_spin_now));
        QUEUE.with_borrow_mut(|queue| {
            fire(queue, now);
            if !spins {
                arm(queue, Duration::ZERO);
            }
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

#[expect(clippy::disallowed_methods, reason = "this is where threads sleep")]
fn sleep_thread_until(due: Stamp) {
    let nanos = i64::try_from(due.as_nanos()).unwrap_or(i64::MAX);
    let at = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
    // A signal ends it early, which costs nothing but time.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &at);
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

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

    /// How much of the time it may spin is tested in `wait_policy`.
    #[test]
    fn a_driver_spins_only_if_it_may_and_never_wakes_early() {
        let sleeps_while = |may_spin, goes_on: fn(u32) -> bool| {
            run(Time::Real, async move {
                wait_as_driver();
                allow_spinning(may_spin);
                let (mut due, mut sleeps) = (now(), 0);
                while goes_on(sleeps) {
                    due += Duration::from_millis(10);
                    sleep_until(due).await;
                    assert!(now() >= due);
                    sleeps += 1;
                }
                spun()
            })
            .expect("runs")
        };
        assert_eq!(sleeps_while(false, |sleeps| sleeps < 50), Duration::ZERO);
        sleeps_while(true, |_| spun() < Duration::from_millis(5));
    }

    #[test]
    #[should_panic(expected = "virtual time stands still")]
    fn a_deadlock_in_virtual_time_panics() {
        let _ = run(Time::Virtual, std::future::pending::<()>());
    }
}
