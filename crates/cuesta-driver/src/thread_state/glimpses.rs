//! What users do at the end of an interval, for people who look at the run.

use std::collections::BTreeMap;

use cuesta_record::{Doing, Stamp, UserGlimpse};

use crate::spec::RunSpec;
use crate::user_state::{Activity, UserState, WaitingFor};

/// Typical users are looked for among at most this many.
const SAMPLE: usize = 512;

/// How many users do what.
pub(super) fn count_doing<'a>(users: impl Iterator<Item = &'a UserState>) -> BTreeMap<Doing, u64> {
    let mut counts = BTreeMap::new();
    users.for_each(|user| *counts.entry(doing(user)).or_default() += 1);
    counts
}

/// The slowest users, typical ones, and some that have failed.
pub(super) fn glimpses<'a>(
    users: impl Iterator<Item = &'a UserState> + Clone,
    spec: &RunSpec,
    end: Stamp,
) -> Vec<UserGlimpse> {
    let has_failed = |user: &UserState| user.lost.is_some() || user.gave_up;
    let slowness = |user: &UserState| waited(user, end).max(user.mean_response());
    let slowest = slowest(users.clone().filter(|user| !has_failed(user)), slowness).into_iter();
    let typical = typical(users.clone().filter(|user| user.transactions() > 0), slowness).into_iter();
    let failed = users.filter(|user| has_failed(user)).take(UserGlimpse::MOST);
    let all = slowest.map(|user| (user, "slowest")).chain(typical.map(|user| (user, "typical")));
    all.chain(failed.map(|user| (user, "failed"))).map(|(user, because)| glimpse(user, because, spec, end)).collect()
}

/// The users that are slowest, in one pass: an interval's end must not take long.
fn slowest<'a>(users: impl Iterator<Item = &'a UserState>, slowness: impl Fn(&UserState) -> f64) -> Vec<&'a UserState> {
    let mut slowest = Vec::<(f64, &UserState)>::with_capacity(UserGlimpse::MOST + 1);
    for user in users {
        let own = slowness(user);
        let at = slowest.partition_point(|(other, _)| *other >= own);
        if at < UserGlimpse::MOST {
            slowest.insert(at, (own, user));
            slowest.truncate(UserGlimpse::MOST);
        }
    }
    slowest.into_iter().map(|(_, user)| user).collect()
}

/// The users in the middle of a sample of all, by slowness.
fn typical<'a>(
    users: impl Iterator<Item = &'a UserState> + Clone,
    slowness: impl Fn(&UserState) -> f64,
) -> Vec<&'a UserState> {
    let step = users.clone().count() / SAMPLE + 1;
    let mut sample: Vec<_> = users.step_by(step).collect();
    sample.sort_unstable_by(|one, other| slowness(one).total_cmp(&slowness(other)));
    let before = sample.len().saturating_sub(UserGlimpse::MOST) / 2;
    sample.into_iter().skip(before).take(UserGlimpse::MOST).collect()
}

fn glimpse(user: &UserState, because: &'static str, spec: &RunSpec, end: Stamp) -> UserGlimpse {
    let sample = user.long_wait.as_deref();
    UserGlimpse {
        user: user.user,
        group: spec.groups[user.group].name.clone(),
        because,
        doing: doing(user),
        waited: waited(user, end),
        condition: sample.map(|sample| sample.condition.clone()),
        row: sample.and_then(|sample| sample.row.clone()),
        transactions: user.transactions(),
        mean: user.mean_response(),
        lost: user.lost,
    }
}

fn doing(user: &UserState) -> Doing {
    match (user.waiting_for, user.activity.0) {
        _ if user.opening.is_some() => Doing::Opening,
        _ if user.lost.is_some() => Doing::Lost,
        _ if !user.connected => Doing::Unstarted,
        (Some(WaitingFor::Answer(_)), _) => Doing::AwaitingAnswer,
        (Some(WaitingFor::Prompt(_) | WaitingFor::Ready(_)), _) => Doing::AwaitingPrompt,
        (None, Activity::Keying) => Doing::Keying,
        (None, Activity::Thinking) => Doing::Thinking,
        (None, Activity::Other) => Doing::Idle,
    }
}

/// How long the user has waited for the host at an instant, in seconds; 0 if it does not.
fn waited(user: &UserState, at: Stamp) -> f64 {
    let waits = user.waiting_for.map(WaitingFor::since);
    let since = waits.into_iter().chain(user.unechoed.map(|unechoed| unechoed.oldest)).chain(user.opening).min();
    since.map_or(0.0, |since| at.since(since).as_secs_f64())
}
