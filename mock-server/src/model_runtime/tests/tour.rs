//! A visitor that uses everything once, without sockets, and takes every answer as it comes.

use crate::model_runtime::Blueprint;
use crate::model_runtime::http::{Context, serve};
use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A wait that a change of the reference may make endless ends after this. Time is paused, so it costs nothing.
const BOUND: Duration = Duration::from_secs(2);

pub(super) struct Tour {
    context: Context,
    _stop: watch::Sender<bool>,
}

impl Tour {
    pub(super) const PARTS: usize = 8;

    /// Its clock follows the paused time.
    pub(super) fn new(mut blueprint: Blueprint) -> Self {
        let (start, begun) = (jiff::Timestamp::UNIX_EPOCH, tokio::time::Instant::now());
        blueprint.clock = Arc::new(move || start + begun.elapsed());
        let (runtime, wire) = blueprint.build();
        let (stop, stopping) = watch::channel(false);
        Self { context: Context { runtime, wire, stopping }, _stop: stop }
    }

    pub(super) async fn part(&self, part: usize) {
        match part {
            0 => self.descriptions().await,
            1 => self.bounds().await,
            2 => self.shapes().await,
            3 => self.routes().await,
            4 => self.keys().await,
            5 => self.runs().await,
            6 => self.stops().await,
            _ => self.crowds().await,
        }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Value {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", (self.context.wire.mount)()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header("accept-encoding", "gzip").header("authorization", "secret").body(Body::from(body));
        let served = tokio::time::timeout(BOUND, serve(self.context.clone(), request.expect("a request"))).await;
        let Ok(response) = served else { return Value::Null };
        let mut body = response.into_body().into_data_stream();
        let mut bytes = Vec::new();
        while let Ok(Some(Ok(piece))) = tokio::time::timeout(BOUND, body.next()).await {
            bytes.extend_from_slice(&piece);
            // Heartbeats may go on for ever.
            if bytes.len() > 1 << 16 {
                break;
            }
        }
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    async fn get(&self, path: &str) -> Value {
        self.send("GET", path, &[], String::new()).await
    }

    async fn submit_text(&self, key: Option<&str>, body: String) -> String {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let answer = self.send("POST", "/v1/executions", &headers, body).await;
        // Others have their turn, and time may pass.
        tokio::time::sleep(Duration::from_millis(1)).await;
        answer["execution_id"].as_str().unwrap_or("none").to_owned()
    }

    async fn submit(&self, more: Value) -> String {
        self.submit_text(None, usual(&more).to_string()).await
    }

    async fn keyed(&self, key: &str, more: Value) -> String {
        self.submit_text(Some(key), usual(&more).to_string()).await
    }

    async fn cancel(&self, id: &str) {
        self.send("POST", &format!("/v1/executions/{id}/cancel"), &[], String::new()).await;
    }

    /// Everything that can be read of an execution, now and when it has ended.
    async fn read(&self, id: &str) {
        for path in ["", "/result", "/events", "/events?after=2", "/events?after=-1", "/events?after=2.5", "", "/result"] {
            self.get(&format!("/v1/executions/{id}{path}")).await;
        }
        self.get(&format!("/v1/executions/{id}/events?after=0")).await;
        for cursor in ["3", "-1", "2.5"] {
            self.send("GET", &format!("/v1/executions/{id}/events"), &[("last-event-id", cursor)], String::new()).await;
            self.send("GET", &format!("/v1/executions/{id}/events?after=1"), &[("last-event-id", cursor)], String::new()).await;
        }
    }

    async fn play(&self, proofmark: Value) -> String {
        let id = self.submit(json!({ "routing": { "allow_fallback": true }, "extensions": { "proofmark": proofmark } })).await;
        self.read(&id).await;
        id
    }

    async fn descriptions(&self) {
        for path in ["/v1/runtime", "/v1/providers", "/v1/providers", "/v1/none", "/v1/executions/none", "/v1/executions/none/events"] {
            self.get(path).await;
        }
        self.cancel("none").await;
    }

    async fn bounds(&self) {
        let many = |count: usize| json!({ "input": vec![json!({ "type": "text", "text": "" }); count] });
        let members = |count: usize| (0..count).map(|index| (format!("m{index}"), json!(1))).collect::<Map<_, _>>();
        let day = 86_400_000;
        for length in [0, 1, 255, 256, 257] {
            self.submit(json!({ "ability": "a".repeat(length) })).await;
            self.submit(media(&json!({ "media_type": "m".repeat(length) }))).await;
            self.keyed(&"k".repeat(length), json!({})).await;
        }
        for length in [0, 1, 8191, 8192, 8193] {
            self.submit(media(&json!({ "uri": "u".repeat(length) }))).await;
        }
        for count in [0, 1023, 1024, 1025] {
            self.submit(many(count)).await;
        }
        for count in [0, 63, 64, 65] {
            self.submit(json!({ "metadata": members(count), "extensions": members(count) })).await;
        }
        for count in [0, 1, 31, 32, 33, day - 1, day, day + 1] {
            self.submit(json!({ "deadline_ms": count })).await;
            self.submit(json!({ "routing": { "retry_budget_ms": count } })).await;
            self.submit(json!({ "routing": { "max_attempts": count } })).await;
        }
        self.submit_text(None, format!("{}{}", usual(&json!({})), " ".repeat(1 << 20))).await;
    }

    async fn shapes(&self) {
        for more in [
            json!({ "unknown": 1 }),
            json!({ "input": [{ "type": "text", "text": "", "unknown": 1 }] }),
            json!({ "input": [{ "type": "json", "value": null, "unknown": 1 }] }),
            json!({ "input": [{ "type": "json", "value": null }, { "type": "json" }] }),
            json!({ "input": [{ "type": "text", "text": "" }, { "type": "text" }], "extensions": { "e": null } }),
            json!({ "input": [{ "type": "json", "value": null }] }),
            json!({ "input": 1, "metadata": { "m": 1 } }),
            media(&json!({ "unknown": 1 })),
            json!({ "requirements": { "unknown": true, "output_modalities": [] } }),
            json!({ "requirements": { "input_modalities": ["text", "text"] } }),
            json!({ "routing": { "unknown": 1, "strategy": "other" } }),
            json!({ "routing": { "strategy": "other", "provider_order": ["", "a"] } }),
            json!({ "routing": { "max_attempts": 1.5, "retry_budget_ms": 2.5 } }),
            json!({ "metadata": { "m": null } }),
            json!({ "metadata": { "m": [] } }),
            json!({ "metadata": { "m": true }, "extensions": { "x": null } }),
            json!({ "deadline_ms": null, "requirements": null }),
            json!({ "routing": { "strategy": "ordered" }, "metadata": { "request_id": "r" } }),
            json!({ "routing": {}, "metadata": { "request_id": "r" } }),
            json!({ "requirements": { "tools": 1 } }),
        ] {
            self.submit(more).await;
        }
        for (kind, body) in [("text/plain", "{}"), ("application/json;x=y", "{"), ("APPLICATION/JSON", "null")] {
            self.send("POST", "/v1/executions", &[("content-type", kind)], body.to_owned()).await;
        }
    }

    async fn routes(&self) {
        for more in [
            json!({ "ability": "TEXT-generation" }),
            json!({ "ability": "text-gen" }),
            json!({ "ability": "text-generations" }),
            json!({ "requirements": { "output_modalities": ["file", "text"] } }),
            json!({ "input": [{ "type": "text", "text": "" }, { "type": "audio", "uri": "u" }] }),
            json!({ "requirements": { "input_modalities": ["video"] } }),
            json!({ "requirements": { "input_modalities": ["text"] }, "input": [{ "type": "image", "uri": "u" }] }),
            json!({ "requirements": { "output_modalities": ["json"] } }),
            json!({ "requirements": { "tools": true } }),
            json!({ "requirements": { "structured_output": true } }),
            json!({ "requirements": { "stream": true, "async": true } }),
            json!({ "requirements": { "stream": true, "output_modalities": ["text"] } }),
            json!({ "requirements": { "cancel": true, "tools": false } }),
            json!({ "routing": { "provider_order": ["nobody", "mock-narrow"] } }),
            json!({ "extensions": { "foreign": { "deadline_ms": 5, "ability": "tool-use", "routing": {}, "requirements": {}, "input": [{ "type": "text", "text": "no" }] } } }),
            json!({ "extensions": { "ability": "tool-use", "deadline_ms": 5 } }),
        ] {
            let id = self.submit(more).await;
            self.read(&id).await;
        }
        for routing in [
            json!({}),
            json!({ "allow_fallback": true }),
            json!({ "allow_fallback": true, "max_attempts": 2 }),
            json!({ "allow_fallback": false, "max_attempts": 2 }),
            json!({ "allow_fallback": true, "retry_budget_ms": 1 }),
        ] {
            let usage = json!({ "usage": [{ "unit": "request", "quantity": 1, "source": "provider" }] });
            let failing = json!([{ "progress": "queued" }, { "progress": "processing" }, usage, { "pause": 5 }, failure(true)]);
            let id = self.submit(json!({ "routing": routing, "extensions": { "proofmark": { "script": failing } } })).await;
            self.read(&id).await;
        }
    }

    async fn keys(&self) {
        let first = json!({ "ability": "text-generation", "metadata": { "a": 1, "b": 2 }, "input": [{ "type": "text", "text": "1" }, { "type": "text", "text": "2" }] });
        let id = self.keyed("Key", first.clone()).await;
        self.keyed("Key", first.clone()).await;
        self.read(&id).await;
        self.keyed("key", first.clone()).await;
        for more in [
            json!({}),
            json!({ "ability": "tool-use" }),
            json!({ "input": [{ "type": "text", "text": "2" }, { "type": "text", "text": "1" }] }),
            json!({ "input": [{ "type": "text", "text": "1" }] }),
            json!({ "input": [{ "type": "text", "text": "1" }, { "type": "text", "text": "3" }] }),
            json!({ "requirements": {} }),
            json!({ "routing": {} }),
            json!({ "deadline_ms": 5000 }),
            json!({ "metadata": {} }),
            json!({ "metadata": { "a": true, "b": 2 } }),
            json!({ "input": [{ "type": "text", "text": " 1" }, { "type": "text", "text": "2" }] }),
            json!({ "extensions": {} }),
        ] {
            let mut body = first.clone();
            merge(&mut body, &more);
            self.keyed("Key", body).await;
        }
        let spelled =
            r#"{"ability":"text-generation","input":[{"type":"text","text":"1"},{"type":"text","text":"2"}],"metadata":{"b":2,"a":1}}"#;
        self.submit_text(Some("Key"), format!(" {spelled}")).await;
        self.submit_text(Some("malformed"), "{}".to_owned()).await;
        for text in ["e\u{301}", "\u{e9}"] {
            self.keyed("composed", json!({ "input": [{ "type": "text", "text": text }] })).await;
        }
        for script in [json!([failure(false)]), json!([{ "delta": "x" }, { "hold": true }])] {
            let more = json!({ "extensions": { "proofmark": { "script": script } } });
            let id = self.keyed(&script.to_string(), more.clone()).await;
            self.settle(&id).await;
            self.keyed(&script.to_string(), more.clone()).await;
            self.cancel(&id).await;
            self.keyed(&script.to_string(), more).await;
        }
        self.keyed(&"long".repeat(20), json!({})).await;
    }

    /// Lets an execution come as far as it does by itself in a while.
    async fn settle(&self, id: &str) {
        for _attempt in 0..50 {
            if self.context.runtime.execution(id).await.is_ok_and(|execution| execution.status.is_terminal()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn runs(&self) {
        self.play(json!({ "script": [
            { "delta": " b\u{E4} ", "index": 5 }, { "delta": "a" }, { "delta": "a" }, { "delta": "", "index": 7 },
            { "call": "2", "name": "two" }, { "call": "1", "name": "one" }, { "call": "0", "name": "bare" },
            { "arguments": "{\"a\": ", "of": "2" }, { "arguments": "1}", "of": "2" }, { "arguments": "[]", "of": "1" },
            { "arguments": "{\"b\": ", "of": "3" }, { "call": "3", "name": "three" }, { "arguments": "{\"b\": ", "of": "3" }, { "arguments": "2}", "of": "3" },
            { "arguments": "?", "of": "9" }, { "call": "2", "name": "anew" }, { "arguments": "{}", "of": "2" },
            { "usage": [{ "unit": "acme:credit", "quantity": 0, "source": "provider" }, { "unit": "request", "quantity": 0.5, "source": "runtime" }] },
            { "usage": [{ "unit": "request", "quantity": 1, "source": "runtime" }] },
        ] }))
        .await;
        let said = json!({ "usage": [{ "unit": "request", "quantity": 1, "source": "runtime" }] });
        self.play(json!({ "script": [said, { "delta": "\r\n", "index": 11 }, { "delta": "x", "index": 2 }, said] })).await;
        let artifact = json!({ "uri": "u", "media_type": "m" });
        self.play(json!({ "script": [
            { "delta": "lost" }, { "result": 1, "artifacts": [artifact] }, { "result": 2, "artifacts": [artifact] }, { "result": null },
        ] }))
        .await;
        self.play(json!({ "script": [{ "result": 1, "artifacts": [artifact] }] })).await;
        self.play(json!({ "script": [{ "call": "only", "name": "n" }] })).await;
        self.play(json!({ "script": [{ "delta": "x" }, { "call": "only", "name": "n" }, { "arguments": "{}", "of": "only" }] })).await;
        self.play(json!({ "script": [] })).await;
        self.play(json!({ "script": [{ "repeat": [{ "delta": "x" }], "times": 70 }, { "pause": 50 }, { "delta": "y" }] })).await;
        let forged = json!({ "kind": "output.delta", "output_index": 0, "delta": "x", "sequence": 9, "time": "t", "execution_id": "e", "status": "s" });
        self.play(json!({ "script": [{ "emit": forged }] })).await;
        for fact in [
            json!({ "unit": "request", "quantity": -1, "source": "provider" }),
            json!({ "unit": "", "quantity": 1, "source": "provider" }),
            json!({ "unit": "credit", "quantity": 1, "source": "provider" }),
            json!({ "unit": "request", "quantity": 1, "source": "me" }),
        ] {
            self.play(json!({ "script": [{ "usage": [fact] }] })).await;
        }
        self.play(json!({ "script": [{ "emit": { "kind": "no.such.event" } }] })).await;
        for output in [json!({ "delta": "x" }), json!({ "delta": "" }), json!({ "call": "c", "name": "n" }), json!({ "result": 1 })] {
            self.play(json!({ "attempts": [[output, failure(true)], []] })).await;
        }
        self.play(json!({ "attempts": [[failure(true)], [{ "delta": "x" }]] })).await;
        self.play(json!({ "attempts": [[failure(true)], [{ "fail": { "code": "queue_full", "retryable": true } }]] })).await;
        self.play(json!({ "attempts": [[failure(false)]] })).await;
        self.play(json!({ "script": [{ "fail": { "code": "provider_unavailable" } }] })).await;
        let id = self.submit(json!({ "ability": "image-generation" })).await;
        self.read(&id).await;
        let body = usual(&json!({})).to_string();
        let asks = [("content-type", "application/json"), ("accept", "text/event-stream"), ("idempotency-key", "streamed")];
        for body in [body.clone(), body, "{}".to_owned()] {
            self.send("POST", "/v1/executions", &asks, body).await;
        }
    }

    async fn stops(&self) {
        let deaf =
            json!({ "deaf": true, "attempts": [[{ "delta": "x" }, { "repeat": [{ "pause": 1 }, { "delta": "late" }], "times": 20 }]] });
        let held = json!({ "attempts": [[{ "delta": "x" }, { "hold": true }]] });
        let usage = json!({ "usage": [{ "unit": "request", "quantity": 1, "source": "runtime" }] });
        let counted = json!({ "attempts": [[usage, { "hold": true }]] });
        let silent = json!({ "attempts": [[{ "hold": true }], []] });
        for proofmark in [&deaf, &held, &silent, &counted] {
            let more = json!({ "routing": { "allow_fallback": true }, "extensions": { "proofmark": proofmark } });
            let ids = [self.submit(more.clone()).await, self.submit(more.clone()).await];
            tokio::time::sleep(Duration::from_millis(3)).await;
            self.get(&format!("/v1/executions/{}", ids[0])).await;
            self.get(&format!("/v1/executions/{}/result", ids[0])).await;
            self.cancel(&ids[0]).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.read(&ids[0]).await;
            self.cancel(&ids[0]).await;
            self.cancel(&ids[1]).await;
            let mut late = more.clone();
            late["deadline_ms"] = json!(10);
            let id = self.submit(late).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.read(&id).await;
            self.cancel(&id).await;
        }
        let id = self.submit(json!({ "extensions": { "proofmark": held } })).await;
        self.get(&format!("/v1/executions/{id}/events")).await;
        self.get(&format!("/v1/executions/{id}/events")).await;
        self.cancel(&id).await;
        let tries = json!({ "attempts": [[{ "pause": 8 }, failure(true)], [{ "pause": 8 }, { "hold": true }]] });
        let id =
            self.submit(json!({ "deadline_ms": 10, "routing": { "allow_fallback": true }, "extensions": { "proofmark": tries } })).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.read(&id).await;
        self.cancel(&id).await;
        let id = self.submit(json!({})).await;
        self.settle(&id).await;
        self.cancel(&id).await;
    }

    async fn crowds(&self) {
        let held = |ability: &str| json!({ "ability": ability, "extensions": { "proofmark": { "script": [{ "hold": true }] } } });
        let first = self.submit(held("narrow-generation")).await;
        let mut waiting = held("narrow-generation");
        waiting["deadline_ms"] = json!(10);
        let second = self.submit(waiting).await;
        self.submit(held("narrow-generation")).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.cancel(&second).await;
        self.read(&second).await;
        let said = json!([{ "delta": "x" }, { "hold": true }]);
        let batch = json!({ "metadata": { "batch": 1 }, "extensions": { "proofmark": { "script": said } } });
        let (one, two) = (self.submit(batch.clone()).await, self.submit(batch).await);
        let call = json!({ "ability": "tool-use", "extensions": { "proofmark": { "script": [{ "call": "c", "name": "n" }] } } });
        self.submit(call).await;
        self.send("POST", &format!("/v1/executions/{one}/cancel"), &[("content-length", "2")], "{}".to_owned()).await;
        self.cancel(&two).await;
        let known = self.keyed("known", held("text-generation")).await;
        for _each in 0..16 {
            self.submit(held("text-generation")).await;
        }
        self.keyed("unknown", json!({})).await;
        self.keyed("known", held("text-generation")).await;
        for id in [first, known] {
            self.cancel(&id).await;
        }
    }
}

fn failure(retryable: bool) -> Value {
    json!({ "fail": { "code": "rate_limited", "retryable": retryable, "provider_code": "429" } })
}

fn media(members: &Value) -> Value {
    let mut part = json!({ "type": "image", "uri": "u" });
    merge(&mut part, members);
    json!({ "input": [part] })
}

fn usual(more: &Value) -> Value {
    let mut body = json!({ "ability": "text-generation", "input": [{ "type": "text", "text": "hello" }] });
    merge(&mut body, more);
    body
}

fn merge(body: &mut Value, more: &Value) {
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
}
