//! Which lines share a server: a plan costs the same whether one defect is in the server or five, so defects that no scenario looks at
//! together are tried together. What breaks must be all that they break alone, and no more. Whoever was not shown so meets others next, and
//! stands alone at last (`selftest::attempt`).

use super::{Item, Kind, timing};
use crate::commands::options::Loaded;
use crate::reference::{DefectKind, defects};
use crate::runner::settings::Random;
use crate::scenario::catalogue::Catalogue;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A larger group hides more: what is refused at once says nothing of what would have come next.
const MOST: usize = 6;
/// Who was not shown in so many groups stands alone.
const MEETINGS: usize = 2;
/// Salt of the seed, so that no other draw of a run repeats this one.
const DRAW: u64 = 0x6772_6f75_7073;

/// Lines that are run together, as places in the list of all, each in order.
pub type Group = Vec<usize>;

/// Every item by itself.
pub fn alone(items: &[Item]) -> Vec<Group> {
    (0..items.len()).map(|place| vec![place]).collect()
}

/// Who stands with whom is drawn by the seed: what one pairing hides, another shows. The first line stands first, since all others wait to be
/// told after it; then the largest groups, which take longest.
pub fn drawn(items: &[Item], loaded: &Loaded, seed: u64) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for place in shuffled(items.len(), seed) {
        let item = &items[place];
        let Some(looked_at) = shared(item).then(|| looked_at(item, loaded)) else {
            groups.push(vec![place]);
            continue;
        };
        match open.iter_mut().find(|group| group.fits(item, &looked_at)) {
            Some(group) => group.take(place, looked_at),
            None => open.push(Open { contract: item.contract.clone(), places: vec![place], looked_at }),
        }
    }
    groups.extend(open.into_iter().map(|group| group.places));
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_unstable_by_key(|group| (group.first() != Some(&0), Reverse(group.len()), group.first().copied()));
    groups
}

/// Lines that a group did not show.
#[derive(Default)]
pub struct Leftovers {
    places: Vec<usize>,
    /// How many groups did not show a line.
    met: BTreeMap<usize, usize>,
    /// Who was in a group that did not show both.
    apart: BTreeSet<(usize, usize)>,
}

impl Leftovers {
    /// `unshown` are those of one group.
    pub fn put(&mut self, unshown: &[usize]) {
        for place in unshown {
            *self.met.entry(*place).or_default() += 1;
            self.apart.extend(unshown.iter().map(|other| (*place, *other)));
        }
        self.places.extend(unshown);
    }

    /// The next group of those that have not met; nothing when none is left.
    pub fn draw(&mut self, items: &[Item], loaded: &Loaded) -> Option<Group> {
        let first = *self.places.first()?;
        let mut group = Open { contract: items[first].contract.clone(), places: vec![first], looked_at: looked_at(&items[first], loaded) };
        let may_meet = |place: &usize| self.met.get(place).is_none_or(|met| *met < MEETINGS);
        for place in self.places.iter().copied().skip(1).filter(|_| may_meet(&first)).filter(may_meet) {
            let looked_at = looked_at(&items[place], loaded);
            let strange = group.places.iter().all(|other| !self.apart.contains(&(*other, place)));
            if strange && group.fits(&items[place], &looked_at) {
                group.take(place, looked_at);
            }
        }
        self.places.retain(|place| !group.places.contains(place));
        group.places.sort_unstable();
        Some(group.places)
    }
}

/// A group that may take more.
struct Open {
    contract: String,
    places: Group,
    looked_at: BTreeSet<String>,
}

impl Open {
    fn fits(&self, item: &Item, looked_at: &BTreeSet<String>) -> bool {
        self.contract == item.contract && self.places.len() < MOST && self.looked_at.is_disjoint(looked_at)
    }

    fn take(&mut self, place: usize, looked_at: BTreeSet<String>) {
        self.places.push(place);
        self.looked_at.extend(looked_at);
    }
}

