//! What an idempotency key stands for. Section 4 of the contract page.

use crate::json;
use crate::model_runtime::model::Request;
use crate::table::table;

table! {
    /// Rules about idempotency keys.
    Idempotency {
        /// MR-IDEM-31, -32, -44: the name under which the key of a request is filed. The key itself: case matters, and it spans the whole runtime.
        filed_under: fn(&str, &Request) -> String = filed_under;
        /// MR-IDEM-10 to -18, -23, -24: whether two requests with one key are the same request.
        equivalent: fn(&Request, &Request) -> bool = equivalent;
    }
}

pub(crate) fn filed_under(key: &str, _request: &Request) -> String {
    key.to_owned()
}

/// Everything that was asked for is compared, by what it says: the order of members and the spelling of numbers make no other request.
pub(crate) fn equivalent(known: &Request, again: &Request) -> bool {
    json::same(&known.document, &again.document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(document: serde_json::Value) -> Request {
        Request { document, ..Request::default() }
    }

    #[test]
    fn spelling_makes_no_other_request() {
        let known = request(json!({ "ability": "a", "deadline_ms": 5000, "extensions": { "x": { "p": [1, 2], "q": 0 } } }));
        let again = request(json!({ "extensions": { "x": { "q": -0.0, "p": [1.0, 2] } }, "deadline_ms": 5e3, "ability": "a" }));
        assert!(equivalent(&known, &again));
    }

    #[test]
    fn each_member_counts_and_so_does_the_order_of_arrays() {
        let known = request(json!({ "ability": "a", "metadata": { "k": 1 }, "input": [1, 2] }));
        for other in [
            json!({ "ability": "b", "metadata": { "k": 1 }, "input": [1, 2] }),
            json!({ "ability": "a", "metadata": { "k": 2 }, "input": [1, 2] }),
            json!({ "ability": "a", "metadata": { "k": 1 }, "input": [2, 1] }),
            json!({ "ability": "a", "input": [1, 2] }),
        ] {
            assert!(!equivalent(&known, &request(other)));
        }
    }
}
