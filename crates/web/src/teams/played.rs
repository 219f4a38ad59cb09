//! The teams of a pick, for people who look at a phone, and what became of their game.
//!
//! The page records who has won, as `POST /v1/matches` does, and can take that back.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{
    alert,
    ask::called,
    form_of_pick,
    pick::{FormFields, Pick, PickedPerson, clean, seat},
    sign_in,
    signed::{Sender, random},
};
use crate::{
    Site,
    api::{ApiProblem, TeamAnswer, TeamPlayer, TeamsAnswer, record_one, set_void},
    model::{
        MatchRecord, Outcome, Participant,
        access::Right,
        team_names::TeamNames,
        text::{amount, to_hex},
        time::DAY,
    },
    store::MatchLine,
    words,
};

/// The teams of a pick, and what can be done with them.
pub(super) fn teams(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    teams: &TeamsAnswer<'_>,
    played: &PlayedTeams,
) -> Markup {
    let weights = |team: &TeamAnswer<'_>| -> Vec<Option<String>> {
        team.players.iter().map(TeamPlayer::shown_weight).collect()
    };
    let names = site.team_names(&played.ruleset);
    let again = html! {
        button type="submit" name="do" value="again" { "Again: the next best teams" }
        button type="submit" name="do" value="edit" { "Change who plays" }
    };
    html! {
        h1 { (sizes(played)) }
        p.odds { (odds(teams, &names)) }
        div.sides {
            @for (at, (team, people)) in teams.teams.iter().zip(&played.teams).enumerate() {
                (side((at, &names), team.chance.flatten(), people, &weights(team)))
            }
        }
        @if sender.may_record() { (who_won(site, sender, pick, played)) }
        (form_of_pick(site, sender, &pick.fields(), &again))
        (reasons(pick, teams, played, &names))
        @if !sender.may_record() { (sign_in(site, sender, pick)) }
    }
}

/// The numbers of players, as in `3 v 2`.
pub(super) fn sizes(played: &PlayedTeams) -> String {
    let sizes = played.teams.iter().map(|team| team.len().to_string());
    let sizes: Vec<String> = sizes.collect();
    sizes.join(" v ")
}

fn odds(teams: &TeamsAnswer<'_>, names: &TeamNames) -> String {
    let chances = teams.teams.iter().filter_map(|team| team.chance.flatten());
    let chances: Vec<f64> = chances.collect();
    let mut players = teams.teams.iter().flat_map(|team| &team.players);
    if !teams.sums.is_empty() {
        let sums: Vec<String> = teams.sums.iter().copied().map(amount).collect();
        return format!("The sums of the weights decide: {0}.", sums.join(" to "));
    }
    match chances[..] {
        [one, other] => format!(
            "{0} wins with {1}, {2} with {3}.",
            names.title(0),
            words::chance(one),
            names.name(1),
            words::chance(other)
        ),
        [] if players.any(|player| player.shown_weight().is_some()) => String::new(),
        [] => "Nothing is known of anybody yet. It comes with the results.".to_owned(),
        _ => "The chance of each team to win is beside its name.".to_owned(),
    }
}

/// A team with who is on it, and the weights that are known, in the same order.
pub(super) fn side(
    (team, names): (usize, &TeamNames),
    chance: Option<f64>,
    people: &[PickedPerson],
    weights: &[Option<String>],
) -> Markup {
    html! {
        section.side {
            h2 class=(words::team_class(names.colour(team))) {
                (names.title(team)) @if let Some(chance) = chance { " " span.weight { (words::chance(chance)) } }
            }
            ul.players {
                @for (at, one) in people.iter().enumerate() {
                    li {
                        bdi { (one.name()) }
                        @if let Some(Some(weight)) = weights.get(at) { " " span.weight { (weight) } }
                    }
                }
            }
        }
    }
}

/// The buttons with which the result is recorded.
pub(super) fn who_won(site: &Site, sender: &Sender, pick: &Pick, played: &PlayedTeams) -> Markup {
    let mut hidden = pick.fields();
    hidden.extend(played.fields());
    let count = played.teams.len();
    let names = site.team_names(&played.ruleset);
    let buttons = html! {
        div.buttons {
            @for team in 0..count {
                button.main type="submit" name="do" value=(format!("won-{team}")) { (mark!("{0} won", { (names.title(team)) })) }
            }
            button.main type="submit" name="do" value="draw" { "Draw" }
        }
    };
    let scores = html! {
        div.buttons {
            @for team in 0..count {
                label.points { (names.title(team))
                    input name="score" inputmode="decimal" pattern="-?[0-9]+([.,][0-9]+)?" required maxlength="9" autocomplete="off";
                }
            }
        }
        button type="submit" name="do" value="score" { "Record the score" }
    };
    html! {
        h2 { "Who won?" }
        (form_of_pick(site, sender, &hidden, &buttons))
        details {
            summary { "Enter the score instead" }
            (form_of_pick(site, sender, &hidden, &scores))
        }
    }
}

