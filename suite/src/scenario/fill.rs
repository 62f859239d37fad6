//! Filling in: `${...}`, `$merge`, `$literal`, `$base64` in what a scenario says. Knows nothing of requests or answers.

use super::spelling::{integer, percent_encoded, plain};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why something could not be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// Nothing of that name was saved or given.
    #[error("nothing is known under `{0}`")]
    Missing(String),
    /// The expression cannot be read; a mistake in the fixture.
    #[error("`${{{0}}}` cannot be read: {1}")]
    Malformed(String, String),
    /// A brace is missing; a mistake in the fixture.
    #[error("`${{{0}` has no closing brace")]
    Open(String),
    /// The value is there and of another kind than the template needs; it may be the target's.
    #[error("`{0}` cannot be used here: {1}")]
    Unfit(String, String),
}

/// The values one case can name. Shared by the branches of a `together`.
#[derive(Debug)]
pub struct Scope {
    values: Mutex<BTreeMap<String, Value>>,
    /// Makes `${unique}` of this case different from that of any other case, round and run.
    prefix: String,
    counter: AtomicU64,
}

impl Scope {
    /// `prefix`: ASCII, unique to the round of the case in this run.
    pub fn new(prefix: String, values: BTreeMap<String, Value>) -> Self {
        Self { values: Mutex::new(values), prefix, counter: AtomicU64::new(0) }
    }

    pub fn set(&self, name: &str, value: Value) {
        self.values().insert(name.to_owned(), value);
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        self.values().get(name).cloned()
    }

