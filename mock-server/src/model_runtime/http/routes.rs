//! The routes. Section 1 of the contract page. A known path with another method is as unknown as any other.

use crate::http::paths::decode_strictly;

/// An operation with the id it is about; `None` when its escapes are broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Runtime,
    Providers,
    Submit,
    Snapshot(Option<String>),
    Events(Option<String>),
    Result(Option<String>),
    Cancel(Option<String>),
}

/// The route of a request below `mount`.
pub(crate) fn find(mount: &str, method: &str, path: &str) -> Option<Route> {
    let path = path.strip_prefix(mount)?.strip_prefix('/')?;
    let segments: Vec<&str> = path.split('/').collect();
    if segments.contains(&"") {
        return None;
    }
    Some(match (method, segments.as_slice()) {
        ("GET", ["v1", "runtime"]) => Route::Runtime,
        ("GET", ["v1", "providers"]) => Route::Providers,
        ("POST", ["v1", "executions"]) => Route::Submit,
        ("GET", ["v1", "executions", id]) => Route::Snapshot(decode_strictly(id)),
        ("GET", ["v1", "executions", id, "events"]) => Route::Events(decode_strictly(id)),
        ("GET", ["v1", "executions", id, "result"]) => Route::Result(decode_strictly(id)),
        ("POST", ["v1", "executions", id, "cancel"]) => Route::Cancel(decode_strictly(id)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_methods_find_their_operation() {
        assert_eq!(find("", "GET", "/v1/runtime"), Some(Route::Runtime));
        assert_eq!(find("", "POST", "/v1/executions/a%2Db/cancel"), Some(Route::Cancel(Some("a-b".into()))));
        assert_eq!(find("/some/base", "GET", "/some/base/v1/executions/%zz"), Some(Route::Snapshot(None)));
        for (method, path) in [
            ("HEAD", "/v1/runtime"),
            ("OPTIONS", "/v1/runtime"),
            ("GET", "/v1/runtime/"),
            ("GET", "/v1/executions"),
            ("GET", "/v1/executions/e/cancel"),
            ("PUT", "/v1/executions/e"),
            ("GET", "/"),
        ] {
            assert_eq!(find("", method, path), None, "{method} {path}");
        }
        assert_eq!(find("/some/base", "GET", "/v1/runtime"), None);
    }
}
