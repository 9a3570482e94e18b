//! How users come by their lines.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use cuesta_lines::Line;

/// Opens a line for a user.
pub type Connect = Rc<dyn Fn(usize, u32) -> Pin<Box<dyn Future<Output = Result<Box<dyn Line>, Refused>>>>>;

/// Why there is no line.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The name under which it is counted.
    pub name: &'static str,
    /// The same for a person, with what to do.
    pub said: String,
}
