//! A game that was played with the teams of the page: recording who has won, as `POST /v1/matches` does, and undoing it.

use serde_json::{Value, json};

use super::{
    ask::called,
    names::clean,
    people::Person,
    pick::{Fields, Pick, seat},
    signed::{Sender, random},
};
use crate::{
    model::{DAY, Right, to_hex},
    store::MatchLine,
    web::{
        Site,
        api::{Problem, TeamPlayer, Teams, record_one, set_void},
    },
};

/// The most matches among which the last one of a client is looked for.
const LATEST: i64 = 5;

/// The teams that play, and the key under which their result is recorded once.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) ruleset: String,
    pub(super) teams: Vec<Vec<Person>>,
    decision: Option<i64>,
    key: String,
}

/// Who has won.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Won(u8),
    Draw,
    Scores(Vec<f64>),
}

impl Played {
    /// The teams of a pick, with a new key.
    pub(super) fn of(pick: &Pick, teams: &Teams<'_>, people: &[Person]) -> Result<Self, Problem> {
        let person = |player: &TeamPlayer<'_>| {
            let person = people.iter().find(|one| one.id() == player.id);
            person.cloned()
        };
        let lineups = teams.teams.iter();
        let lineups = lineups.map(|team| team.players.iter().filter_map(person).collect());
        Ok(Self {
            ruleset: pick.ruleset.clone(),
            teams: lineups.collect(),
            decision: teams.decision.flatten(),
            key: new_key()?,
        })
    }

    /// What a form states.
    pub(super) async fn read(site: &Site, fields: &Fields) -> Result<Self, Problem> {
        let ruleset = fields.one("ruleset").to_owned();
        let seats: Vec<(String, u8)> = fields.all("seat").filter_map(seat).collect();
        let handles = seats
            .iter()
            .filter_map(|(who, _)| Some(who.strip_prefix("on:")?.to_owned()));
        let known = called(site, &ruleset, &[], &handles.collect::<Vec<_>>()).await?;
        let count = seats.iter().map(|(_, team)| usize::from(*team) + 1).max();
        let mut teams = vec![Vec::new(); count.unwrap_or(0)];
        for (who, team) in seats {
            let person = match who.split_once(':') {
                Some(("on", handle)) => {
                    let found = known.iter().find(|one| one.handle == handle);
                    found.map(|one| Person::Known(one.clone()))
                }
                Some(("new", name)) => clean(name).map(Person::New),
                _ => None,
            };
            let gone = || Problem::bad(text!(teams.somebody_of_these_teams_is_not));
            teams[usize::from(team)].push(person.ok_or_else(gone)?);
        }
        Ok(Self {
            ruleset,
            teams,
            decision: fields.one("decision").parse().ok(),
            key: fields.one("key").chars().take(64).collect(),
        })
    }

    /// The same teams, to be recorded once more.
    pub(super) fn again(self) -> Result<Self, Problem> {
        let key = new_key()?;
        Ok(Self { key, ..self })
    }

    /// The fields that state these teams.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![("key", self.key.clone())];
        fields.extend(self.decision.map(|number| ("decision", number.to_string())));
        for (team, players) in self.teams.iter().enumerate() {
            let seats = players.iter().map(|one| format!("{team}:{}", one.value()));
            fields.extend(seats.map(|seat| ("seat", seat)));
        }
        fields
    }

    /// The players with their teams, for the next pick.
    pub(super) fn last(&self) -> Vec<(String, u8)> {
        let teams = (0u8..).zip(&self.teams);
        let seats =
            teams.flat_map(|(team, players)| players.iter().map(move |one| (one.id(), team)));
        seats.collect()
    }

    /// Records the result. The same key again gets the first answer. Returns the match's number, and why it is not
    /// rated.
    pub(super) async fn record(
        &self,
        sender: &Sender,
        outcome: &Outcome,
    ) -> Result<(i64, Option<String>), Problem> {
        record_one(&sender.call, self.body(outcome)).await
    }

    /// The match in the short form of `/v1`.
    fn body(&self, outcome: &Outcome) -> Value {
        let player = |one: &Person| json!({"id": one.id(), "name": one.recorded_name()});
        let teams = self.teams.iter();
        let teams: Vec<Vec<Value>> = teams
            .map(|team| team.iter().map(player).collect())
            .collect();
        let mut body =
            json!({"ruleset": self.ruleset, "teams": teams, "id": format!("teams-{}", self.key)});
        let (key, value) = match outcome {
            Outcome::Won(team) => ("winner", json!(team)),
            Outcome::Draw => ("draw", json!(true)),
            Outcome::Scores(scores) => ("scores", json!(scores)),
        };
        body[key] = value;
        if let Some(decision) = self.decision {
            body["decision"] = json!(decision);
        }
        body
    }

    /// The result that a form states: by which button it was sent, and the scores.
    pub(super) fn outcome(&self, action: &str, fields: &Fields) -> Result<Outcome, Problem> {
        if action == "draw" {
            return Ok(Outcome::Draw);
        }
        if let Some(team) = action.strip_prefix("won-") {
            let team = team.parse().ok();
            let team = team.filter(|team| usize::from(*team) < self.teams.len());
            return team
                .map(Outcome::Won)
                .ok_or_else(|| Problem::bad(text!(teams.there_is_no_such_team)));
        }
        let score = |text: &str| text.trim().replace(',', ".").parse().ok();
        let scores: Option<Vec<f64>> = fields.all("score").map(score).collect();
        let scores = scores.filter(|scores| scores.iter().all(|score| score.is_finite()));
        let scores = scores.filter(|scores| scores.len() == self.teams.len());
        let why = text!(teams.state_the_score_of_each_team_as_a);
        scores.map(Outcome::Scores).ok_or_else(|| Problem::bad(why))
    }
}

