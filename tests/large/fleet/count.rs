//! What must hold at any time, and what must be in the database at the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use sqlx::{Connection, PgConnection};

use super::{
    game::End,
    line::{World, pause},
    lobby::Announced,
    servers::Played,
};

/// Faults by their kind, with the first few of each.
#[derive(Debug, Default)]
pub struct Faults(pub BTreeMap<&'static str, Vec<String>>);

impl Faults {
    pub fn add(&mut self, kind: &'static str, what: impl ToString) {
        self.0.entry(kind).or_default().push(what.to_string());
    }

    pub fn check(&mut self, holds: bool, kind: &'static str, what: impl ToString) {
        if !holds {
            self.add(kind, what);
        }
    }
}

/// The players who are in two matches that are not over.
const IN_TWO: &str = "
    WITH live (match_id) AS (
        SELECT match_id FROM tickets WHERE state IN ('proposed', 'hosted', 'called')
        UNION SELECT match_id FROM hosted_matches WHERE state NOT IN ('over', 'failed'))
    SELECT s.player || ' in ' || string_agg(DISTINCT s.match_id::text, ' ')
    FROM formed_seats s JOIN live USING (match_id)
    GROUP BY s.player HAVING count(DISTINCT s.match_id) > 1";

/// Looks again and again whether a player is in two matches. Returns how often it has looked, and whom it saw.
pub fn watch(world: &Arc<World>, url: &str) -> (usize, BTreeSet<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut looks, mut seen) = (0, BTreeSet::new());
    while !world.has_ended() {
        let found = runtime.block_on(async {
            let mut connection = PgConnection::connect(url).await?;
            sqlx::query_scalar(IN_TWO).fetch_all(&mut connection).await
        });
        if let Ok(found) = found {
            let found: Vec<String> = found;
            looks += 1;
            seen.extend(found);
        }
        pause(300);
    }
    (looks, seen)
}

/// Matches of games: each that was answered is there once, and so is each whose answer was on its way.
pub async fn games(db: &mut PgConnection, played: &[Played], faults: &mut Faults) {
    let query = "SELECT map, id FROM matches WHERE map <> ''";
    let rows: Vec<(String, i64)> = sqlx::query_as(query).fetch_all(db).await.unwrap();
    let mut stored: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (map, id) in rows {
        stored.entry(map).or_default().push(id);
    }
    for (map, end) in played.iter().flat_map(|one| &one.games) {
        let ids = stored.remove(map).unwrap_or_default();
        match end {
            End::Answered(id) => {
                faults.check(
                    ids.contains(id),
                    "a match is lost",
                    format!("{map} {end:?}"),
                );
            }
            End::OnItsWay => {
                faults.check(!ids.is_empty(), "a match is lost", format!("{map} {end:?}"))
            }
            End::Dropped => faults.add("a game server was refused", map),
        }
        faults.check(
            ids.len() <= 1,
            "a match is doubled",
            format!("{map} {ids:?}"),
        );
    }
    for map in stored.keys() {
        faults.add("a match of no game", map);
    }
}

/// Each hosted match that was ended is stored with its own id, and was played to its end once.
pub async fn hosted(db: &mut PgConnection, hosted: &[(i64, End)], faults: &mut Faults) {
    let query = sqlx::query_scalar("SELECT id FROM matches");
    let stored: BTreeSet<i64> = query.fetch_all(db).await.unwrap().into_iter().collect();
    let mut ended = BTreeSet::new();
    for (id, end) in hosted {
        let own = match end {
            End::Answered(own) => *own,
            End::OnItsWay => *id,
            End::Dropped => continue,
        };
        let what = format!("{id} {end:?}");
        faults.check(stored.contains(&own), "a hosted match is lost", &what);
        faults.check(own == *id, "a hosted match has another id", &what);
        faults.check(ended.insert(*id), "a hosted match was played twice", &what);
    }
}

/// How many hosted matches are in each state, for the reason why they left their last instance.
pub async fn states_of_hosted(db: &mut PgConnection) -> BTreeMap<String, i64> {
    let query = "SELECT state || ' (' || why || ')', count(*) FROM hosted_matches GROUP BY 1";
    let rows: Vec<(String, i64)> = sqlx::query_as(query).fetch_all(db).await.unwrap();
    rows.into_iter().collect()
}

/// A ticket as it is stored.
struct Stored {
    number: i64,
    owner: String,
    ticket: String,
    queue: String,
    players: Vec<String>,
    state: String,
    match_id: Option<i64>,
}

