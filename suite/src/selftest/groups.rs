//! Which lines share a server: a plan costs the same whether one defect is in the server or five, so defects that no scenario looks at
//! together are tried together. What breaks must be all that they break alone, and no more; where it is not, the group is parted until
//! each stands alone (`selftest::run_group`).

use super::{Item, Kind, timing};
use crate::commands::options::Loaded;
use crate::reference::{DefectKind, defects};
use crate::runner::settings::Random;
use crate::scenario::catalogue::Catalogue;
use std::collections::BTreeSet;

/// A larger group hides more: what is refused at once says nothing of what would have come next.
const MOST: usize = 6;
/// Salt of the seed, so that no other draw of a run repeats this one.
const DRAW: u64 = 0x6772_6f75_7073;

/// Lines that are run together, as places in the list of all, each in order.
type Group = Vec<usize>;

/// Every item by itself.
pub fn alone(items: &[Item]) -> Vec<Group> {
    (0..items.len()).map(|place| vec![place]).collect()
}

/// Who stands with whom is drawn by the seed: what one pairing hides, another shows.
pub fn drawn(items: &[Item], loaded: &Loaded, seed: u64) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for place in shuffled(items.len(), seed) {
        let item = &items[place];
        let Some(looked_at) = shared(item).then(|| loaded.catalogues.get(&item.contract)).flatten().map(|c| looked_at(item, c)) else {
            groups.push(vec![place]);
            continue;
        };
        let fits =
            |group: &&mut Open| group.contract == item.contract && group.places.len() < MOST && group.looked_at.is_disjoint(&looked_at);
        match open.iter_mut().find(fits) {
            Some(group) => {
                group.places.push(place);
                group.looked_at.extend(looked_at);
            }
            None => open.push(Open { contract: &item.contract, places: vec![place], looked_at }),
        }
    }
    groups.extend(open.into_iter().map(|group| group.places));
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_unstable();
    groups
}

struct Open<'a> {
    contract: &'a str,
    places: Group,
    looked_at: BTreeSet<String>,
}

/// Races are met by chance, and what breaks by timing is not foreseen: both stand alone.
fn shared(item: &Item) -> bool {
    let Kind::Defect { name, .. } = &item.kind else { return false };
    let race = |name: &str| defects().iter().any(|d| d.contract == item.contract && d.name == name && d.kind == DefectKind::Race);
    !race(name) && timing::may_break(name).is_empty()
}

/// The scenarios that name a rule which the defect breaks, and these rules themselves.
fn looked_at(item: &Item, catalogue: &Catalogue) -> BTreeSet<String> {
    let Kind::Defect { breaks, .. } = &item.kind else { return BTreeSet::new() };
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
}
