//! From a pick to the question of `POST /v1/teams` for its teams: who plays, and which players the names of a form
//! mean. A name means a known player or a new one, or the page has to ask.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::pick::{
    self, ListedName, ListedPlayer, Pick, PickedPerson, groups, identity, listed, meant, name_key,
};
use crate::{
    Site, WebError,
    api::{ApiProblem, AskedGame, Call, MOST_PLAYERS},
    learning::BoardQuery,
    model::{Kind, team_names::TeamNames},
    session::WantedTeams,
};

/// The most players of a ruleset who are compared with a name that nobody has.
const COMPARED: i64 = 1_000;

/// The first players of a ruleset by weight; nobody if there is no such ruleset.
pub(super) async fn regulars(site: &Site, ruleset: &str) -> Result<Vec<ListedPlayer>, WebError> {
    let query = BoardQuery {
        ruleset,
        kind: Kind::Human,
        search: "",
        away: true,
        skip: 0,
        limit: COMPARED,
    };
    let (rows, ..) = site.learning().board(query).await?;
    Ok(rows.iter().map(ListedPlayer::new).collect())
}

/// The players of a ruleset's latest matches, at most `limit`; nobody if there is no such ruleset.
pub(super) async fn latest_players(
    site: &Site,
    ruleset: &str,
    limit: i64,
) -> Result<Vec<ListedPlayer>, WebError> {
    let rows = site.learning().latest_players(ruleset, limit).await?;
    Ok(rows.iter().map(ListedPlayer::new).collect())
}

/// The players of a ruleset with these names, identities or handles, and those with these handles who have not played
/// it yet.
pub(super) async fn called(
    site: &Site,
    ruleset: &str,
    texts: &[String],
    handles: &[String],
) -> Result<Vec<ListedPlayer>, WebError> {
    let keys = texts
        .iter()
        .flat_map(|name| [name_key(name), identity(name)]);
    let all: BTreeSet<String> = keys.chain(handles.iter().cloned()).collect();
    let rows = site.learning().named(ruleset, &all).await?;
    let mut known: Vec<ListedPlayer> = rows.iter().map(ListedPlayer::new).collect();
    for handle in handles {
        if known.iter().any(|one| one.handle == *handle) {
            continue;
        }
        let person = site.learning().person(handle, Some(Kind::Human)).await?;
        let Some(person) = person.filter(|person| person.handle == *handle) else {
            continue;
        };
        let standings = site.learning().standings_of(&person).await?;
        let latest = standings.iter().max_by_key(|own| own.line.last_seen);
        known.extend(latest.map(|own| ListedPlayer::new(&own.line)));
    }
    Ok(known)
}

/// Who plays in a pick, and what has to be asked about.
pub(super) async fn who(site: &Site, pick: &Pick) -> Result<Reconciled, ApiProblem> {
    let typed = listed(&pick.names);
    if typed.len() + pick.known.len() + pick.new.len() > MOST_PLAYERS {
        return Err(ApiProblem::bad(format!(
            "At most {most_players} people can play.",
            most_players = MOST_PLAYERS
        )));
    }
    let typed_texts = typed.iter().flat_map(|one| [&one.name, &one.text]);
    let texts: Vec<String> = typed_texts.chain(&pick.new).cloned().collect();
    let known = called(site, &pick.ruleset, &texts, &pick.known).await?;
    let is_there = |handle: &String| known.iter().any(|one| one.handle == *handle);
    if !pick.known.iter().all(is_there) {
        let why = "Somebody who was ticked is not known any more. See who is still ticked.";
        return Err(ApiProblem::bad(why));
    }
    let regulars = match typed.is_empty() {
        true => Vec::new(),
        false => regulars(site, &pick.ruleset).await?,
    };
    Ok(reconcile(pick, &typed, &known, &regulars))
}

