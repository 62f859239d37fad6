//! What the contracts over HTTP have in common: the spelling of answers, replies, the streams of readers, paths.

pub(crate) mod cursor;
pub(crate) mod follow;
pub(crate) mod paths;
pub(crate) mod reply;
pub(crate) mod wire;
