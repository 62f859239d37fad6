//! The program as people and scripts meet it: the real binary, its exit codes, and what it prints where.

mod exit_codes;
mod kill_loop;
mod kit;
mod lookups;
mod output;
mod reach;
mod restarts;
mod secrets;
mod serve;