/// The question of `/v1/teams` for the teams of these people.
pub(super) fn question(
    call: &Call,
    pick: &Pick,
    people: &[PickedPerson],
    team_names: &TeamNames,
) -> Result<AskedGame, ApiProblem> {
    if people.len() < usize::from(pick.teams) {
        let why = format!("{0} teams need at least as many people.", pick.teams);
        return Err(ApiProblem::bad(why));
    }
    let players = players(pick, people, team_names)?;
    let body = json!({
        "ruleset": pick.ruleset,
        "teams": pick.teams,
        "players": players,
        "seed": pick.seed,
    });
    let game = serde_json::from_value(body);
    let mut game: AskedGame = game.map_err(|error| ApiProblem::bad(error.to_string()))?;
    let weight = |person: &PickedPerson| {
        let weight = pick.weight_of(person)?;
        let line = format!("“{0} {1}”", weight, person.name());
        Some((weight.parse().ok()?, line))
    };
    game.state_weights(people.iter().map(weight));
    let names = people.iter().map(|person| person.name().to_owned());
    game.call_by(names.collect(), team_names.clone());
    game.keep = call.is_client();
    game.wanted = Some(WantedTeams {
        place: pick.place,
        apart: !groups(&pick.apart).is_empty(),
    });
    Ok(game)
}

/// The players of the question, with their wishes.
fn players(
    pick: &Pick,
    people: &[PickedPerson],
    team_names: &TeamNames,
) -> Result<Vec<Value>, ApiProblem> {
    let mut party: Vec<usize> = (0..people.len()).collect();
    for group in wishes("Together", &pick.together, people)? {
        // Who wants to be with one of a party is of that party.
        let merged: BTreeSet<usize> = group.iter().map(|at| party[*at]).collect();
        let first = merged.first().copied().unwrap_or_default();
        let of_group = party.iter_mut().filter(|own| merged.contains(own));
        of_group.for_each(|own| *own = first);
    }
    let apart = wishes("Apart", &pick.apart, people)?;
    let pins = pins(pick, people, team_names)?;
    let players = people.iter().enumerate().map(|(at, person)| {
        let own = apart.iter().filter(|group| group.contains(&at));
        let others = own.flatten().filter(|other| **other != at);
        let others: BTreeSet<String> = others.map(|other| people[*other].id()).collect();
        let last = pick.last.iter().find(|(id, _)| person.had_id(id));
        let last = last.map(|(_, team)| *team);
        let company = party.iter().filter(|own| **own == party[at]).count() > 1;
        json!({
            "id": person.id(),
            "party": company.then(|| format!("p{}", party[at])),
            "avoid": others,
            "pin": pins.get(&at),
            "last": last.filter(|team| *team < pick.teams),
        })
    });
    Ok(players.collect())
}

/// The wishes that these teams do not grant, a sentence each. Some contradict each other, or cannot be.
pub(super) fn unmet(
    pick: &Pick,
    people: &[PickedPerson],
    teams: &[Vec<PickedPerson>],
) -> Result<Vec<String>, ApiProblem> {
    let team_of = |at: &usize| {
        let is_on = |team: &Vec<PickedPerson>| team.iter().any(|one| one.id() == people[*at].id());
        teams.iter().position(is_on)
    };
    let called = |group: &BTreeSet<usize>| {
        let names: Vec<&str> = group.iter().map(|at| people[*at].name()).collect();
        names.join(", ")
    };
    let mut said = Vec::new();
    for (field, text, wants_one) in [
        ("Together", &pick.together, true),
        ("Apart", &pick.apart, false),
    ] {
        for group in wishes(field, text, people)? {
            let on: BTreeSet<Option<usize>> = group.iter().map(team_of).collect();
            let is_met = match wants_one {
                true => on.len() <= 1,
                false => on.len() == group.len(),
            };
            if !is_met {
                said.push(format!("{field} was not possible: {}.", called(&group)));
            }
        }
    }
    Ok(said)
}

/// Groups of people as the form names them.
fn wishes(
    field: &str,
    text: &str,
    people: &[PickedPerson],
) -> Result<Vec<BTreeSet<usize>>, ApiProblem> {
    let of = |name: &String| whom(field, name, people);
    let groups = groups(text);
    groups
        .iter()
        .map(|group| group.iter().map(of).collect())
        .collect()
}

/// The person whom a field of the form means by a name.
fn whom(field: &str, name: &str, people: &[PickedPerson]) -> Result<usize, ApiProblem> {
    let none = || {
        ApiProblem::bad(format!(
            "{field}: nobody who plays is called “{name}”.",
            field = field,
            name = name
        ))
    };
    meant(name, people).ok_or_else(none)
}

