//! Who is meant by the names of a form: players who are known, new ones, and those whom the page has to ask about.

use std::collections::BTreeSet;

use super::{
    names::{ListedName, identity, key},
    people::{Known, Person},
    pick::Pick,
};

/// The most players who are offered for a name.
const OFFERED: usize = 3;

/// A name of which it is not clear who is meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// The name as it was typed.
    pub(super) typed: ListedName,
    pub(super) why: Doubt,
}

/// Why it is not clear who is meant by a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doubt {
    /// Nobody has this name; these have one like it.
    Unknown { near: Vec<Known> },
    /// All of these have this name.
    Several { who: Vec<Known> },
    /// It is there twice; the other one could be called so.
    Twice { other: String },
}

impl Question {
    /// Whether it is a new name, and like no other.
    pub(super) fn is_new(&self) -> bool {
        matches!(&self.why, Doubt::Unknown { near } if near.is_empty())
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        &self.typed.name
    }
}

/// Who plays, as far as it is clear.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settled {
    pub(super) people: Vec<Person>,
    pub(super) questions: Vec<Question>,
    /// The weights that the list states for people, as they were typed, by the ids of the people; also of new players who
    /// are still asked about.
    pub(super) weights: Vec<(String, String)>,
    /// The ids of all people, and those that new players of the questions would get.
    taken: BTreeSet<String>,
}

/// Finds out who is meant in a form. `known` contains everybody who has one of its names, and `regulars` those who may
/// be meant by others. O(names × regulars).
pub(super) fn settle(
    pick: &Pick,
    typed: &[ListedName],
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
    for typed in typed {
        // A number before a name is a weight, unless somebody is called so.
        let whole = typed.weight.is_some() && known.iter().any(|one| one.is_called(&typed.text));
        let typed = match whole {
            true => ListedName::plain(typed.text.clone()),
            false => typed.clone(),
        };
        let called: Vec<&Known> = known
            .iter()
            .filter(|one| one.is_called(&typed.name))
            .collect();
        match called[..] {
            [] => settled.add_unknown(typed, regulars),
            // Somebody who is ticked gets the weight of the list.
            [one]
                if pick.known.contains(&one.handle)
                    && settled.lacks_weight(&one.handle, &typed) =>
            {
                settled.weigh(one.handle.clone(), &typed);
            }
            [one] if settled.taken.contains(&one.handle) => settled.ask_twice(typed),
            [one] => settled.add_listed(Person::Known(one.clone()), &typed),
            _ => {
                let who = called.into_iter().take(OFFERED).cloned().collect();
                settled.ask(typed, Doubt::Several { who });
            }
        }
    }
    settled
}

impl Settled {
    fn add(&mut self, person: Person) {
        self.taken.insert(person.id());
        self.people.push(person);
    }

    /// Adds a person with the weight that the list states.
    fn add_listed(&mut self, person: Person, typed: &ListedName) {
        self.weigh(person.id(), typed);
        self.add(person);
    }

    /// Whether this states the first weight of a person.
    fn lacks_weight(&self, id: &str, typed: &ListedName) -> bool {
        typed.weight.is_some() && self.weights.iter().all(|(own, _)| own != id)
    }

    fn weigh(&mut self, id: String, typed: &ListedName) {
        self.weights
            .extend(typed.weight.clone().map(|weight| (id, weight)));
    }

    fn ask(&mut self, typed: ListedName, why: Doubt) {
        self.questions.push(Question { typed, why });
    }

    fn add_unknown(&mut self, typed: ListedName, regulars: &[Known]) {
        let id = identity(&typed.name);
        if !self.taken.insert(id.clone()) {
            return self.ask_twice(typed);
        }
        let near = near(&typed.name, regulars);
        if near.is_empty() {
            self.weigh(id, &typed);
        }
        self.ask(typed, Doubt::Unknown { near });
    }

    fn ask_twice(&mut self, typed: ListedName) {
        let is_free = |other: &String| !self.taken.contains(&identity(other));
        let others = (2..).map(|number| format!("{} {number}", typed.name));
        let other = others.take(self.taken.len() + 2).find(is_free);
        let other = other.unwrap_or_else(|| typed.name.clone());
        self.taken.insert(identity(&other));
        self.ask(typed, Doubt::Twice { other });
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
        let typed = typed.iter().filter_map(|text| ListedName::of(text));
        let typed: Vec<ListedName> = typed.collect();
        settle(pick, &typed, &club(), &club())
    }

    fn said(settled: &Settled) -> Vec<String> {
        let people = settled.people.iter().map(Person::value);
        let names = |list: &[Known]| {
            let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
            names.join("+")
        };
        let question = |question: &Question| {
            let name = question.name();
            match &question.why {
                Doubt::Unknown { near } => format!("{name}? {}", names(near)),
                Doubt::Several { who } => format!("{name}: {}", names(who)),
                Doubt::Twice { other } => format!("{name} or {other}"),
            }
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
    fn weights_belong_to_people_and_to_new_names() {
        let mut known = club();
        known.push(known_as_three());
        let typed = ["5 ANN", "7 Zoe", "2 Ana", "3 Doors", "4 ann", "9 cid"];
        let typed: Vec<ListedName> = typed
            .iter()
            .filter_map(|text| ListedName::of(text))
            .collect();
        let pick = Pick {
            known: vec!["h-cid".to_owned()],
            ..Pick::default()
        };
        let found = settle(&pick, &typed, &known, &known);
        let weights = [("h-ann", "5"), ("zoe", "7"), ("h-cid", "9")];
        let weights = weights.map(|(id, weight)| (id.to_owned(), weight.to_owned()));
        assert_eq!(found.weights, weights);
        let asked: Vec<&str> = found
            .questions
            .iter()
            .map(|one| one.typed.text.as_str())
            .collect();
        assert_eq!(
            asked,
            ["7 Zoe", "2 Ana", "4 ann"],
            "one is called “3 Doors”"
        );
    }

    fn known_as_three() -> Known {
        known("3 Doors", "3-doors")
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
