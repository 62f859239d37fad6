//! New conversations.

use super::{Change, IdKind, Situation, Step};
use crate::harness_runtime::model::{Conversation, JsonObject};

pub(crate) fn create(situation: &Situation, metadata: &JsonObject) -> Step<Conversation> {
    let id = (situation.ids)(IdKind::Conversation);
    let conversation = Conversation { id, created_at: situation.now, metadata: metadata.clone() };
    Step { answer: conversation.clone(), changes: vec![Change::Conversation(conversation)], effects: Vec::new() }
}
