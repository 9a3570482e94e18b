//! Casts in and out, and the tapes made from them.

mod properties;
mod reading;
mod samples;
mod secrets;
