//! The routes. Section 1 of the contract page. A known path with another method is as unknown as any other.

use crate::http::paths::decode;

/// An operation with the path segments it needs, percent-decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Health,
    Describe,
    Capabilities,
    CreateConversation,
    GetConversation {
        id: String,
    },
    StartExecution,
    GetExecution {
        id: String,
    },
    ListArtifacts {
        id: String,
    },
    Events {
        id: String,
    },
    /// `segment` should end in `:cancel`.
    Cancel {
        segment: String,
    },
    /// `segment` should end in `:respond`.
    Respond {
        execution_id: String,
        segment: String,
    },
}

/// The route of a request below `mount`.
pub(crate) fn find(mount: &str, method: &str, path: &str) -> Option<Route> {
    let path = path.strip_prefix(mount)?.strip_prefix('/')?;
    let segments: Vec<String> = path.split('/').map(decode).collect();
    if segments.iter().any(String::is_empty) {
        return None;
    }
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match method {
        "GET" | "HEAD" => find_get(&segments),
        "POST" => find_post(&segments),
        _ => None,
    }
}

fn find_get(segments: &[&str]) -> Option<Route> {
    Some(match segments {
        ["healthz"] => Route::Health,
        ["v1", "runtime"] => Route::Describe,
        ["v1", "runtime", "capabilities"] => Route::Capabilities,
        ["v1", "conversations", id] => Route::GetConversation { id: (*id).to_owned() },
        ["v1", "executions", id] => Route::GetExecution { id: (*id).to_owned() },
        ["v1", "executions", id, "artifacts"] => Route::ListArtifacts { id: (*id).to_owned() },
        ["v1", "executions", id, "events"] => Route::Events { id: (*id).to_owned() },
        _ => return None,
    })
}

fn find_post(segments: &[&str]) -> Option<Route> {
    Some(match segments {
        ["v1", "conversations"] => Route::CreateConversation,
        ["v1", "executions"] => Route::StartExecution,
        ["v1", "executions", segment] => Route::Cancel { segment: (*segment).to_owned() },
        ["v1", "executions", id, "actions", segment] => Route::Respond { execution_id: (*id).to_owned(), segment: (*segment).to_owned() },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_methods_find_their_operation() {
        assert_eq!(find("", "GET", "/v1/runtime"), Some(Route::Describe));
        assert_eq!(find("", "HEAD", "/healthz"), Some(Route::Health));
        assert_eq!(find("", "POST", "/v1/executions/e%3Acancel"), Some(Route::Cancel { segment: "e:cancel".into() }));
        assert_eq!(
            find("", "POST", "/v1/executions/e/actions/a:respond"),
            Some(Route::Respond { execution_id: "e".into(), segment: "a:respond".into() })
        );
        for (method, path) in
            [("PUT", "/healthz"), ("GET", "/v1/runtime/"), ("GET", "/v1/executions/"), ("OPTIONS", "/v1/runtime"), ("GET", "/")]
        {
            assert_eq!(find("", method, path), None, "{method} {path}");
        }
    }

    #[test]
    fn a_mount_is_part_of_every_path() {
        assert_eq!(find("/some/base", "GET", "/some/base/v1/runtime"), Some(Route::Describe));
        assert_eq!(find("/some/base", "GET", "/v1/runtime"), None);
        assert_eq!(find("/some/base", "GET", "/some/basement/v1/runtime"), None);
    }
}
