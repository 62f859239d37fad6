//! What a request may look like. Sections 1 and 2 of the contract page.
//!
//! The request is a closed document: what it does not know, it refuses, except inside `json` values, `metadata` and `extensions`.

use super::bounds::{Bound, bounds};
use crate::json::JsonObject;
use crate::model_runtime::model::{Feature, MODALITIES, Preferences, Request, Requirements};
use crate::model_runtime::problem::Problem;
use crate::table::table;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// An object of a request that has members of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Request,
    TextPart,
    JsonPart,
    MediaPart,
    Requirements,
    Routing,
}

impl Level {
    pub(crate) fn members(self) -> &'static [&'static str] {
        match self {
            Level::Request => &["ability", "input", "requirements", "routing", "deadline_ms", "metadata", "extensions"],
            Level::TextPart => &["type", "text"],
            Level::JsonPart => &["type", "value"],
            Level::MediaPart => &["type", "uri", "media_type"],
            Level::Requirements => &["input_modalities", "output_modalities", "stream", "tools", "structured_output", "async", "cancel"],
            Level::Routing => &["strategy", "provider_order", "allow_fallback", "max_attempts", "retry_budget_ms"],
        }
    }
}

/// Where a request is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) place: String,
}

type Read<T> = Result<T, Mistake>;

table! {
    /// Rules about the shape of requests.
    Requests {
        /// MR-VAL-3 to -6, -10 to -12, -27 to -34, -59 to -62, -65 to -68, -71 to -74, -80, -81, -87, -88, -97, MR-IDEM-27 to -30: the least
        /// and the most of something.
        bounds: fn(Bound) -> RangeInclusive<u64> = bounds;
        /// MR-VAL-94 to -96: whether a request with a body may have this content type.
        content_type: fn(&str) -> bool = content_type;
        /// MR-VAL-20, -23, -36, -37, -41, -58, -99: whether a member that is not known at a level makes the request wrong.
        refuses_unknown: fn(Level, &str) -> bool = refuses_unknown;
        /// MR-VAL-43, -53: whether a list of names may be as it is.
        distinct: fn(&[String]) -> bool = distinct;
        /// MR-VAL-82 to -84: whether a value may stand in `metadata`.
        metadata_value: fn(&Value) -> bool = metadata_value;
        /// MR-VAL-1 to -93: the request of a body; the body as text comes along.
        request: fn(&Requests, &Value, &str) -> Result<Request, Mistake> = request;
        /// MR-ERR-4, -5, MR-REDACT-2 to -6, -9, -13: what the caller is told of a mistake in a request.
        refused: fn(&Mistake, &Value) -> Problem = refused;
        /// MR-VAL-91, MR-REDACT-8: what the caller is told of a body that is no JSON.
        unreadable: fn(&str) -> Problem = unreadable;
        /// MR-IDEM-27 to -30, -39: the key of a request, given the header, if there was one.
        key: fn(&Requests, Option<&str>) -> Result<Option<String>, Problem> = key;
        /// MR-CURSOR-2, -3, -8 to -14: the cursor, given `after` and `Last-Event-ID`.
        cursor: fn(Option<&str>, Option<&str>) -> Result<u64, Problem> = cursor;
    }
}

pub(crate) fn content_type(value: &str) -> bool {
    value.get(..16).is_some_and(|start| start.eq_ignore_ascii_case("application/json"))
}

pub(crate) fn refuses_unknown(_level: Level, _member: &str) -> bool {
    true
}

pub(crate) fn distinct(names: &[String]) -> bool {
    names.iter().collect::<BTreeSet<_>>().len() == names.len()
}