fn reasons(
    pick: &Pick,
    teams: &TeamsAnswer<'_>,
    played: &PlayedTeams,
    called: &TeamNames,
) -> Markup {
    let people = || played.teams.iter().flatten();
    let names = |ids: &[&str]| {
        let name = |id: &&str| Some(people().find(|one| one.id() == **id)?.name());
        ids.iter().filter_map(name).collect::<Vec<_>>().join(", ")
    };
    html! {
        @if let Some((reasons, among)) = &teams.weighed {
            p.note { (mark!("These are number {0} of the {1} best.", { (pick.place as usize % among.max(&1) + 1) }, { (among) })) }
            @if let Some(why) = teams.why.as_ref().filter(|why| !why.is_empty()) {
                details {
                    summary { "Why these teams" }
                    (reasons.body())
                    details { summary { "In numbers" } pre.why { @for line in why { (line) "\n" } } }
                }
            }
        }
        @if let Some(other) = &teams.closest_alternative {
            details {
                summary {
                    "The closest alternative"
                    @if let Some(chance) = other.chance.flatten() { (mark!(": {0} wins with {1}", { (called.name(0)) }, { (words::chance(chance)) })) }
                }
                @for (at, team) in other.teams.iter().enumerate() {
                    p { span class=(words::team_class(called.colour(at))) { (called.title(at)) } ": " (names(team)) }
                }
            }
        }
    }
}

/// For so long after a result, in milliseconds, the same one of the same people may be of the same game.
const REPEATED: i64 = 60_000;
/// The most matches among which the last one of a client is looked for.
const LATEST: usize = 5;

/// The teams that play, and the key under which their result is recorded once.
#[derive(Debug)]
pub(super) struct PlayedTeams {
    pub(super) ruleset: String,
    pub(super) teams: Vec<Vec<PickedPerson>>,
    decision: Option<i64>,
    key: String,
    /// Whether the page has asked if the same result is another game.
    pub(super) is_sure: bool,
}

/// Who has won.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PickOutcome {
    Won(u8),
    Draw,
    Scores(Vec<f64>),
}

impl PickOutcome {
    /// Whether a match has ended like this.
    fn is_of(&self, record: &MatchRecord) -> bool {
        match self {
            Self::Won(team) => record.outcome == Outcome::Won(*team),
            Self::Draw => record.outcome == Outcome::Draw,
            Self::Scores(scores) => !record.unscored && record.scores == *scores,
        }
    }
}

