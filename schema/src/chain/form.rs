//! The known ways to hash something else than the canonical form, alone and together.

use std::sync::LazyLock;

/// What a writer in another language may have hashed. The default is the contract's form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a deviation of its own, and any of them may come together")]
pub(super) struct Form {
    pub(super) names: Names,
    pub(super) defaults: Defaults,
    pub(super) first: First,
    pub(super) seq_number: bool,
    pub(super) fence: bool,
    pub(super) code_points: bool,
    pub(super) html: bool,
    pub(super) ascii: bool,
    pub(super) spaced: bool,
    pub(super) enum_numbers: bool,
    pub(super) int64_numbers: bool,
}

/// Which names are lowerCamelCase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Names {
    #[default]
    Proto,
    CamelEvent,
    /// `prevHash` too.
    CamelAll,
}

/// Whether fields at their default print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Defaults {
    #[default]
    Omitted,
    Printed,
    /// And absent messages as null.
    PrintedWithNull,
}

/// What stands for the link of the first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum First {
    #[default]
    AsRecorded,
    Zeros,
    Omitted,
}

/// More than this many deviations at once are not tried.
const TOGETHER: usize = 4;

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let mut forms = vec![Form::default()];
    for deviate in DEVIATIONS {
        let more = forms.iter().map(|form| (form.size(), deviate(*form)));
        let more: Vec<Form> = more.filter(|(size, deviant)| deviant.size() > *size && *size < TOGETHER).map(|(_, form)| form).collect();
        forms.extend(more);
    }
    forms.retain(|form| *form != Form::default());
    forms.sort_by_key(Form::size);
    forms
});

/// Each sets one deviation. Two of one kind exclude each other.
const DEVIATIONS: [fn(Form) -> Form; 14] = [
    |form| Form { seq_number: true, ..form },
    |form| Form { fence: true, ..form },
    |form| Form { code_points: true, ..form },
    |form| Form { html: true, ..form },
    |form| Form { names: Names::CamelEvent, ..form },
    |form| Form { names: Names::CamelAll, ..form },
    |form| Form { enum_numbers: true, ..form },
    |form| Form { defaults: Defaults::Printed, ..form },
    |form| Form { defaults: Defaults::PrintedWithNull, ..form },
    |form| Form { first: First::Zeros, ..form },
    |form| Form { first: First::Omitted, ..form },
    |form| Form { int64_numbers: true, ..form },
    |form| Form { ascii: true, ..form },
    |form| Form { spaced: true, ..form },
];

impl Form {
    /// All forms but the contract's own, those with fewer deviations first.
    pub(super) fn known() -> &'static [Form] {
        &FORMS
    }

    /// How many deviations are taken together.
    pub(super) fn size(&self) -> usize {
        self.names().len()
    }

    /// The deviations in words.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        let mut name = |on: bool, name| names.extend(on.then_some(name));
        name(self.seq_number, "seq is hashed as a number");
        name(self.fence, "fence is hashed too");
        name(self.code_points, "names are sorted by code point instead of UTF-16 unit");
        name(self.html, "<, > and & are escaped as for HTML");
        name(self.names == Names::CamelEvent, "names of the event are lowerCamelCase");
        name(self.names == Names::CamelAll, "all names are lowerCamelCase");
        name(self.enum_numbers, "enums are hashed as numbers");
        name(self.defaults == Defaults::Printed, "fields at zero are printed");
        name(self.defaults == Defaults::PrintedWithNull, "fields at zero are printed, absent messages as null");
        name(self.first == First::Zeros, "the first link is hashed as 64 zeros");
        name(self.first == First::Omitted, "the first link is left out of the hash");
        name(self.int64_numbers, "64-bit integers are hashed as numbers");
        name(self.ascii, "characters beyond ASCII are escaped");
        name(self.spaced, "a space follows each comma and colon");
        names
    }

    /// Whether this form deviates wherever `other` does, in the same way.
    pub(super) fn includes(&self, other: &Form) -> bool {
        let ours = self.names();
        other.names().iter().all(|name| ours.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_come_once_simplest_first() {
        let forms = Form::known();
        assert!(forms.iter().enumerate().all(|(index, form)| !forms[..index].contains(form)));
        assert!(forms.is_sorted_by_key(Form::size));
        assert_eq!(forms.iter().filter(|form| form.size() == 1).count(), 14);
        assert!(forms.iter().all(|form| form.size() <= TOGETHER));
        assert!(forms.contains(&Form { names: Names::CamelAll, html: true, seq_number: true, first: First::Zeros, ..Form::default() }));
    }
}
