//! Lines that share a server.

use super::*;
use crate::commands::options::TargetArgs;
use std::sync::Arc;

const CONTRACT: &str = "agentsessions";

fn loaded() -> Loaded {
    TargetArgs::default().load().unwrap()
}

fn defect(name: &str) -> Item {
    let wanted = format!("{CONTRACT}/defect/{name}");
    items(&loaded()).into_iter().find(|item| item.to_string() == wanted).unwrap()
}

async fn lines(group: &[Item]) -> Vec<Line> {
    let together = vec![(0..group.len()).collect()];
    whole::run(group, together, 2, &Arc::new(loaded()), &settings(1), |_| Ok(())).await.unwrap().lines
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn defects_of_different_rules_are_shown_by_one_plan() {
    let group = [defect("names-are-unique"), defect("annotations-are-forgotten")];
    let lines = lines(&group).await;
    for (line, (item, other)) in lines.iter().zip([(&group[0], &group[1]), (&group[1], &group[0])]) {
        assert_eq!(line.item, *item);
        assert_eq!(line.problems, [""; 0]);
        assert_eq!(line.broken, item.breaks().collect());
        assert_eq!(line.beside, [other.defect().unwrap()]);
        assert!(line.applied > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_group_does_not_show_is_looked_at_alone() {
    let mut lying = defect("names-are-unique");
    lying.kind = Kind::Defect { name: "names-are-unique", breaks: ["AS-CREATE-3", "AS-GET-1"].into() };
    let lines = lines(&[defect("annotations-are-forgotten"), lying, defect("identity-is-forgotten")]).await;
    let problems: Vec<_> = lines.iter().map(|line| line.problems.join("\n")).collect();
    assert_eq!(problems, ["", "AS-GET-1 should have broken and did not", ""]);
    assert_eq!(lines[1].beside, [""; 0]);
    assert_eq!(lines[1].tries, TRIES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_besides_is_laid_at_the_right_door() {
    let mut lying = defect("annotations-are-forgotten");
    lying.kind = Kind::Defect { name: "annotations-are-forgotten", breaks: BTreeSet::new() };
    let lines = lines(&[defect("names-are-unique"), lying]).await;
    assert_eq!(lines[0].problems, [""; 0]);
    assert!(lines[1].problems[0].starts_with("AS-CREATE-7 broke and should not have"), "{:?}", lines[1].problems);
}