impl PlayedTeams {
    /// The teams of a pick, with a new key.
    pub(super) fn of(
        pick: &Pick,
        teams: &TeamsAnswer<'_>,
        people: &[PickedPerson],
    ) -> Result<Self, ApiProblem> {
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
            is_sure: false,
        })
    }

    /// What a form states.
    pub(super) async fn read(site: &Site, fields: &FormFields) -> Result<Self, ApiProblem> {
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
                    found.map(|one| PickedPerson::Known(one.clone()))
                }
                Some(("new", name)) => clean(name).map(PickedPerson::New),
                _ => None,
            };
            let gone =
                || ApiProblem::bad("somebody of these teams is not known any more: pick again");
            teams[usize::from(team)].push(person.ok_or_else(gone)?);
        }
        Ok(Self {
            ruleset,
            teams,
            decision: fields.one("decision").parse().ok(),
            key: fields.one("key").chars().take(64).collect(),
            is_sure: fields.one("sure") == "yes",
        })
    }

    /// The same teams, to be recorded once more.
    pub(super) fn again(self) -> Result<Self, ApiProblem> {
        let key = new_key()?;
        Ok(Self { key, ..self })
    }

    /// The fields that state these teams.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![("key", self.key.clone())];
        fields.extend(self.decision.map(|number| ("decision", number.to_string())));
        fields.extend(self.is_sure.then(|| ("sure", "yes".to_owned())));
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
        outcome: &PickOutcome,
    ) -> Result<(i64, Option<String>), ApiProblem> {
        record_one(&sender.call, self.body(outcome)).await
    }

    /// The match of this game that another device seems to have recorded: it has the same decision, or the same teams and
    /// result within the last minute. `None` if this form has recorded it.
    pub(super) async fn just_recorded(
        &self,
        site: &Site,
        sender: &Sender,
        outcome: &PickOutcome,
    ) -> Result<Option<i64>, ApiProblem> {
        let matches = site.service().store().matches();
        let client = sender.client().unwrap_or_default();
        let key = format!("id:teams-{}", self.key);
        if matches.match_of_key(client, &key).await?.is_some() {
            return Ok(None);
        }
        if let Some(decision) = self.decision
            && let Some(id) = matches.match_of_decision(decision).await?
        {
            return Ok(Some(id));
        }
        let since = site.now().plus_millis(-REPEATED);
        let mine: BTreeSet<(String, u8)> = self.last().into_iter().collect();
        for id in matches.reported_since(client, since, LATEST as i64).await? {
            let found = matches.match_with_id(id).await?.map(|found| found.record);
            let Some(record) = found.filter(|record| outcome.is_of(record)) else {
                continue;
            };
            let seat = |one: &Participant| Some((one.key.id.clone(), one.main_team()?));
            let seats: BTreeSet<(String, u8)> =
                record.participants.iter().filter_map(seat).collect();
            if seats == mine {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// The match in the short form of `/v1`.
    fn body(&self, outcome: &PickOutcome) -> Value {
        let player = |one: &PickedPerson| json!({"id": one.id(), "name": one.recorded_name()});
        let teams = self.teams.iter();
        let teams: Vec<Vec<Value>> = teams
            .map(|team| team.iter().map(player).collect())
            .collect();
        let mut body =
            json!({"ruleset": self.ruleset, "teams": teams, "id": format!("teams-{}", self.key)});
        let (key, value) = match outcome {
            PickOutcome::Won(team) => ("winner", json!(team)),
            PickOutcome::Draw => ("draw", json!(true)),
            PickOutcome::Scores(scores) => ("scores", json!(scores)),
        };
        body[key] = value;
        if let Some(decision) = self.decision {
            body["decision"] = json!(decision);
        }
        body
    }

    /// The result that a form states: by which button it was sent, and the scores.
    pub(super) fn outcome(
        &self,
        action: &str,
        fields: &FormFields,
    ) -> Result<PickOutcome, ApiProblem> {
        if action == "draw" {
            return Ok(PickOutcome::Draw);
        }
        if let Some(team) = action.strip_prefix("won-") {
            let team = team.parse().ok();
            let team = team.filter(|team| usize::from(*team) < self.teams.len());
            return team
                .map(PickOutcome::Won)
                .ok_or_else(|| ApiProblem::bad("there is no such team"));
        }
        let score = |text: &str| text.trim().replace(',', ".").parse().ok();
        let scores: Option<Vec<f64>> = fields.all("score").map(score).collect();
        let scores = scores.filter(|scores| scores.iter().all(|score| score.is_finite()));
        let scores = scores.filter(|scores| scores.len() == self.teams.len());
        let why = "State the score of each team as a number.";
        scores
            .map(PickOutcome::Scores)
            .ok_or_else(|| ApiProblem::bad(why))
    }
}

/// Leaves a match out of the ratings.
pub(super) async fn undo(sender: &Sender, fields: &FormFields) -> Result<i64, ApiProblem> {
    let number = fields.one("match").parse();
    let number = number.map_err(|_| ApiProblem::bad("no match has this number"))?;
    set_void(&sender.call, number, true).await?;
    Ok(number)
}

/// The latest match that the client of a browser has recorded, if it may still undo it.
pub(super) async fn latest(site: &Site, sender: &Sender) -> Result<Option<MatchLine>, ApiProblem> {
    let Some(client) = sender
        .client()
        .filter(|_| sender.call.caller.has(Right::Report))
    else {
        return Ok(None);
    };
    let since = site.now().plus_millis(-DAY);
    for line in site.pages().matches().latest_matches(None, LATEST).await? {
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

fn new_key() -> Result<String, ApiProblem> {
    Ok(to_hex(&random::<16>()?))
}

/// A match that was recorded.
pub(super) struct RecordedPick {
    pub(super) number: i64,
    pub(super) outcome: PickOutcome,
    /// Why it is not rated.
    pub(super) unrated: Option<String>,
}

/// The page after recording.
pub(super) fn recorded(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    played: &PlayedTeams,
    of: &RecordedPick,
) -> Markup {
    let mut undone = pick.fields();
    undone.extend(played.fields());
    undone.push(("match", of.number.to_string()));
    let said = match &of.outcome {
        PickOutcome::Won(team) => {
            let names = site.team_names(&played.ruleset);
            format!("{0} won.", names.title((*team).into()))
        }
        PickOutcome::Draw => "A draw.".to_owned(),
        PickOutcome::Scores(scores) => format!("{}.", words::scores(scores)),
    };
    html! {
        h1 { "Recorded" }
        p role="status" {
            (mark!("{0} It is {1}. ",
                { (said) },
                { a href=(site.links.game(of.number)) { (mark!("match {0}", { (of.number) })) } }
            ))
            @if let Some(code) = &of.unrated { (mark!("It does not count: {0}", { (words::unrated(code)) })) }
        }
        (form_of_pick(site, sender, &undone, &html! {
            button type="submit" name="do" value="undo" { "Undo" }
        }))
        (lineups(site, played))
        (form_of_pick(site, sender, &pick.fields(), &html! {
            button.main type="submit" name="do" value="pick" { "Next game, same people" }
            button type="submit" name="do" value="edit" { "Change who plays" }
        }))
    }
}

/// The page after undoing: the same teams, to be recorded as they should be.
pub(super) fn undone(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    played: &PlayedTeams,
    number: i64,
) -> Markup {
    html! {
        p role="status" { (mark!("Match {0} does not count any more.", { (number) })) }
        @if played.teams.is_empty() {
            h1 { "Undone" }
            p { a href=(site.links.to("/teams")) { "Back to the teams" } }
        } @else {
            (to_record(site, sender, pick, played, None, None))
        }
    }
}

/// Teams whose result is to be recorded, and why it was not.
pub(super) fn to_record(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    played: &PlayedTeams,
    problem: Option<&ApiProblem>,
    before: Option<MatchLine>,
) -> Markup {
    html! {
        h1 { (sizes(played)) }
        @match problem {
            Some(problem) if problem.is_repeated() => p.alert role="alert" {
                "This game is recorded already, with another result. To change it, \
         undo it first."
            },
            Some(problem) => (alert(problem)),
            None => {},
        }
        @if let Some(line) = &before { (latest_result(site, sender, pick, line)) }
        (lineups(site, played))
        @match sender.may_record() {
            true => (who_won(site, sender, pick, played)),
            false => (sign_in(site, sender, pick)),
        }
        (form_of_pick(site, sender, &pick.fields(), &html! {
            button type="submit" name="do" value="edit" { "Change who plays" }
        }))
    }
}

/// Who was on which team.
fn lineups(site: &Site, played: &PlayedTeams) -> Markup {
    let names = site.team_names(&played.ruleset);
    html! {
        div.sides { @for (at, people) in played.teams.iter().enumerate() { (side((at, &names), None, people, &[])) } }
    }
}

/// The latest match that this client has recorded, and how to undo it.
pub(super) fn latest_result(site: &Site, sender: &Sender, pick: &Pick, line: &MatchLine) -> Markup {
    let mut hidden = pick.fields();
    hidden.push(("match", line.id.to_string()));
    let said = match (line.winner, line.outcome.as_str()) {
        (Some(team), _) => {
            let names = site.team_names(line.ruleset.as_deref().unwrap_or_default());
            format!("{0} won", names.name(team.into()))
        }
        (None, outcome) => outcome.to_owned(),
    };
    html! {
        section.sign {
            p {
                (mark!("Recorded last: {0}, {1}, {2}",
                    { a href=(site.links.game(line.id)) { (mark!("match {0}", { (line.id) })) } },
                    { (said) },
                    { (words::time(line.ended)) }
                ))
            }
            (form_of_pick(site, sender, &hidden, &html! {
                button type="submit" name="do" value="undo" { (mark!("Undo match {0}", { (line.id) })) }
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> PlayedTeams {
        let team = |names: &[&str]| {
            let new = |name: &&str| PickedPerson::New((*name).to_owned());
            names.iter().map(new).collect()
        };
        PlayedTeams {
            ruleset: "futsal".to_owned(),
            teams: vec![team(&["Ann", "Bob Lee"]), team(&["Cid"])],
            decision: Some(7),
            key: "00ff".to_owned(),
            is_sure: false,
        }
    }

    #[test]
    fn a_result_is_the_short_form_of_v1() {
        let expected = json!({
            "ruleset": "futsal", "id": "teams-00ff", "decision": 7, "winner": 1,
            "teams": [[{"id": "ann", "name": "Ann"}, {"id": "bob-lee", "name": "Bob Lee"}], [{"id": "cid", "name": "Cid"}]],
        });
        assert_eq!(game().body(&PickOutcome::Won(1)), expected);
        assert_eq!(game().body(&PickOutcome::Draw)["draw"], true);
        let seats = [("ann", 0), ("bob-lee", 0), ("cid", 1)];
        assert_eq!(game().last(), seats.map(|(id, team)| (id.to_owned(), team)));
    }

    #[test]
    fn a_button_or_the_scores_say_who_has_won() {
        let said = |action: &str, body: &str| {
            let fields = FormFields::parse(body.as_bytes()).unwrap();
            game().outcome(action, &fields).ok()
        };
        assert_eq!(said("draw", ""), Some(PickOutcome::Draw));
        assert_eq!(said("won-1", ""), Some(PickOutcome::Won(1)));
        assert_eq!(said("won-2", ""), None);
        assert_eq!(said("won-x", ""), None);
        let scores = |body| said("score", body);
        assert_eq!(
            scores("score=3&score=+2,5"),
            Some(PickOutcome::Scores(vec![3.0, 2.5]))
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
