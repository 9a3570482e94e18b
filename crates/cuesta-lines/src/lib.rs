//! Terminal lines, both ends
