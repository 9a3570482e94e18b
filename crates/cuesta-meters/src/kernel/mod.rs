//! The kernel's interfaces, one file each, all of one shape: text in, numbers out; no file is read here.

pub mod cpu_list;
