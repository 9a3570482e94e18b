//! Virtual users on lines, on time
