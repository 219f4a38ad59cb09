//! Who plays in a pick, and the question of `POST /v1/teams` for their teams.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    names::{self, groups, identity, key, listed},
    people::{Known, Person, meant},
    pick::Pick,
    settle::{Settled, settle},
};
use crate::{
    learning::BoardQuery,
    model::{Kind, TeamNames},
    session::Wanted,
    web::{
        Site,
        api::{AskedGame, Call, MOST_PLAYERS, Problem},
        error::WebError,
    },
};

/// The most players of a ruleset who are compared with a name that nobody has.
const COMPARED: i64 = 1_000;

/// The first players of a ruleset by weight; nobody if there is no such ruleset.
pub(super) async fn regulars(site: &Site, ruleset: &str) -> Result<Vec<Known>, WebError> {
    let query = BoardQuery {
        ruleset,
        kind: Kind::Human,
        search: "",
        away: true,
        skip: 0,
        limit: COMPARED,
    };
    let (rows, _) = site.learning().board(query).await?;
    Ok(rows.iter().map(Known::new).collect())
}

/// The players of a ruleset's latest matches, at most `limit`; nobody if there is no such ruleset.
pub(super) async fn latest_players(
    site: &Site,
    ruleset: &str,
    limit: i64,
) -> Result<Vec<Known>, WebError> {
    let rows = site.learning().latest_players(ruleset, limit).await?;
    Ok(rows.iter().map(Known::new).collect())
}

/// The players of a ruleset with these names, identities or handles, and those with these handles who have not played
/// it yet.
pub(super) async fn called(
    site: &Site,
    ruleset: &str,
    texts: &[String],
    handles: &[String],
) -> Result<Vec<Known>, WebError> {
    let keys = texts.iter().flat_map(|name| [key(name), identity(name)]);
    let all: BTreeSet<String> = keys.chain(handles.iter().cloned()).collect();
    let rows = site.learning().named(ruleset, &all).await?;
    let mut known: Vec<Known> = rows.iter().map(Known::new).collect();
    for handle in handles {
        if known.iter().any(|one| one.handle == *handle) {
            continue;
        }
        let person = site.learning().person(handle, Some(Kind::Human)).await?;
        let Some(person) = person.filter(|person| person.handle == *handle) else {
            continue;
        };
        let standings = site.learning().standings_of(&person).await?;
        let latest = standings.iter().max_by_key(|line| line.row.last_seen);
        known.extend(latest.map(|line| Known::new(&line.row)));
    }
    Ok(known)
}

/// Who plays in a pick, and what has to be asked about.
pub(super) async fn who(site: &Site, pick: &Pick) -> Result<Settled, Problem> {
    let typed = listed(&pick.names);
    if typed.len() + pick.known.len() + pick.new.len() > MOST_PLAYERS {
        return Err(Problem::bad(format!(
            text!(teams.at_most_people_can_play),
            most_players = MOST_PLAYERS
        )));
    }
    let typed_texts = typed.iter().flat_map(|one| [&one.name, &one.text]);
    let texts: Vec<String> = typed_texts.chain(&pick.new).cloned().collect();
    let known = called(site, &pick.ruleset, &texts, &pick.known).await?;
    let is_there = |handle: &String| known.iter().any(|one| one.handle == *handle);
    if !pick.known.iter().all(is_there) {
        let why = text!(teams.somebody_who_was_ticked_is_not);
        return Err(Problem::bad(why));
    }
    let regulars = match typed.is_empty() {
        true => Vec::new(),
        false => regulars(site, &pick.ruleset).await?,
    };
    Ok(settle(pick, &typed, &known, &regulars))
}

/// The question of `/v1/teams` for the teams of these people.
pub(super) fn question(
    call: &Call,
    pick: &Pick,
    people: &[Person],
    team_names: &TeamNames,
) -> Result<AskedGame, Problem> {
    if people.len() < usize::from(pick.teams) {
        let why = format!(text!(teams.teams_need_at_least_as_many_people), pick.teams);
        return Err(Problem::bad(why));
    }
    let players = players(pick, people, team_names)?;
    let body = json!({
        "ruleset": pick.ruleset,
        "teams": pick.teams,
        "players": players,
        "seed": pick.seed,
    });
    let game = serde_json::from_value(body);
    let mut game: AskedGame = game.map_err(|error| Problem::bad(error.to_string()))?;
    let weight = |person: &Person| {
        let weight = pick.weight_of(person)?;
        let line = format!(text!(teams.line_of_a_list), weight, person.name());
        Some((weight.parse().ok()?, line))
    };
    game.state_weights(people.iter().map(weight));
    let names = people.iter().map(|person| person.name().to_owned());
    game.call_by(names.collect(), team_names.clone());
    game.keep = call.is_client();
    game.wanted = Some(Wanted {
        place: pick.place,
        apart: !groups(&pick.apart).is_empty(),
    });
    Ok(game)
}

/// The players of the question, with their wishes.
fn players(pick: &Pick, people: &[Person], team_names: &TeamNames) -> Result<Vec<Value>, Problem> {
    let mut party: Vec<usize> = (0..people.len()).collect();
    for group in wishes(text!(teams.together), &pick.together, people)? {
        // Who wants to be with one of a party is of that party.
        let merged: BTreeSet<usize> = group.iter().map(|at| party[*at]).collect();
        let first = merged.first().copied().unwrap_or_default();
        let of_group = party.iter_mut().filter(|own| merged.contains(own));
        of_group.for_each(|own| *own = first);
    }
    let apart = wishes(text!(teams.apart), &pick.apart, people)?;
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

/// Groups of people as the form names them.
fn wishes(field: &str, text: &str, people: &[Person]) -> Result<Vec<BTreeSet<usize>>, Problem> {
    let of = |name: &String| whom(field, name, people);
    let groups = groups(text);
    groups
        .iter()
        .map(|group| group.iter().map(of).collect())
        .collect()
}

/// The person whom a field of the form means by a name.
fn whom(field: &str, name: &str, people: &[Person]) -> Result<usize, Problem> {
    let none = || {
        Problem::bad(format!(
            text!(teams.nobody_who_plays_is_called),
            field = field,
            name = name
        ))
    };
    meant(name, people).ok_or_else(none)
}

/// The teams on which people must be: on each line a team, a colon, and names.
fn pins(
    pick: &Pick,
    people: &[Person],
    team_names: &TeamNames,
) -> Result<BTreeMap<usize, u8>, Problem> {
    let mut pins = BTreeMap::new();
    for line in pick.pinned.lines().filter(|line| !line.trim().is_empty()) {
        let (team, who) = line.split_once(':').unwrap_or((line, ""));
        let team = team.trim();
        let none = || Problem::bad(format!(text!(teams.no_team_is_called), name = team));
        let number = team_called(team, pick.teams, team_names).ok_or_else(none)?;
        for name in names::names(who) {
            pins.insert(whom(text!(teams.on_a_team), &name, people)?, number);
        }
    }
    Ok(pins)
}

/// The team with this number or name.
fn team_called(text: &str, teams: u8, team_names: &TeamNames) -> Option<u8> {
    let is_called = |team: &u8| {
        let own = [team.to_string(), team_names.name((*team).into())];
        own.iter().any(|own| key(own) == key(text))
    };
    (0..teams).find(is_called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_become_parties_and_pairs_that_avoid_each_other() {
        let names = ["Ann", "Bob", "Cid", "Dan", "Eve"];
        let people = names.map(|name| Person::New(name.to_owned()));
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
}