/// A text, a number or a boolean: nothing that is nested, and not `null`.
pub(crate) fn metadata_value(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

/// One sentence for all mistakes: neither place nor content is told.
pub(crate) fn refused(_mistake: &Mistake, _body: &Value) -> Problem {
    Problem::invalid("Execution request does not match the schema")
}

pub(crate) fn unreadable(_text: &str) -> Problem {
    Problem::invalid("Request body is not valid JSON")
}

/// Blanks around the header do not count.
pub(crate) fn key(requests: &Requests, header: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(header) = header else { return Ok(None) };
    let key = header.trim_matches([' ', '\t']);
    if within(requests, Bound::Key, key.chars().count()) {
        Ok(Some(key.to_owned()))
    } else {
        Err(Problem::invalid("Idempotency-Key must have 1 to 256 characters"))
    }
}

/// `after` wins, also when it is empty. Numbers are read as liberally as the contract's reference does.
pub(crate) fn cursor(after: Option<&str>, last_event_id: Option<&str>) -> Result<u64, Problem> {
    match after.or(last_event_id) {
        None => Ok(0),
        Some(text) => crate::http::cursor::read(text).ok_or_else(|| Problem::invalid("Event cursor must be a non-negative integer")),
    }
}

/// Whether so many are within the bounds.
pub(crate) fn within(requests: &Requests, bound: Bound, count: usize) -> bool {
    u64::try_from(count).is_ok_and(|count| (requests.bounds)(bound).contains(&count))
}

pub(crate) fn request(requests: &Requests, body: &Value, text: &str) -> Read<Request> {
    let reader = Reader { requests };
    let body = object("", body)?;
    reader.closed("", Level::Request, body)?;
    let request = Request {
        ability: reader.text("ability", Bound::Ability, required("ability", body.get("ability"))?)?,
        input: reader.parts(required("input", body.get("input"))?)?,
        requirements: body.get("requirements").map_or(Ok(Requirements::default()), |value| reader.requirements(value))?,
        routing: body.get("routing").map_or(Ok(Preferences::default()), |value| reader.routing(value))?,
        deadline_ms: body.get("deadline_ms").map(|value| reader.whole("deadline_ms", Bound::Deadline, value)).transpose()?,
        metadata: body.get("metadata").map_or(Ok(JsonObject::new()), |value| reader.metadata(value))?,
        extensions: body.get("extensions").map_or(Ok(JsonObject::new()), |value| reader.members("extensions", Bound::Extensions, value))?,
        document: Value::Object(body.clone()),
        text: text.to_owned(),
    };
    Ok(request)
}

/// Reads the members of a request, with the rules at hand.
struct Reader<'a> {
    requests: &'a Requests,
}

