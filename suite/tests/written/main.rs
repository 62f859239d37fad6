//! What people write for the kit - scenarios, requirements, operations, stimuli, preambles, profiles - and what they are told when
//! it is wrong.

mod mistakes;
mod schemas;
