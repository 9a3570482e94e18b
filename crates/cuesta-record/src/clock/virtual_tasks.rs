//! Tasks in virtual time without a runtime, for simulations of very many users.
//!
//! To wake a task puts its number into a queue, and to run it is one call. With tokio, waking and running a task takes longer than
//! what a simulated user does when it runs.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::{Time, advance_virtual_time, set_up};

/// A task. It may sleep, and wake other tasks of its thread. It may not use tokio's runtime.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Runs a main future and tasks on this thread in virtual time, until the main future is done. `begin` makes them once virtual
/// time has begun.
///
/// # Errors
/// Never, so far: as [`run`](super::run).
///
/// # Panics
/// When all of them wait and nothing is due.
pub fn run_tasks<M: Future>(begin: impl FnOnce() -> (M, Vec<Task>)) -> std::io::Result<M::Output> {
    let _reset = set_up(Time::Virtual)?;
    let (main, tasks) = begin();
    let mut main = pin!(main);
    let mut tasks: Vec<_> = tasks.into_iter().map(Some).collect();
    let wakers: Vec<Waker> = (0..=tasks.len()).map(|number| Waker::from(Arc::new(TaskWaker { number }))).collect();
    READY.with_borrow_mut(|ready| ready.all_of(wakers.len()));
    loop {
        while let Some(number) = READY.with_borrow_mut(ReadyTasks::next) {
            let mut context = Context::from_waker(&wakers[number]);
            if let Some(task) = tasks.get_mut(number) {
                if task.as_mut().is_some_and(|task| task.as_mut().poll(&mut context).is_ready()) {
                    *task = None;
                }
            } else if let Poll::Ready(output) = main.as_mut().poll(&mut context) {
                return Ok(output);
            }
        }
        advance_virtual_time();
    }
}

/// The tasks that can run, in the order in which they were woken.
#[derive(Debug)]
struct ReadyTasks {
    queue: VecDeque<usize>,
    /// Whether a task is in the queue, by its number.
    queued: Vec<bool>,
}

impl ReadyTasks {
    /// `count` tasks, each of which begins to run.
    fn all_of(&mut self, count: usize) {
        *self = Self { queue: (0..count).collect(), queued: vec![true; count] };
    }

    fn next(&mut self) -> Option<usize> {
        let number = self.queue.pop_front()?;
        self.queued[number] = false;
        Some(number)
    }

    fn wake(&mut self, number: usize) {
        if let Some(queued) = self.queued.get_mut(number).filter(|queued| !**queued) {
            *queued = true;
            self.queue.push_back(number);
        }
    }
}

thread_local! {
    static READY: RefCell<ReadyTasks> =
        const { RefCell::new(ReadyTasks { queue: VecDeque::new(), queued: Vec::new() }) };
}

/// Wakes the task with a number on the thread where it is called, which is that of the task: nothing is sent to other threads.
struct TaskWaker {
    number: usize,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        READY.with_borrow_mut(|ready| ready.wake(self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{now, sleep_until};
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Duration;

    #[test]
    fn tasks_sleep_exactly_and_wake_in_order() {
        let (woken, ended) = run_tasks(|| {
            let begin = now();
            let woken = Rc::new(RefCell::new(Vec::new()));
            let seen = Rc::clone(&woken);
            let tasks = (0..4_u32).map(move |n| -> Task {
                let woken = Rc::clone(&seen);
                Box::pin(async move {
                    for turn in 1..=2 {
                        sleep_until(begin + Duration::from_secs(3600) * turn).await;
                        woken.borrow_mut().push((turn, n, now().since(begin).as_secs()));
                    }
                })
            });
            let main = async move {
                sleep_until(begin + Duration::from_secs(5000)).await;
                (woken.take(), now().since(begin).as_secs())
            };
            (main, tasks.collect())
        })
        .expect("runs");
        assert_eq!(woken, [(1, 0, 3600), (1, 1, 3600), (1, 2, 3600), (1, 3, 3600)]);
        assert_eq!(ended, 5000);
    }

    #[test]
    fn a_task_that_is_woken_twice_runs_once() {
        let runs = run_tasks(|| {
            let runs = Rc::new(Cell::new(0));
            let seen = Rc::clone(&runs);
            let task: Task = Box::pin(std::future::poll_fn(move |cx| {
                seen.set(seen.get() + 1);
                if seen.get() < 3 {
                    cx.waker().wake_by_ref();
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }));
            let main = async move {
                sleep_until(now() + Duration::from_secs(1)).await;
                runs.get()
            };
            (main, vec![task])
        });
        assert_eq!(runs.expect("runs"), 3);
    }
}
