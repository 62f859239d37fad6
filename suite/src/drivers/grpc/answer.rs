//! One answer, read frame by frame to its status.

use super::framing::{Deframer, Unreadable};
use super::status::Status;
use super::{Bounds, message, transport};
use crate::transcript::{GrpcReply, NoReply, Reply, StreamEnd};
use bytes::Bytes;
use h2::RecvStream;
use http::{HeaderMap, Response};
use prost_reflect::{MessageDescriptor, MethodDescriptor};
use tokio::time::{Instant, timeout_at};

/// Of one answer at most so many unknown fields are named.
const MOST_UNKNOWN: usize = 200;

/// An answer in the making.
pub(super) struct Answer {
    output: MessageDescriptor,
    streaming: bool,
    bounds: Bounds,
    deadline: Instant,
    deframer: Deframer,
    /// Bytes of messages so far.
    total: usize,
    reply: GrpcReply,
}

/// The reading stops here; `StreamEnd::Closed` when the server has ended the body.
type Reading<T> = Result<T, StreamEnd>;

impl Answer {
    pub(super) fn new(method: &MethodDescriptor, bounds: Bounds, deadline: Instant) -> Self {
        Self {
            output: method.output(),
            streaming: method.is_server_streaming(),
            bounds,
            deadline,
            deframer: Deframer::new(bounds.message),
            total: 0,
            reply: GrpcReply {
                http_status: 0,
                messages: Vec::new(),
                code: None,
                message: String::new(),
                headers: Vec::new(),
                trailers: Vec::new(),
                end: StreamEnd::Closed,
                unknown: Vec::new(),
                faults: Vec::new(),
            },
        }
    }

    pub(super) async fn read(mut self, response: Response<RecvStream>) -> Reply {
        let (head, mut body) = response.into_parts();
        if let Err(crossed) = self.check_size("headers", &head.headers) {
            return Reply::None(NoReply::Garbled(crossed));
        }
        self.reply.http_status = head.status.as_u16();
        self.reply.headers = pairs(&head.headers);
        let sound = self.check_head(&head.headers);
        let ended = if body.is_end_stream() {
            // Without a body the headers are the trailers.
            self.reply.trailers = self.reply.headers.clone();
            Ok(Some(head.headers.clone()))
        } else if sound {
            self.read_body(&mut body).await
        } else {
            Err(StreamEnd::Cut("the answer is not gRPC".to_owned()))
        };
        match ended {
            Ok(trailers) => self.finish(&head.headers, trailers.as_ref()),
            Err(end) => self.reply.end = end,
        }
        Reply::Grpc(self.reply)
    }

    fn fault(&mut self, fault: impl Into<String>) {
        self.reply.faults.push(fault.into());
    }