    fn values(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills in a whole template.
    pub fn fill(&self, template: &Value) -> Result<Value, FillError> {
        match template {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect::<Result<_, _>>().map(Value::Array),
            Value::Object(members) => self.object(members),
            other => Ok(other.clone()),
        }
    }

    /// Fills in a template whose result must be text.
    pub fn fill_text(&self, template: &str) -> Result<String, FillError> {
        self.text(template).map(|value| plain(&value))
    }

    fn object(&self, members: &Map<String, Value>) -> Result<Value, FillError> {
        if let Some(literal) = members.get("$literal").filter(|_| members.len() == 1) {
            return Ok(serde_json::json!({ "$literal": literal }));
        }
        let mut filled = Map::new();
        if let Some(merged) = members.get("$merge") {
            let sources = match merged {
                Value::Array(sources) => sources.clone(),
                one => vec![one.clone()],
            };
            for source in sources {
                match self.fill(&source)? {
                    Value::Object(more) => filled.extend(more),
                    other => return Err(FillError::Unfit("$merge".to_owned(), format!("{other} is not an object"))),
                }
            }
        }
        for (name, value) in members.iter().filter(|(name, _)| *name != "$merge") {
            let name = if name.contains("${") { self.fill_text(name)? } else { name.clone() };
            filled.insert(name, self.fill(value)?);
        }
        Ok(Value::Object(filled))
    }

    fn text(&self, text: &str) -> Result<Value, FillError> {
        if let Some(inner) = text.strip_prefix("${").and_then(|t| t.strip_suffix('}')).filter(|t| !t.contains("${")) {
            return self.expression(inner);
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            out.push_str(&rest[..start]);
            let tail = &rest[start + 2..];
            let end = tail.find('}').ok_or_else(|| FillError::Open(tail.to_owned()))?;
            out.push_str(&plain(&self.expression(&tail[..end])?));
            rest = &tail[end + 1..];
        }
        out.push_str(rest);
        Ok(Value::String(out))
    }

    fn expression(&self, expression: &str) -> Result<Value, FillError> {
        let expression = expression.trim();
        // TOML has no null of its own.
        if expression == "null" {
            return Ok(Value::Null);
        }
        if let Some(value) = self.builtin(expression)? {
            return Ok(value);
        }
        if let Some(path) = expression.strip_suffix('?') {
            return match self.expression(path) {
                Err(FillError::Missing(_)) => Ok(Value::Object(Map::new())),
                found => found,
            };
        }
        let (path, shift) = split_shift(expression)?;
        let (name, rest) = head(path);
        let root = self.get(name).ok_or_else(|| FillError::Missing(path.to_owned()))?;
        let value = walk(&root, rest).ok_or_else(|| FillError::Missing(path.to_owned()))?.clone();
        match shift {
            None => Ok(value),
            Some(by) => match integer(&value).and_then(|n| n.checked_add(by)) {
                Some(shifted) => Ok(Value::from(shifted)),
                None => Err(FillError::Unfit(expression.to_owned(), format!("{value} is not an integer that can be shifted"))),
            },
        }
    }

    /// A text as it stands, or the one under a name: `$NAME`.
    fn named(&self, text: &str) -> Result<String, FillError> {
        let Some(name) = text.strip_prefix('$') else { return Ok(text.to_owned()) };
        let value = self.get(name).ok_or_else(|| FillError::Missing(name.to_owned()))?;
        value.as_str().map(str::to_owned).ok_or_else(|| FillError::Unfit(name.to_owned(), format!("{value} is no text")))
    }

    fn builtin(&self, expression: &str) -> Result<Option<Value>, FillError> {
        let mut parts = expression.split(':');
        let malformed = |why: &str| FillError::Malformed(expression.to_owned(), why.to_owned());
        let number = |text: &str| text.parse::<usize>().map_err(|_| malformed("a number is expected at the end"));
        Ok(Some(Value::String(match (parts.next().unwrap_or_default(), parts.next(), parts.next()) {
            ("unique", None, _) => format!("{}-{}", self.prefix, self.counter.fetch_add(1, Ordering::Relaxed)),
            ("unique", Some(key), None) => format!("{}-{key}", self.prefix),
            ("unique", Some(key), Some(length)) => {
                // Read backwards, the key comes first and then the counters: short values differ as long as they can.
                let (length, text) = (number(length)?, format!("{}{key}", self.prefix));
                let unique: String = text.chars().rev().filter(char::is_ascii_alphanumeric).collect();
                unique.chars().cycle().take(length).collect()
            }
            ("repeat", Some(text), Some(times)) => self.named(text)?.repeat(number(times)?),
            ("encoded", Some(path), None) if !path.is_empty() => percent_encoded(&plain(&self.expression(path)?)),
            ("quoted", Some(path), None) if !path.is_empty() => Value::from(plain(&self.expression(path)?)).to_string(),
            ("now", None, _) => jiff::Timestamp::now().to_string(),
            ("repeat" | "now" | "encoded" | "quoted", ..) => {
                return Err(malformed(
                    "known are unique, unique:KEY, unique:KEY:LENGTH, repeat:TEXT:TIMES, encoded:PATH, quoted:PATH, now",
                ));
            }
            _ => return Ok(None),
        })))
    }
}

/// Whether every `${...}` of a template can be read, whatever its names stand for.
pub fn check(template: &Value) -> Result<(), FillError> {
    match template {
        Value::String(text) => text.split("${").skip(1).try_for_each(|part| match part.split_once('}') {
            Some((expression, _)) => check_expression(expression.trim()),
            None => Err(FillError::Open(part.to_owned())),
        }),
        Value::Array(items) => items.iter().try_for_each(check),
        Value::Object(members) => members.iter().filter(|(name, _)| *name != "$literal").try_for_each(|(name, value)| {
            check(&Value::from(name.as_str()))?;
            check(value)
        }),
        _ => Ok(()),
    }
}

fn check_expression(expression: &str) -> Result<(), FillError> {
    match Scope::new(String::new(), BTreeMap::new()).builtin(expression) {
        Ok(Some(_)) | Err(FillError::Missing(_)) => return Ok(()),
        Ok(None) => {}
        Err(error) => return Err(error),
    }
    let (path, _) = split_shift(expression.strip_suffix('?').unwrap_or(expression))?;
    let is_path = !path.is_empty() && path.chars().all(|c| c.is_alphanumeric() || "-_.[]$:/".contains(c));
    if is_path { Ok(()) } else { Err(FillError::Malformed(expression.to_owned(), "a name is expected".to_owned())) }
}

/// The names a template mentions (heads of paths; builtins left out), for checks before anything is sent.
pub fn names(template: &Value, found: &mut Vec<String>) {
    match template {
        Value::String(text) => {
            for part in text.split("${").skip(1) {
                let expression = part.split('}').next().unwrap_or_default().trim().trim_end_matches('?');
                let first = expression.split(':').next().unwrap_or_default();
                let expression = ["encoded:", "quoted:"].iter().find_map(|way| expression.strip_prefix(way)).unwrap_or(expression);
                if !["unique", "repeat", "now", "null"].contains(&first) {
                    let path = split_shift(expression).map_or(expression, |(path, _)| path);
                    let (name, rest) = head(path);
                    // `case.x`, `stimulus.x` and `fact.x` are checked with their member.
                    found.push(if ["case", "stimulus", "fact"].contains(&name) {
                        let member = rest.trim_start_matches('.').split(['.', '[']).next().unwrap_or_default();
                        format!("{name}.{member}")
                    } else {
                        name.to_owned()
                    });
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            if name.contains("${") {
                names(&Value::String(name.clone()), found);
            }
            if name != "$literal" {
                names(value, found);
            }
        }),
        _ => {}
    }
}

/// `a.b + 1` as (`a.b`, 1). A minus inside a name (`slow-run`) is part of the name.
fn split_shift(expression: &str) -> Result<(&str, Option<i64>), FillError> {
    for (separator, sign) in [(" + ", 1), (" - ", -1)] {
        if let Some((path, by)) = expression.split_once(separator) {
            let by: i64 = by.trim().parse().map_err(|_| FillError::Malformed(expression.to_owned(), "only integers shift".to_owned()))?;
            return Ok((path.trim(), Some(sign * by)));
        }
    }
    Ok((expression, None))
}

fn head(path: &str) -> (&str, &str) {
    path.find(['.', '[']).map_or((path, ""), |end| path.split_at(end))
}

/// Goes from `value` along `.name`, `[n]` (negative: from the end) and `[name=text]` (the last item whose member is that text). A name may
/// hold dashes; one with dots cannot be named.
pub fn walk<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut value = value;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('[') {
            let (index, after) = tail.split_once(']')?;
            let array = value.as_array()?;
            value = match index.split_once('=') {
                Some((name, text)) => array.iter().rfind(|item| item.get(name).and_then(Value::as_str) == Some(text))?,
                None => array.get(place(index, array.len())?)?,
            };
            rest = after;
        } else {
            let tail = rest.strip_prefix('.')?;
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            value = value.get(&tail[..end])?;
            rest = &tail[end..];
        }
    }
    Some(value)
}