async fn stored_tickets(db: &mut PgConnection) -> Vec<Stored> {
    type Row = (i64, String, String, String, String, String, Option<i64>);
    let query = "SELECT number, owner, ticket, queue, players, state, match_id FROM tickets";
    let rows: Vec<Row> = sqlx::query_as(query).fetch_all(db).await.unwrap();
    let stored = rows.into_iter().map(|row| Stored {
        number: row.0,
        owner: row.1,
        ticket: row.2,
        queue: row.3,
        players: serde_json::from_str(&row.4).unwrap(),
        state: row.5,
        match_id: row.6,
    });
    stored.collect()
}

/// Tickets: each that was answered is there with its players, in one state and in one match at most, whole.
pub async fn tickets(
    db: &mut PgConnection,
    announced: &[Announced],
    heard: &[BTreeMap<String, BTreeSet<i64>>],
    faults: &mut Faults,
) -> BTreeMap<String, usize> {
    let stored = stored_tickets(db).await;
    let query = "SELECT ticket, match_id, team, player FROM formed_seats";
    let rows: Vec<(i64, i64, i64, String)> = sqlx::query_as(query).fetch_all(db).await.unwrap();
    let (mut seats, mut sizes) = (BTreeMap::new(), BTreeMap::new());
    for (ticket, id, team, player) in rows {
        let own: &mut BTreeMap<i64, Vec<(i64, String)>> = seats.entry(ticket).or_default();
        own.entry(id).or_default().push((team, player));
        *sizes.entry((id, team)).or_insert(0_usize) += 1;
    }
    let mut states = BTreeMap::new();
    let mut found = BTreeMap::new();
    for one in &stored {
        let name = format!("{} {}", one.owner, one.ticket);
        *states
            .entry(format!("{} {}", one.queue, one.state))
            .or_default() += 1;
        let own = seats.remove(&one.number).unwrap_or_default();
        let matches: Vec<i64> = own.keys().copied().collect();
        let expected: Vec<i64> = one.match_id.into_iter().collect();
        faults.check(
            matches == expected,
            "a ticket is in other matches than its own",
            format!(
                "{name} is {} {expected:?}, has seats in {matches:?}",
                one.state
            ),
        );
        for (id, seats) in own {
            let teams: BTreeSet<i64> = seats.iter().map(|(team, _)| *team).collect();
            let mut players: Vec<String> = seats.into_iter().map(|(_, player)| player).collect();
            let mut all = one.players.clone();
            players.sort();
            all.sort();
            let whole = teams.len() == 1 && players == all;
            faults.check(whole, "a party is torn", format!("{name} in {id}"));
            let size = if one.queue == "checked" { 2 } else { 1 };
            let full = (0..2).all(|team| sizes.get(&(id, team)) == Some(&size));
            faults.check(
                full,
                "a match is not full",
                format!("{id} of {}", one.queue),
            );
        }
        found.insert((one.owner.clone(), one.ticket.clone()), one);
    }
    for number in seats.keys() {
        faults.add("a seat of no ticket", number);
    }
    for (number, (announced, heard)) in announced.iter().zip(heard).enumerate() {
        agree(&format!("lobby{number}"), announced, heard, &found, faults);
    }
    states
}

/// What a client was told is what is stored.
fn agree(
    owner: &str,
    announced: &Announced,
    heard: &BTreeMap<String, BTreeSet<i64>>,
    found: &BTreeMap<(String, String), &Stored>,
    faults: &mut Faults,
) {
    let stored = |ticket: &String| found.get(&(owner.to_owned(), ticket.clone()));
    for (ticket, players) in &announced.submitted {
        let same = stored(ticket).is_some_and(|one| one.players == *players);
        faults.check(same, "a ticket is lost", format!("{owner} {ticket}"));
    }
    for ticket in &announced.cancelled {
        let same = stored(ticket).is_some_and(|one| one.state == "cancelled");
        faults.check(
            same,
            "a cancelled ticket is not",
            format!("{owner} {ticket}"),
        );
    }
    for (ticket, id) in &announced.matched {
        let same = stored(ticket).is_some_and(|one| one.match_id == Some(*id));
        faults.check(
            same,
            "a client was told another match",
            format!("{owner} {ticket} {id}"),
        );
    }
    for (ticket, ids) in heard {
        let Some(one) = stored(ticket).filter(|one| one.queue != "duel") else {
            continue;
        };
        let same = one.match_id.map(|id| BTreeSet::from([id])).as_ref() == Some(ids);
        faults.check(
            same,
            "a client was sent another match",
            format!("{owner} {ticket} {ids:?}"),
        );
    }
}
