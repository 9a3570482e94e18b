//! How users get their lines: over the network as the plan says, or in virtual time from the caller.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use cuesta_lines::{Line, Login, OpenError, Options, Target};

use crate::error::RunError;
use crate::group::Group;
use crate::spec::RunSpec;

/// Opens a line for a user.
pub type Connect = Rc<dyn Fn(usize, u32) -> Pin<Box<dyn Future<Output = Result<Box<dyn Line>, OpenError>>>>>;

/// Opens lines as the plan says.
pub(crate) fn connect_to_targets(spec: &RunSpec, groups: &[Group]) -> Result<Connect, RunError> {
    let groups = spec.groups.iter().zip(groups).map(|(spec, group)| {
        let target: Target =
            spec.target.parse().map_err(|error| RunError::Plan(format!("`{}`: {error}", spec.target)))?;
        Ok((target, group.line.clone()))
    });
    let groups = Rc::new(groups.collect::<Result<Vec<_>, RunError>>()?);
    let logins: Rc<Vec<_>> = Rc::new((0..spec.groups.len()).map(|group| Logins::new(spec, group)).collect());
    let (stamps, paths): (_, Vec<_>) = (spec.stamps, spec.groups.iter().map(|group| group.path).collect());
    Ok(Rc::new(move |group, user| {
        let groups = Rc::clone(&groups);
        let login = logins[group].for_user(user);
        let is_nth = |every: u32| every > 0 && user.is_multiple_of(every);
        let followed = is_nth(paths[group]);
        // By the kernel's stamps the path's parts are checked.
        let stamped = is_nth(stamps) || followed;
        Box::pin(async move {
            let (target, options) = &groups[group];
            let options = Options { stamped, followed, login, ..options.clone() };
            cuesta_lines::open(target, &options).await
        })
    }))
}

/// Reads the configuration of ssh for every login before the run. It takes some milliseconds each, for which no user should
/// wait.
///
/// # Errors
/// When a target cannot be read, or its configuration has a setting that cannot be honoured.
pub fn prepare(spec: &RunSpec) -> Result<(), RunError> {
    for (number, group) in spec.groups.iter().enumerate() {
        let target: Target =
            group.target.parse().map_err(|error| RunError::Plan(format!("`{}`: {error}", group.target)))?;
        let Target::Ssh(target) = target else { continue };
        let mut table = Logins::new(spec, number).table;
        table.push(Login::default());
        let users: BTreeMap<_, _> = table.into_iter().map(|login| (login.user.clone(), login)).collect();
        let count = users.len();
        for (user, login) in users {
            // The login without a user is used only where the table has none.
            if user.is_some() || count == 1 {
                cuesta_lines::configure(&target, &login).map_err(|error| RunError::Plan(error.to_string()))?;
            }
        }
    }
    Ok(())
}

/// Logins on lines that log in by themselves: the rows of a group's table.
struct Logins {
    /// The number of the group's first user.
    first: u32,
    table: Vec<Login>,
}

impl Logins {
    fn new(spec: &RunSpec, group: usize) -> Self {
        Self { first: spec.first_user(group), table: spec.groups[group].data.iter().map(Login::from_row).collect() }
    }

    fn for_user(&self, user: u32) -> Login {
        let row = user.saturating_sub(self.first) as usize % self.table.len().max(1);
        self.table.get(row).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_logs_in_by_the_row_whose_cells_it_types() {
        let group =
            |name: &str, data: &str| format!(r#"{{"name":"{name}","script":"s","target":"ssh://h","data":[{data}]}}"#);
        let rows = r#"{"user":"ann","password":"a"},{"user":"ben","password":""}"#;
        let load = r#"{"users":3,"stagger":0,"load":{"kind":"closed"}}"#;
        let text = format!(
            r#"{{"seed":1,"drain":0,"groups":[{},{}],"steps":[{{"settle":0,"measure":1,"groups":[{load},{load}]}}]}}"#,
            group("none", ""),
            group("some", rows),
        );
        let spec: RunSpec = serde_json::from_str(&text).unwrap();
        let [none, some] = [0, 1].map(|group| Logins::new(&spec, group));
        assert_eq!(none.for_user(2), Login::default());
        let login = |user| {
            let Login { user, password, cells, .. } = some.for_user(user);
            assert_eq!(cells.get("user"), user.as_ref());
            (user.unwrap_or_default(), password)
        };
        let [ann, ben] = [("ann", Some("a")), ("ben", None)];
        let own = |(user, password): (&str, Option<&str>)| (user.to_owned(), password.map(str::to_owned));
        assert_eq!([3, 4, 5].map(login), [ann, ben, ann].map(own));
    }
}