    /// Whether the body is to be read as gRPC.
    fn check_head(&mut self, headers: &HeaderMap) -> bool {
        let faults = self.reply.faults.len();
        if self.reply.http_status != 200 {
            self.fault(format!("the HTTP status is {}, not 200", self.reply.http_status));
        }
        match headers.get("content-type").map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned()) {
            Some(kind) if is_grpc(&kind) => {}
            Some(kind) => self.fault(format!("the content type is \"{}\", not application/grpc", kind.escape_debug())),
            None => self.fault("the content type is missing, not application/grpc"),
        }
        self.reply.faults.len() == faults
    }

    /// Reads messages, then the trailers.
    async fn read_body(&mut self, body: &mut RecvStream) -> Reading<Option<HeaderMap>> {
        while let Some(bytes) = self.wait(body.data()).await? {
            let bytes = bytes.map_err(|error| StreamEnd::Cut(transport::describe(&error)))?;
            // Fails only on a stream that is over.
            let _ = body.flow_control().release_capacity(bytes.len());
            self.deframer.push(&bytes);
            self.take_messages()?;
        }
        if self.deframer.rest() > 0 {
            self.fault(format!("the body ends within a message, after {} of its bytes", self.deframer.rest()));
        }
        let trailers = self.wait(body.trailers()).await?.map_err(|error| StreamEnd::Cut(transport::describe(&error)))?;
        if let Some(trailers) = &trailers {
            self.check_size("trailers", trailers).map_err(StreamEnd::Bound)?;
            self.reply.trailers = pairs(trailers);
        }
        Ok(trailers)
    }

    fn check_size(&self, what: &str, fields: &HeaderMap) -> Result<(), String> {
        // As SETTINGS_MAX_HEADER_LIST_SIZE counts.
        let size: usize = fields.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
        let limit = self.bounds.metadata;
        if u32::try_from(size).is_ok_and(|size| size <= limit) {
            Ok(())
        } else {
            Err(format!("{what} of {size} bytes are more than {limit}"))
        }
    }

    async fn wait<T>(&self, what: impl Future<Output = T>) -> Reading<T> {
        // A timeout alone would never fire while data keeps coming.
        if Instant::now() >= self.deadline {
            return Err(StreamEnd::TimedOut(self.bounds.time));
        }
        timeout_at(self.deadline, what).await.map_err(|_| StreamEnd::TimedOut(self.bounds.time))
    }

    fn take_messages(&mut self) -> Reading<()> {
        loop {
            match self.deframer.next() {
                Ok(None) => return Ok(()),
                Ok(Some(bytes)) => self.take_message(&bytes)?,
                Err(unreadable @ Unreadable::TooLong { .. }) => return Err(StreamEnd::Bound(unreadable.to_string())),
                Err(unreadable) => return Err(self.unreadable(unreadable.to_string())),
            }
        }
    }

    fn take_message(&mut self, bytes: &Bytes) -> Reading<()> {
        let count = self.reply.messages.len();
        self.total += bytes.len();
        if count == self.bounds.messages {
            return Err(StreamEnd::Bound(format!("more than {} messages", self.bounds.messages)));
        }
        if self.total > self.bounds.total {
            return Err(StreamEnd::Bound(format!("messages of more than {} bytes together", self.bounds.total)));
        }
        let decoded =
            message::decode(self.output.clone(), bytes).map_err(|problem| self.unreadable(format!("message {count} is {problem}")))?;
        let room = MOST_UNKNOWN.saturating_sub(self.reply.unknown.len());
        self.reply.unknown.extend(decoded.unknown.iter().take(room).map(|field| format!("messages[{count}]{field}")));
        self.reply.messages.push(decoded.json);
        Ok(())
    }

    /// Notes a fault after which nothing more can be read.
    fn unreadable(&mut self, fault: String) -> StreamEnd {
        self.reply.faults.push(fault.clone());
        StreamEnd::Cut(fault)
    }

    /// Reads the status of an answer that the server has ended.
    fn finish(&mut self, headers: &HeaderMap, trailers: Option<&HeaderMap>) {
        let nothing = HeaderMap::new();
        let mut place = trailers.unwrap_or(&nothing);
        if !place.contains_key("grpc-status") && headers.contains_key("grpc-status") {
            self.fault("grpc-status stands in the headers of an answer that has a body");
            place = headers;
        }
        let status = Status::read(place);
        self.reply.faults.extend(status.fault);
        self.reply.code = status.code;
        self.reply.message = status.message;
        self.reply.end = StreamEnd::Closed;
        let count = self.reply.messages.len();
        if !self.streaming && status.code == Some(0) && count != 1 {
            self.fault(format!("OK to a unary call comes with one message, not {count}"));
        }
    }
}

/// `application/grpc`, with a suffix or parameters.
fn is_grpc(content_type: &str) -> bool {
    let kind = content_type.get(..16).filter(|kind| kind.eq_ignore_ascii_case("application/grpc"));
    kind.is_some() && matches!(content_type.as_bytes().get(16), None | Some(b'+' | b';' | b' '))
}

/// Names in lower case, in the order that the map keeps: several values of one name stand together.
fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}
