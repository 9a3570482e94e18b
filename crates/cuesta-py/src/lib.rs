//! The only crate that knows Python (module cuesta._native)
