//! The order in which the members of a JSON text are written, which a parsed value no longer has.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The paths of all members, in the order in which they are written; none of what is no JSON.
pub(crate) fn member_order(text: &str) -> Vec<String> {
    serde_json::from_str::<Members>(text).map(|members| members.0).unwrap_or_default()
}

/// The paths of all members of a JSON text, in the order in which they are written.
struct Members(Vec<String>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut paths = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            let inner = members.next_value::<Members>()?.0;
            paths.push(name.clone());
            paths.extend(inner.into_iter().map(|path| format!("{name}/{path}")));
        }
        Ok(paths)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut paths = Vec::new();
        while let Some(item) = items.next_element::<Members>()? {
            paths.extend(item.0.into_iter().map(|path| format!("*/{path}")));
        }
        Ok(paths)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
}