/// The teams on which people must be: on each line a team, a colon, and names.
fn pins(
    pick: &Pick,
    people: &[PickedPerson],
    team_names: &TeamNames,
) -> Result<BTreeMap<usize, u8>, ApiProblem> {
    let mut pins = BTreeMap::new();
    for line in pick.pinned.lines().filter(|line| !line.trim().is_empty()) {
        let (team, who) = line.split_once(':').unwrap_or((line, ""));
        let team = team.trim();
        let none = || ApiProblem::bad(format!("There is no team “{name}”.", name = team));
        let number = team_called(team, pick.teams, team_names).ok_or_else(none)?;
        for name in pick::names(who) {
            pins.insert(whom("On a team", &name, people)?, number);
        }
    }
    Ok(pins)
}

/// The team with this number or name.
fn team_called(text: &str, teams: u8, team_names: &TeamNames) -> Option<u8> {
    let is_called = |team: &u8| {
        let own = [team.to_string(), team_names.name((*team).into())];
        own.iter().any(|own| name_key(own) == name_key(text))
    };
    (0..teams).find(is_called)
}

/// The most players who are offered for a name.
const OFFERED: usize = 3;

/// A name of which it is not clear who is meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UnclearName {
    /// The name as it was typed.
    pub(super) typed: ListedName,
    pub(super) why: Doubt,
}

/// Why it is not clear who is meant by a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doubt {
    /// Nobody has this name; these have one like it.
    Unknown { near: Vec<ListedPlayer> },
    /// All of these have this name.
    Several { who: Vec<ListedPlayer> },
    /// It is there twice; the other one could be called so.
    Twice { other: String },
}

impl UnclearName {
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
pub(super) struct Reconciled {
    pub(super) people: Vec<PickedPerson>,
    pub(super) questions: Vec<UnclearName>,
    /// The weights that the list states for people, as they were typed, by the ids of the people; also of new players who
    /// are still asked about.
    pub(super) weights: Vec<(String, String)>,
    /// The ids of all people, and those that new players of the questions would get.
    taken: BTreeSet<String>,
}

/// Finds out who is meant in a form. `known` contains everybody who has one of its names, and `regulars` those who may
/// be meant by others. O(names × regulars).
pub(super) fn reconcile(
    pick: &Pick,
    typed: &[ListedName],
    known: &[ListedPlayer],
    regulars: &[ListedPlayer],
) -> Reconciled {
    let mut reconciled = Reconciled::default();
    for handle in &pick.known {
        let found = known.iter().find(|one| one.handle == *handle);
        if let Some(one) = found.filter(|one| !reconciled.taken.contains(&one.handle)) {
            reconciled.add(PickedPerson::Known(one.clone()));
        }
    }
    for name in &pick.new {
        // Since the form was made, the new player may have become known.
        let own = known.iter().find(|one| one.id == identity(name));
        let person = own.map_or_else(
            || PickedPerson::New(name.clone()),
            |one| PickedPerson::Known(one.clone()),
        );
        if !reconciled.taken.contains(&person.id()) {
            reconciled.add(person);
        }
    }
    for typed in typed {
        // A number before a name is a weight, unless somebody is called so.
        let whole = typed.weight.is_some() && known.iter().any(|one| one.is_called(&typed.text));
        let typed = match whole {
            true => ListedName::plain(typed.text.clone()),
            false => typed.clone(),
        };
        let called: Vec<&ListedPlayer> = known
            .iter()
            .filter(|one| one.is_called(&typed.name))
            .collect();
        match called[..] {
            [] => reconciled.add_unknown(typed, regulars),
            // Somebody who is ticked gets the weight of the list.
            [one]
                if pick.known.contains(&one.handle)
                    && reconciled.lacks_weight(&one.handle, &typed) =>
            {
                reconciled.weigh(one.handle.clone(), &typed);
            }
            [one] if reconciled.taken.contains(&one.handle) => reconciled.ask_twice(typed),
            [one] => reconciled.add_listed(PickedPerson::Known(one.clone()), &typed),
            _ => {
                let who = called.into_iter().take(OFFERED).cloned().collect();
                reconciled.ask(typed, Doubt::Several { who });
            }
        }
    }
    reconciled
}

impl Reconciled {
    fn add(&mut self, person: PickedPerson) {
        self.taken.insert(person.id());
        self.people.push(person);
    }

    /// Adds a person with the weight that the list states.
    fn add_listed(&mut self, person: PickedPerson, typed: &ListedName) {
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
        self.questions.push(UnclearName { typed, why });
    }