/// Leaves a match out of the ratings.
pub(super) async fn undo(sender: &Sender, fields: &Fields) -> Result<i64, Problem> {
    let number = fields.one("match").parse();
    let number = number.map_err(|_| Problem::bad(text!(teams.no_match_has_this_number)))?;
    set_void(&sender.call, number, true).await?;
    Ok(number)
}

/// The latest match that the client of a browser has recorded, if it may still undo it.
pub(super) async fn latest(site: &Site, sender: &Sender) -> Result<Option<MatchLine>, Problem> {
    let Some(client) = sender
        .client()
        .filter(|_| sender.call.caller.has(Right::Report))
    else {
        return Ok(None);
    };
    let since = site.now().plus_millis(-DAY);
    for line in site
        .pages()
        .matches()
        .latest_matches(None, None, LATEST)
        .await?
    {
        let reporter = site
            .service()
            .store()
            .matches()
            .reporter_of(line.id)
            .await?;
        let is_own = reporter.is_some_and(|(name, at)| name == client && at >= since);
        if is_own && line.unrated.as_deref() != Some("void") {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

fn new_key() -> Result<String, Problem> {
    Ok(to_hex(&random::<16>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> Played {
        let team = |names: &[&str]| {
            let new = |name: &&str| Person::New((*name).to_owned());
            names.iter().map(new).collect()
        };
        Played {
            ruleset: "futsal".to_owned(),
            teams: vec![team(&["Ann", "Bob Lee"]), team(&["Cid"])],
            decision: Some(7),
            key: "00ff".to_owned(),
        }
    }

    #[test]
    fn a_result_is_the_short_form_of_v1() {
        let expected = json!({
            "ruleset": "futsal", "id": "teams-00ff", "decision": 7, "winner": 1,
            "teams": [[{"id": "ann", "name": "Ann"}, {"id": "bob-lee", "name": "Bob Lee"}], [{"id": "cid", "name": "Cid"}]],
        });
        assert_eq!(game().body(&Outcome::Won(1)), expected);
        assert_eq!(game().body(&Outcome::Draw)["draw"], true);
        let seats = [("ann", 0), ("bob-lee", 0), ("cid", 1)];
        assert_eq!(game().last(), seats.map(|(id, team)| (id.to_owned(), team)));
    }

    #[test]
    fn a_button_or_the_scores_say_who_has_won() {
        let said = |action: &str, body: &str| {
            let fields = Fields::parse(body.as_bytes()).unwrap();
            game().outcome(action, &fields).ok()
        };
        assert_eq!(said("draw", ""), Some(Outcome::Draw));
        assert_eq!(said("won-1", ""), Some(Outcome::Won(1)));
        assert_eq!(said("won-2", ""), None);
        assert_eq!(said("won-x", ""), None);
        let scores = |body| said("score", body);
        assert_eq!(
            scores("score=3&score=+2,5"),
            Some(Outcome::Scores(vec![3.0, 2.5]))
        );
        for wrong in [
            "",
            "score=3",
            "score=3&score=",
            "score=3&score=inf",
            "score=1&score=2&score=3",
        ] {
            assert_eq!(scores(wrong), None, "{wrong}");
        }
    }
}
