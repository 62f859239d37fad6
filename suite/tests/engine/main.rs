//! The engine against a server that remembers: what is sent, when, how often, and who is blamed for the answer.

mod blame;
mod bounds;
mod budget;
mod busy;
mod contract;
mod follow;
mod kept;
mod order;
mod races;
mod sending;
mod server;
mod submit;
mod turned_away;
mod waiting;
