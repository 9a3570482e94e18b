//! The front-end terminal server: the built-in host under test
