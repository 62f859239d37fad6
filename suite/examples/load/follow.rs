//! One execution, started, followed by several readers to its end, and read once more.

use proofmark::drivers::sse::{Limits, Reader};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// An execution of which every reader saw the same whole history.
pub(crate) struct Followed {
    /// From the start request to the last event of the slowest reader.
    pub(crate) took: Duration,
    pub(crate) events: usize,
}

pub(crate) struct Server {
    client: reqwest::Client,
    base: String,
    bound: Duration,
}

impl Server {
    pub(crate) fn new(url: &str, bound: Duration) -> Result<Self, String> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
        Ok(Self { client, base: url.trim_end_matches('/').to_owned(), bound })
    }

    pub(crate) async fn conversation(&self) -> Result<String, String> {
        let body = self.post("/v1/conversations", &json!({})).await?;
        body["id"].as_str().map(str::to_owned).ok_or_else(|| format!("no conversation: {body}"))
    }

    pub(crate) async fn follow(&self, conversation: &str, mut start: Value, readers: usize) -> Result<Followed, String> {
        start["conversationId"] = json!(conversation);
        let began = Instant::now();
        let execution = self.post("/v1/executions", &start).await?;
        let id = execution["id"].as_str().ok_or_else(|| format!("not started: {execution}"))?;
        let reading = (0..readers).map(|_| self.read(id));
        let histories = timeout(self.bound, futures_util::future::try_join_all(reading)).await;
        let histories = histories.map_err(|_| format!("{id} did not end within {:?}", self.bound))??;
        let took = began.elapsed();
        let list = self.list(id).await?;
        for history in &histories {
            check(id, history, &list)?;
        }
        Ok(Followed { took, events: list.len() })
    }

    /// The history as one SSE reader sees it, until the server ends the stream.
    async fn read(&self, id: &str) -> Result<Vec<Value>, String> {
        let request = self.client.get(format!("{}/v1/executions/{id}/events", self.base)).header("accept", "text/event-stream");
        let mut response = request.send().await.map_err(|error| format!("{id}: {error}"))?;
        let (mut reader, mut frames) = (Reader::new(Limits::default()), Vec::new());
        while let Some(chunk) = response.chunk().await.map_err(|error| format!("{id}: {error}"))? {
            reader.push(&chunk, Duration::ZERO, &mut frames).map_err(|bound| format!("{id}: {bound}"))?;
        }
        frames
            .iter()
            .filter_map(|frame| frame.data.as_deref())
            .map(|data| serde_json::from_str(data).map_err(|error| format!("{id}: {error}")))
            .collect()
    }

    async fn list(&self, id: &str) -> Result<Vec<Value>, String> {
        let request = self.client.get(format!("{}/v1/executions/{id}/events", self.base)).header("accept", "application/json");
        let body =
            request.send().await.map_err(|error| format!("{id}: {error}"))?.bytes().await.map_err(|error| format!("{id}: {error}"))?;
        let body: Value = serde_json::from_slice(&body).map_err(|error| format!("{id}: {error}"))?;
        body["events"].as_array().cloned().ok_or_else(|| format!("{id}: no events"))
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let request = self.client.post(format!("{}{path}", self.base)).header("content-type", "application/json").body(body.to_string());
        let response = request.send().await.map_err(|error| format!("{path}: {error}"))?;
        let bytes = response.bytes().await.map_err(|error| format!("{path}: {error}"))?;
        serde_json::from_slice(&bytes).map_err(|error| format!("{path}: {error}"))
    }
}

/// Strictly rising, ended by its only terminal event, and the same as the list.
fn check(id: &str, history: &[Value], list: &[Value]) -> Result<(), String> {
    let sequences: Vec<i64> = history.iter().filter_map(|event| event["sequence"].as_i64()).collect();
    if sequences.len() != history.len() || sequences.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(format!("{id}: sequences {sequences:?}"));
    }
    let terminal = |event: &Value| matches!(event["type"].as_str(), Some("run.completed" | "run.failed" | "run.cancelled"));
    if history.iter().filter(|event| terminal(event)).count() != 1 || !history.last().is_some_and(terminal) {
        return Err(format!("{id}: {} events without one end", history.len()));
    }
    if history == list { Ok(()) } else { Err(format!("{id}: a reader saw {} events, the list has {}", history.len(), list.len())) }
}
