//! The script language: text in, script out
