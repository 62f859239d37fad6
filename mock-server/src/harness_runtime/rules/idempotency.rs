//! What an idempotency key stands for. Section 4 of the contract page.

use super::preflight::normalised;
use crate::harness_runtime::json;
use crate::harness_runtime::model::StartRequest;
use crate::table::table;

table! {
    /// Rules about idempotency keys.
    Idempotency {
        /// HR-IDEM-18, -19, -28, -30, and -10 as `conflict`: the name under which a request's key is filed; `None` when the request has no key. The key itself: case matters, and it
        /// spans conversations, so that another conversation is another request.
        filed_under: fn(&StartRequest) -> Option<String> = filed_under;
        /// HR-IDEM-4 to -9, -11 to -17: whether two requests with one key are the same request.
        equivalent: fn(&StartRequest, &StartRequest) -> bool = equivalent;
    }
}

pub(crate) fn filed_under(request: &StartRequest) -> Option<String> {
    request.idempotency_key.clone()
}

/// Conversation, provider, input, required capabilities and config are compared, by what they say: the order and repetition of
/// capabilities, the order of members, and a missing member that means the same as an empty one make no other request.
pub(crate) fn equivalent(known: &StartRequest, again: &StartRequest) -> bool {
    known.conversation_id == again.conversation_id
        && known.provider_id == again.provider_id
        && known.input == again.input
        && normalised(&known.required_capabilities) == normalised(&again.required_capabilities)
        && json::same_object(&known.effective_config(), &again.effective_config())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(capabilities: &[&str], config: &serde_json::Value) -> StartRequest {
        StartRequest {
            required_capabilities: capabilities.iter().map(|name| (*name).to_owned()).collect(),
            config: config.as_object().cloned(),
            ..StartRequest::default()
        }
    }

    #[test]
    fn spelling_makes_no_other_request() {
        let known = request(&["a", "b"], &json!({ "x": 1, "y": { "p": [1, 2], "q": 0 } }));
        assert!(equivalent(&known, &request(&["b", "a", "b"], &json!({ "y": { "q": -0.0, "p": [1.0, 2] }, "x": 1.0 }))));
        assert!(equivalent(&request(&[], &json!(null)), &request(&[], &json!({}))));
    }

    #[test]
    fn each_member_counts() {
        let known = request(&["a"], &json!({ "x": [1, 2] }));
        assert!(!equivalent(&known, &request(&["b"], &json!({ "x": [1, 2] }))));
        assert!(!equivalent(&known, &request(&["a"], &json!({ "x": [2, 1] }))));
        assert!(!equivalent(&known, &StartRequest { input: "other".into(), ..known.clone() }));
        assert!(!equivalent(&known, &StartRequest { provider_id: "other".into(), ..known.clone() }));
        assert!(!equivalent(&known, &StartRequest { conversation_id: "other".into(), ..known.clone() }));
    }
}
