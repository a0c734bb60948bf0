//! Results of many commits.
