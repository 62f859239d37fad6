//! The `$` words of patterns and of what is sent: whether each exists, and whether its operand can mean anything. A misspelt operator
//! would otherwise never match, or (under `$not`) always; in a request it would be sent as it stands.

use super::diagnostic::Diagnostic;
use super::fields::Result;
use super::keys::TEMPLATE;
use super::node::{Key, Kind, Node, Place};
use super::pattern::OPERATORS;
use proofmark_schema::validate;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Checks a pattern, which is matched.
pub fn check_pattern(node: &Node, file: &Arc<str>) -> Result<()> {
    walk(node, file, &|word| OPERATORS.contains(&word) || word == "$merge")
}

/// Checks what is sent.
pub fn check_template(node: &Node, file: &Arc<str>) -> Result<()> {
    walk(node, file, &|word| TEMPLATE.contains(&word))
}

/// Checks a value that may be used in a pattern or be sent: of a case, of `vars`, of `with`.
pub fn check_value(node: &Node, file: &Arc<str>) -> Result<()> {
    walk(node, file, &|word| OPERATORS.contains(&word) || TEMPLATE.contains(&word))
}

fn walk(node: &Node, file: &Arc<str>, is_known: &dyn Fn(&str) -> bool) -> Result<()> {
    match &node.kind {
        Kind::Map(entries) => entries.iter().try_for_each(|(key, value)| member(key, value, file, is_known)),
        Kind::Seq(items) => items.iter().try_for_each(|item| walk(item, file, is_known)),
        _ => Ok(()),
    }
}

fn member(key: &Key, value: &Node, file: &Arc<str>, is_known: &dyn Fn(&str) -> bool) -> Result<()> {
    let word = key.name.as_str();
    if word.starts_with('$') && !word.starts_with("${") && !is_known(word) {
        let error = Diagnostic::new(key.place(file), format!("there is no operator `{word}`"));
        let known: BTreeSet<&str> = OPERATORS.iter().chain(TEMPLATE).copied().filter(|known| is_known(known)).collect();
        return Err(error.did_you_mean(word, known));
    }
    match word {
        // Their operands are data.
        "$literal" | "$exactly" => Ok(()),
        "$matches" => regex(value, file),
        "$schema" => schema(value, file),
        _ => walk(value, file, is_known),
    }
}

/// A literal operand; one that names a value is only known when it is filled in.
fn literal(value: &Node) -> Option<&str> {
    value.str().filter(|text| !text.contains("${"))
}

fn regex(value: &Node, file: &Arc<str>) -> Result<()> {
    match literal(value).map(regex::Regex::new) {
        Some(Err(error)) => Err(Diagnostic::new(value.place(file), format!("not a regular expression: {error}"))),
        _ => Ok(()),
    }
}

fn schema(value: &Node, file: &Arc<str>) -> Result<()> {
    match literal(value).map(|name| (name, validate::compile(name))) {
        Some((name, Err(error))) => Err(unknown_schema(value.place(file), name, &error)),
        _ => Ok(()),
    }
}

/// A schema that does not exist or does not compile.
pub fn unknown_schema(place: Place, name: &str, error: &validate::SchemaError) -> Box<Diagnostic> {
    Diagnostic::new(place, error.to_string()).did_you_mean(name, validate::names())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(check: fn(&Node, &Arc<str>) -> Result<()>, text: &str) -> Option<String> {
        check(&Node::parse(text).unwrap(), &Arc::from("x.yaml")).err().map(|error| error.to_string())
    }

    #[test]
    fn words_are_checked_where_they_can_stand() {
        assert_eq!(said(check_pattern, "{ a: [{ $tpye: string }] }"), Some("x.yaml:1:9: there is no operator `$tpye`".to_owned()));
        assert_eq!(said(check_pattern, "{ a: { $type: string, $merge: \"${x}\", \"${y}\": 1 } }"), None);
        assert_eq!(said(check_template, "{ a: { $type: string } }"), Some("x.yaml:1:8: there is no operator `$type`".to_owned()));
        assert_eq!(said(check_template, "{ a: { $absent: true }, $merge: [\"${x}\"], b: { $literal: { $type: 1 } } }"), None);
        assert_eq!(said(check_value, "{ a: { $type: string }, b: { $base64: AAAA } }"), None);
        assert_eq!(said(check_value, "{ a: { $tpye: string } }"), Some("x.yaml:1:8: there is no operator `$tpye`".to_owned()));
    }

    #[test]
    fn operands_are_data_where_the_operator_says_so() {
        assert_eq!(said(check_pattern, "{ $exactly: { $tpye: string } }"), None);
        assert_eq!(said(check_pattern, "{ $not: { $tpye: string } }"), Some("x.yaml:1:11: there is no operator `$tpye`".to_owned()));
    }

    #[test]
    fn what_a_name_stands_for_is_not_known_yet() {
        assert_eq!(said(check_pattern, "{ $matches: \"${x}(\" }"), None);
        assert!(said(check_pattern, "{ $matches: \"(\" }").unwrap().starts_with("x.yaml:1:13: not a regular expression:"));
        assert_eq!(said(check_pattern, "{ $schema: \"${x}\" }"), None);
        assert_eq!(
            said(check_pattern, "{ $schema: none.schema.json }").unwrap(),
            "x.yaml:1:12: schema `none.schema.json`: no such file in schema/json"
        );
    }
}