/// Races are met by chance, and what breaks by timing is not foreseen: both stand alone.
fn shared(item: &Item) -> bool {
    let Kind::Defect { name, .. } = &item.kind else { return false };
    let race = |name: &str| defects().iter().any(|d| d.contract == item.contract && d.name == name && d.kind == DefectKind::Race);
    !race(name) && timing::may_break(name).is_empty()
}

/// The scenarios that name a rule which the defect breaks, and these rules themselves.
fn looked_at(item: &Item, loaded: &Loaded) -> BTreeSet<String> {
    let (Kind::Defect { breaks, .. }, Some(catalogue)) = (&item.kind, loaded.catalogues.get(&item.contract)) else {
        return BTreeSet::new();
    };
    let names = catalogue.scenarios().filter(|(_, scenario)| Catalogue::own_rules(scenario).iter().any(|id| breaks.contains(id)));
    let paths = names.map(|(area, scenario)| format!("{}/{}", area.name, scenario.id));
    paths.chain(breaks.iter().map(|id| (*id).to_owned())).collect()
}

fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed, DRAW);
    let mut places: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let bound = u64::try_from(last + 1).unwrap_or(u64::MAX);
        places.swap(last, usize::try_from(random.below(bound)).unwrap_or(last));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::options::TargetArgs;
    use crate::selftest;

    #[test]
    fn every_line_is_in_one_group_and_no_rule_is_expected_of_two() {
        let loaded = TargetArgs::default().load().unwrap();
        let items = selftest::items(&loaded);
        for seed in 0..3 {
            let groups = drawn(&items, &loaded, seed);
            let mut places: Vec<usize> = groups.iter().flatten().copied().collect();
            places.sort_unstable();
            assert_eq!(places, (0..items.len()).collect::<Vec<_>>());
            for group in groups.iter().filter(|group| group.len() > 1) {
                let mut rules = BTreeSet::new();
                for item in group.iter().map(|place| &items[*place]) {
                    assert_eq!(item.contract, items[group[0]].contract);
                    let Kind::Defect { breaks, .. } = &item.kind else { panic!("{item} shares a server") };
                    assert!(breaks.iter().all(|id| rules.insert(*id)), "{item} breaks what another of its group breaks");
                }
            }
            assert!(groups.len() * 2 < items.len(), "{} groups of {} lines", groups.len(), items.len());
        }
        assert_ne!(drawn(&items, &loaded, 1), drawn(&items, &loaded, 2));
    }

    #[test]
    fn who_was_not_shown_meets_others_and_stands_alone_at_last() {
        let loaded = TargetArgs::default().load().unwrap();
        let items = selftest::items(&loaded);
        let group = drawn(&items, &loaded, 1).into_iter().find(|group| group.len() == MOST).unwrap();
        let strangers = drawn(&items, &loaded, 1).into_iter().filter(|other| items[other[0]].contract == items[group[0]].contract);
        let stranger = |place: &usize| {
            let looked_at = looked_at(&items[*place], &loaded);
            shared(&items[*place])
                && !group.contains(place)
                && group[..2].iter().all(|member| self::looked_at(&items[*member], &loaded).is_disjoint(&looked_at))
        };
        let stranger = strangers.flatten().find(stranger).unwrap();
        let mut left = Leftovers::default();
        left.put(&group[..2]);
        left.put(&[stranger]);
        let mut second = vec![group[0], stranger];
        second.sort_unstable();
        assert_eq!(left.draw(&items, &loaded), Some(second.clone()));
        assert_eq!(left.draw(&items, &loaded), Some(vec![group[1]]));
        left.put(&second);
        assert_eq!(left.draw(&items, &loaded), Some(vec![second[0]]));
        assert_eq!(left.draw(&items, &loaded), Some(vec![second[1]]));
        assert_eq!(left.draw(&items, &loaded), None);
    }
}