/// The place that an index, negative from the end, names in an array of `len`.
fn place(index: &str, len: usize) -> Option<usize> {
    let index: i64 = index.parse().ok()?;
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 { len.checked_sub(from_end) } else { Some(from_end) }
}

/// Removes the members that a template sets to `{ $absent: true }` and unwraps `$literal`: the last step before something is sent.
pub fn finish(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(finish).collect()),
        Value::Object(mut members) => {
            if members.len() == 1
                && let Some(literal) = members.remove("$literal")
            {
                return literal;
            }
            if members.len() == 1
                && let Some(Value::String(bytes)) = members.get("$base64")
            {
                return Value::String(bytes.clone());
            }
            let absent = serde_json::json!({ "$absent": true });
            Value::Object(members.into_iter().filter(|(_, v)| *v != absent).map(|(k, v)| (k, finish(v))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_can_be_written_for_a_path_and_for_a_body() {
        let values = [("id", json!("a/b \"c\"")), ("n", json!({ "last": 7.0 }))];
        let scope = Scope::new("r".to_owned(), values.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
        let filled = |template: &str| scope.fill_text(template).unwrap();
        assert_eq!(filled("/x/${encoded:id}?after=${n.last}"), "/x/a%2Fb%20%22c%22?after=7");
        assert_eq!(filled("{ \"id\": ${quoted:id} }"), r#"{ "id": "a/b \"c\"" }"#);
        assert_eq!(scope.fill(&json!("${n.last + 1}")).unwrap(), json!(8));
        let mut found = Vec::new();
        names(&json!("${encoded:id}${quoted:n.last}"), &mut found);
        assert_eq!(found, ["id", "n"]);
        assert!(check(&json!("${encoded:}")).is_err() && check(&json!("${encoded:id}")).is_ok());
    }

    fn scope() -> Scope {
        let values = [("head", json!(3)), ("a", json!({"b": [1, {"c": "x"}]})), ("stimulus", json!({"slow-run": {"input": "i"}}))];
        Scope::new("r1-s2".to_owned(), values.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
    }

    #[test]
    fn types_are_kept_alone_and_become_text_inside() {
        let s = scope();
        assert_eq!(s.fill(&json!("${head}")), Ok(json!(3)));
        assert_eq!(s.fill(&json!("${head + 1}")), Ok(json!(4)));
        assert_eq!(s.fill(&json!("${head - 4}")), Ok(json!(-1)));
        assert_eq!(s.fill(&json!("at ${head}/${a.b[1].c}")), Ok(json!("at 3/x")));
        assert_eq!(s.fill(&json!(["${a.b[-2]}", {"k": "${stimulus.slow-run.input}"}])), Ok(json!([1, {"k": "i"}])));
        assert_eq!(s.fill(&json!({"${a.b[1].c}": 1})), Ok(json!({"x": 1})));
    }

    #[test]
    fn the_last_item_with_a_member_is_found() {
        let events = json!([{ "type": "a.b", "n": 1 }, { "type": "a.b", "n": 2 }, { "type": "c", "n": 3 }, { "n": 4 }]);
        assert_eq!(walk(&events, "[type=a.b].n"), Some(&json!(2)));
        assert_eq!(walk(&events, "[type=c]"), Some(&events[2]));
        assert_eq!((walk(&events, "[type=d]"), walk(&events, "[n=1]"), walk(&events[0], "[type=c]")), (None, None, None));
    }

    #[test]
    fn unique_values() {
        let s = scope();
        assert_ne!(s.fill(&json!("${unique}")), s.fill(&json!("${unique}")));
        assert_eq!(s.fill(&json!("${unique:k}")), s.fill(&json!("${unique:k}")));
        let long = s.fill_text("${unique:k:200}").unwrap();
        assert_eq!(long.len(), 200);
        assert_ne!(long, s.fill_text("${unique:l:200}").unwrap());
        assert_eq!(s.fill(&json!("${repeat:ab:3}")), Ok(json!("ababab")));
    }

    #[test]
    fn merging_and_leaving_out() {
        let s = scope();
        let filled = s.fill(&json!({"$merge": ["${stimulus.slow-run}", {"z": 1}], "input": "own", "gone": {"$absent": true}})).unwrap();
        assert_eq!(finish(filled), json!({"input": "own", "z": 1}));
        assert_eq!(finish(s.fill(&json!({"x": {"$literal": "${raw}"}})).unwrap()), json!({"x": "${raw}"}));
    }

    #[test]
    fn what_is_missing_is_named() {
        let s = scope();
        assert_eq!(s.fill(&json!("${a.z}")), Err(FillError::Missing("a.z".to_owned())));
        assert!(matches!(s.fill(&json!("x ${a")), Err(FillError::Open(_))));
        assert!(matches!(s.fill(&json!("${unique:k:many}")), Err(FillError::Malformed(..))));
        assert!(matches!(s.fill(&json!("${a + 1}")), Err(FillError::Unfit(..))), "a value of the target is no mistake of the fixture");
        assert!(matches!(s.fill(&json!({"$merge": "${head}"})), Err(FillError::Unfit(..))));
        for good in ["${a}", "${unique:k:3} ${head + 1}", "${a.b[-1].c}", "${repeat:x:3}", "plain {}"] {
            assert_eq!(check(&json!({ "k": [good] })), Ok(()), "{good}");
        }
        for bad in ["${a", "${}", "${head + x}", "${unique:k:many}", "${repeat:x}", "${now:utc}", "${a b}"] {
            assert!(check(&json!({ "k": [bad] })).is_err(), "{bad}");
        }
        let mut found = Vec::new();
        names(&json!(["${a.b} ${unique:x}", {"k": "${case.again}", "$literal": "${no}"}, "${head + 1}"]), &mut found);
        assert_eq!(found, ["a", "case.again", "head"]);
    }
}