impl Reader<'_> {
    fn closed(&self, place: &str, level: Level, members: &JsonObject) -> Read<()> {
        let stray = |name: &&String| !level.members().contains(&name.as_str()) && (self.requests.refuses_unknown)(level, name);
        match members.keys().find(stray) {
            Some(name) => Err(mistake(format!("{place}/{name}"))),
            None => Ok(()),
        }
    }

    fn text(&self, place: &str, bound: Bound, value: &Value) -> Read<String> {
        let text = value.as_str().filter(|text| within(self.requests, bound, text.chars().count()));
        text.map(str::to_owned).ok_or_else(|| mistake(place))
    }

    /// `5e3` and `5000.0` are whole numbers too.
    fn whole(&self, place: &str, bound: Bound, value: &Value) -> Read<u64> {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(number));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 2^53 - 1")]
        let number = number.map(|number| number as u64);
        number.filter(|number| (self.requests.bounds)(bound).contains(number)).ok_or_else(|| mistake(place))
    }

    fn parts(&self, value: &Value) -> Read<Vec<JsonObject>> {
        let parts = value.as_array().filter(|parts| within(self.requests, Bound::Parts, parts.len())).ok_or_else(|| mistake("input"))?;
        parts.iter().enumerate().map(|(index, part)| self.part(&format!("input/{index}"), part)).collect()
    }

    fn part(&self, place: &str, value: &Value) -> Read<JsonObject> {
        let part = object(place, value)?;
        let level = match part.get("type").and_then(Value::as_str) {
            Some("text") => Level::TextPart,
            Some("json") => Level::JsonPart,
            Some("image" | "audio" | "video" | "file") => Level::MediaPart,
            _ => return Err(mistake(format!("{place}/type"))),
        };
        self.closed(place, level, part)?;
        let fits = match level {
            Level::TextPart => part.get("text").is_some_and(Value::is_string),
            Level::JsonPart => part.contains_key("value"),
            _ => {
                let uri = part.get("uri").is_some_and(|uri| self.text(place, Bound::Uri, uri).is_ok());
                uri && part.get("media_type").is_none_or(|kind| self.text(place, Bound::MediaType, kind).is_ok())
            }
        };
        if fits { Ok(part.clone()) } else { Err(mistake(place)) }
    }

    fn requirements(&self, value: &Value) -> Read<Requirements> {
        let members = object("requirements", value)?;
        self.closed("requirements", Level::Requirements, members)?;
        let mut features = BTreeSet::new();
        for feature in Feature::ALL {
            if boolean("requirements", members, feature.name())? == Some(true) {
                features.insert(feature);
            }
        }
        Ok(Requirements {
            input_modalities: self.modalities(members.get("input_modalities"))?,
            output_modalities: self.modalities(members.get("output_modalities"))?,
            features,
        })
    }

    fn modalities(&self, value: Option<&Value>) -> Read<Vec<String>> {
        let names = self.names("requirements", value)?;
        if names.iter().all(|name| MODALITIES.contains(&name.as_str())) { Ok(names) } else { Err(mistake("requirements")) }
    }

    /// A list in which nothing comes twice; empty when it is missing.
    fn names(&self, place: &str, value: Option<&Value>) -> Read<Vec<String>> {
        let Some(value) = value else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(|| mistake(place))?;
        let names: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        names.filter(|names| (self.requests.distinct)(names)).ok_or_else(|| mistake(place))
    }

    fn routing(&self, value: &Value) -> Read<Preferences> {
        let members = object("routing", value)?;
        self.closed("routing", Level::Routing, members)?;
        let strategy = members.get("strategy");
        if !strategy.is_none_or(|strategy| matches!(strategy.as_str(), Some("first_available" | "ordered"))) {
            return Err(mistake("routing/strategy"));
        }
        let provider_order = self.names("routing/provider_order", members.get("provider_order"))?;
        if provider_order.iter().any(String::is_empty) {
            return Err(mistake("routing/provider_order"));
        }
        let whole = |name: &str, bound| members.get(name).map(|value| self.whole(&format!("routing/{name}"), bound, value)).transpose();
        Ok(Preferences {
            provider_order,
            allow_fallback: boolean("routing", members, "allow_fallback")?,
            max_attempts: whole("max_attempts", Bound::Attempts)?,
            retry_budget_ms: whole("retry_budget_ms", Bound::RetryBudget)?,
        })
    }

    fn members(&self, place: &str, bound: Bound, value: &Value) -> Read<JsonObject> {
        let members = object(place, value)?;
        if within(self.requests, bound, members.len()) { Ok(members.clone()) } else { Err(mistake(place)) }
    }

    fn metadata(&self, value: &Value) -> Read<JsonObject> {
        let members = self.members("metadata", Bound::Metadata, value)?;
        match members.iter().find(|(_, value)| !(self.requests.metadata_value)(value)) {
            Some((name, _)) => Err(mistake(format!("metadata/{name}"))),
            None => Ok(members),
        }
    }
}

fn mistake(place: impl Into<String>) -> Mistake {
    Mistake { place: place.into() }
}

fn required<'a>(place: &str, value: Option<&'a Value>) -> Read<&'a Value> {
    value.ok_or_else(|| mistake(place))
}

fn object<'a>(place: &str, value: &'a Value) -> Read<&'a JsonObject> {
    value.as_object().ok_or_else(|| mistake(place))
}

fn boolean(place: &str, members: &JsonObject, name: &str) -> Read<Option<bool>> {
    match members.get(name) {
        None => Ok(None),
        Some(value) => value.as_bool().map(Some).ok_or_else(|| mistake(format!("{place}/{name}"))),
    }
}
