//! Simulated hosts: what users meet there, and exact theory beside it.

mod harness;

mod behaviour;
mod laws;
mod mean_value_analysis;
