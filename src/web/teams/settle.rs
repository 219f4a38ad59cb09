//! Who is meant by the names of a form: players who are known, new ones, and those whom the page has to ask about.

use std::collections::BTreeSet;

use super::{
    names::{identity, key},
    people::{Known, Person},
    pick::Pick,
};

/// The most players who are offered for a name.
const OFFERED: usize = 3;

/// A name of which it is not clear who is meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question {
    /// Nobody has this name; these have one like it.
    Unknown { name: String, near: Vec<Known> },
    /// All of these have this name.
    Several { name: String, who: Vec<Known> },
    /// It is there twice; the other one could be called so.
    Twice { name: String, other: String },
}

impl Question {
    /// Whether it is a new name, and like no other.
    pub(super) fn is_new(&self) -> bool {
        matches!(self, Self::Unknown { near, .. } if near.is_empty())
    }

    /// The name as it was typed.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Unknown { name, .. } | Self::Several { name, .. } | Self::Twice { name, .. } => {
                name
            }
        }
    }
}

/// Who plays, as far as it is clear.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settled {
    pub(super) people: Vec<Person>,
    pub(super) questions: Vec<Question>,
    /// The ids of all people, and those that new players of the questions would get.
    taken: BTreeSet<String>,
}

/// Finds out who is meant in a form. `known` contains everybody who has one of its names, and `regulars` those who may
/// be meant by others. O(names × regulars).
pub(super) fn settle(
    pick: &Pick,
    typed: &[String],
    known: &[Known],
    regulars: &[Known],
) -> Settled {
    let mut settled = Settled::default();
    for handle in &pick.known {
        let found = known.iter().find(|one| one.handle == *handle);
        if let Some(one) = found.filter(|one| !settled.taken.contains(&one.handle)) {
            settled.add(Person::Known(one.clone()));
        }
    }
    for name in &pick.new {
        // Since the form was made, the new player may have become known.
        let own = known.iter().find(|one| one.id == identity(name));
        let person = own.map_or_else(
            || Person::New(name.clone()),
            |one| Person::Known(one.clone()),
        );
        if !settled.taken.contains(&person.id()) {
            settled.add(person);
        }
    }
    for name in typed {
        let called: Vec<&Known> = known.iter().filter(|one| one.is_called(name)).collect();
        match called[..] {
            [] => settled.add_unknown(name, regulars),
            [one] if settled.taken.contains(&one.handle) => settled.ask_twice(name),
            [one] => settled.add(Person::Known(one.clone())),
            _ => settled.questions.push(Question::Several {
                name: name.clone(),
                who: called.into_iter().take(OFFERED).cloned().collect(),
            }),
        }
    }
    settled
}

impl Settled {
    fn add(&mut self, person: Person) {
        self.taken.insert(person.id());
        self.people.push(person);
    }

    fn add_unknown(&mut self, name: &str, regulars: &[Known]) {
        match self.taken.insert(identity(name)) {
            true => self.questions.push(Question::Unknown {
                name: name.to_owned(),
                near: near(name, regulars),
            }),
            false => self.ask_twice(name),
        }
    }

    fn ask_twice(&mut self, name: &str) {
        let is_free = |other: &String| !self.taken.contains(&identity(other));
        let others = (2..).map(|number| format!("{name} {number}"));
        let other = others.take(self.taken.len() + 2).find(is_free);
        let other = other.unwrap_or_else(|| name.to_owned());
        self.taken.insert(identity(&other));
        let name = name.to_owned();
        self.questions.push(Question::Twice { name, other });
    }
}

/// The players whose names are like this one, the most alike first.
fn near(name: &str, regulars: &[Known]) -> Vec<Known> {
    let own = key(name);
    let length = own.chars().count();
    let most = if length > 7 { 2 } else { 1 };
    let distance = |one: &Known| {
        let other = key(&one.name);
        let (shorter, longer) = (other.len().min(own.len()), other.len().max(own.len()));
        let begins = shorter > 2 && (other.starts_with(&own) || own.starts_with(&other));
        // Names whose lengths differ by more cannot be as near; a character has at most four bytes.
        let may_be = begins || longer - shorter <= 4 * most;
        let distance = may_be.then(|| strsim::osa_distance(&own, &other))?;
        (distance <= most || begins).then_some(distance)
    };
    let found = regulars
        .iter()
        .filter_map(|one| Some((distance(one)?, one)));
    let mut found: Vec<(usize, &Known)> = found.collect();
    found.sort_by_key(|(distance, one)| (*distance, -one.games));
    let found = found.into_iter().take(OFFERED);
    found.map(|(_, one)| one.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::teams::people::tests::known;

    fn club() -> Vec<Known> {
        let named = ["Ann", "Bob Lee", "Cid"].map(|name| known(name, &identity(name)));
        let odd = [
            known("Max", "a1"),
            known("max", "b2"),
            known("Mr. X", "c3d2e5"),
        ];
        named.into_iter().chain(odd).collect()
    }

    fn settled(pick: &Pick, typed: &[&str]) -> Settled {
        let typed: Vec<String> = typed.iter().map(ToString::to_string).collect();
        settle(pick, &typed, &club(), &club())
    }

    fn said(settled: &Settled) -> Vec<String> {
        let people = settled.people.iter().map(Person::value);
        let names = |list: &[Known]| {
            let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
            names.join("+")
        };
        let question = |question: &Question| match question {
            Question::Unknown { name, near } => format!("{name}? {}", names(near)),
            Question::Several { name, who } => format!("{name}: {}", names(who)),
            Question::Twice { name, other } => format!("{name} or {other}"),
        };
        people
            .chain(settled.questions.iter().map(question))
            .collect()
    }

    #[test]
    fn names_and_identities_are_found_in_any_case() {
        let found = settled(
            &Pick::default(),
            &["ANN", "bob lee", "BOB-LEE", "C3D2e5", "Max", "Zoe"],
        );
        let expected = [
            "on:h-ann",
            "on:h-bob-lee",
            "on:h-c3d2e5",
            "BOB-LEE or BOB-LEE 2",
            "Max: Max+max",
            "Zoe? ",
        ];
        assert_eq!(said(&found), expected);
    }

    #[test]
    fn a_slip_is_offered_and_a_name_given_twice_asks() {
        let found = settled(
            &Pick::default(),
            &["Ana", "ann", "Ann", "zoe", "Zoe", "ZOE", "Bob"],
        );
        let expected = [
            "on:h-ann",
            "Ana? Ann",
            "Ann or Ann 2",
            "zoe? ",
            "Zoe or Zoe 2",
            "ZOE or ZOE 3",
            "Bob? Bob Lee",
        ];
        assert_eq!(said(&found), expected);
    }

    #[test]
    fn what_was_chosen_before_is_not_asked_again() {
        let pick = Pick {
            known: ["h-ann", "h-ann", "h-nobody"].map(str::to_owned).into(),
            new: ["Zoe", "Cid", "zoe"].map(str::to_owned).into(),
            ..Pick::default()
        };
        let found = settled(&pick, &["Zoe", "ann"]);
        let expected = [
            "on:h-ann",
            "new:Zoe",
            "on:h-cid",
            "Zoe or Zoe 2",
            "ann or ann 2",
        ];
        assert_eq!(said(&found), expected);
    }
}