    fn add_unknown(&mut self, typed: ListedName, regulars: &[ListedPlayer]) {
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
fn near(name: &str, regulars: &[ListedPlayer]) -> Vec<ListedPlayer> {
    let own = name_key(name);
    let length = own.chars().count();
    let most = if length > 7 { 2 } else { 1 };
    let distance = |one: &ListedPlayer| {
        let other = name_key(&one.name);
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
    let mut found: Vec<(usize, &ListedPlayer)> = found.collect();
    found.sort_by_key(|(distance, one)| (*distance, -one.games));
    let found = found.into_iter().take(OFFERED);
    found.map(|(_, one)| one.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::teams::pick::tests::known;

    #[test]
    fn wishes_become_parties_and_pairs_that_avoid_each_other() {
        let names = ["Ann", "Bob", "Cid", "Dan", "Eve"];
        let people = names.map(|name| PickedPerson::New(name.to_owned()));
        let mut pick = Pick {
            teams: 2,
            together: "ann, bob\nCID, dan\nbob; cid".to_owned(),
            apart: "ann, eve, eve\n\ndan".to_owned(),
            pinned: "1: dan\n\nRed: eve, ann".to_owned(),
            last: vec![("bob".to_owned(), 1), ("eve".to_owned(), 5)],
            ..Pick::default()
        };
        let teams = TeamNames::try_from(vec!["Red".to_owned(), "Blue".to_owned()]).unwrap();
        let players = |pick: &Pick| super::players(pick, &people, &teams);
        let found = players(&pick).unwrap();
        let of = |key: &str| -> Vec<&Value> { found.iter().map(|one| &one[key]).collect() };
        let parties = of("party");
        assert!(parties[..4].iter().all(|party| *party == parties[0]));
        assert!(parties[0].is_string() && parties[4].is_null());
        assert_eq!(json!(of("avoid")), json!([["eve"], [], [], [], ["ann"]]));
        assert_eq!(json!(of("last")), json!([null, 1, null, null, null]));
        assert_eq!(json!(of("pin")), json!([0, null, null, 1, 0]));
        pick.pinned = "green: ann".to_owned();
        let refused = players(&pick).unwrap_err();
        assert_eq!(refused.detail, "There is no team “green”.");
        pick.apart = "ann, zoe".to_owned();
        let refused = players(&pick).unwrap_err();
        assert_eq!(refused.detail, "Apart: nobody who plays is called “zoe”.");
    }

    fn club() -> Vec<ListedPlayer> {
        let named = ["Ann", "Bob Lee", "Cid"].map(|name| known(name, &identity(name)));
        let odd = [
            known("Max", "a1"),
            known("max", "b2"),
            known("Mr. X", "c3d2e5"),
        ];
        named.into_iter().chain(odd).collect()
    }

    fn reconciled(pick: &Pick, typed: &[&str]) -> Reconciled {
        let typed = typed.iter().filter_map(|text| ListedName::of(text));
        let typed: Vec<ListedName> = typed.collect();
        reconcile(pick, &typed, &club(), &club())
    }

    fn said(reconciled: &Reconciled) -> Vec<String> {
        let people = reconciled.people.iter().map(PickedPerson::value);
        let names = |list: &[ListedPlayer]| {
            let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
            names.join("+")
        };
        let question = |question: &UnclearName| {
            let name = question.name();
            match &question.why {
                Doubt::Unknown { near } => format!("{name}? {}", names(near)),
                Doubt::Several { who } => format!("{name}: {}", names(who)),
                Doubt::Twice { other } => format!("{name} or {other}"),
            }
        };
        people
            .chain(reconciled.questions.iter().map(question))
            .collect()
    }

    #[test]
    fn names_and_identities_are_found_in_any_case() {
        let found = reconciled(
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
        let found = reconciled(
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
        let found = reconcile(&pick, &typed, &known, &known);
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

    fn known_as_three() -> ListedPlayer {
        known("3 Doors", "3-doors")
    }

    #[test]
    fn what_was_chosen_before_is_not_asked_again() {
        let pick = Pick {
            known: ["h-ann", "h-ann", "h-nobody"].map(str::to_owned).into(),
            new: ["Zoe", "Cid", "zoe"].map(str::to_owned).into(),
            ..Pick::default()
        };
        let found = reconciled(&pick, &["Zoe", "ann"]);
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
