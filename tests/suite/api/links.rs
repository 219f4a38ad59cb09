//! An identity that is tied to a player who has played, and confirmed by an organiser; and a client's own tickets.

use serde_json::{Value, json};

use super::{
    NONE,
    asked::{until, wait_for_weight},
};
use crate::common::{
    api::Api,
    process::{evenkeel, poll},
};

fn game(winner: &str, loser: &str) -> Value {
    let player = |id: &str| json!([{"id": id, "name": id.to_uppercase()}]);
    json!({"ruleset": "futsal", "winner": 0, "teams": [player(winner), player(loser)]})
}

#[test]
fn a_user_counts_as_the_player_once_an_organiser_says_so() {
    let api = Api::start("");
    let games: Vec<Value> = (0..5).map(|_| game("guid-1", "guid-2")).collect();
    assert_eq!(
        api.call("club", "POST", "/v1/matches", &json!(games)).0,
        201
    );
    wait_for_weight(&api, "guid-1");
    let link = "/v1/links/discord-7";
    assert_eq!(api.call("club", "GET", link, &NONE).0, 404);
    let ask = |name: &str| api.call("club", "PUT", link, &json!({ "player": name }));
    assert_eq!(ask("nobody").0, 404);
    let (status, asked) = ask("GUID-1");
    assert_eq!((status, &asked["confirmed_by"]), (200, &NONE), "{asked}");
    let rating = "/v1/ratings?ids=discord-7&ruleset=futsal";
    let now = api.call("club", "GET", rating, &NONE).1;
    assert_eq!(now["ratings"][0]["known"], false, "it is not confirmed");
    let confirm = |client: &str, handle: &Value| {
        let body = json!({"by": "discord-1", "handle": handle});
        api.call(client, "POST", "/v1/links/discord-7/confirm", &body)
            .0
    };
    assert_eq!(confirm("club", &asked["player"]["handle"]), 403);
    assert_eq!(confirm("all", &json!("0123")), 409);
    assert_eq!(confirm("all", &asked["player"]["handle"]), 200);
    assert_eq!(
        confirm("all", &asked["player"]["handle"]),
        200,
        "a second click"
    );
    let both = "/v1/ratings?ids=discord-7,guid-1&ruleset=futsal";
    until(&api, both, |now| {
        let [user, player] = [0, 1].map(|at| &now["ratings"][at]["weight"]);
        user.is_number() && user == player
    });
    assert_eq!(ask("GUID-1").1["confirmed_by"], "discord-1");
    assert_eq!(ask("GUID-2").0, 409, "it is tied already");
    assert_eq!(asked["alike"], false, "{asked}");
    let user = api.call(
        "club",
        "PUT",
        "/v1/links/guid-9",
        &json!({"player": "GUID-2"}),
    );
    assert_eq!((user.0, &user.1["alike"]), (200, &json!(true)), "{user:?}");
    refused_twice(&api);
    assert_eq!(api.call("club", "DELETE", link, &NONE).0, 403);
    assert_eq!(api.call("all", "DELETE", link, &NONE).0, 204);
    until(&api, rating, |now| now["ratings"][0]["known"] == false);
}

/// One person cannot be in a match twice, by two identities.
fn refused_twice(api: &Api) {
    let both = [
        json!({"id": "guid-1", "pin": 0}),
        json!({"id": "discord-7", "pin": 1}),
    ];
    let game = json!({"ruleset": "futsal", "players": both});
    let why = "players[1].id: is the same player as players[0].id";
    let teams = api.call("club", "POST", "/v1/teams", &game);
    assert_eq!((teams.0, &teams.1["detail"]), (400, &json!(why)));
    let body = json!({ "game": game });
    let pickup = api.call("club", "PUT", "/v1/pickups/twice", &body);
    assert_eq!((pickup.0, &pickup.1["detail"]), (400, &json!(why)));
    let game = json!({"ruleset": "futsal", "winner": 0, "teams": [["guid-1"], ["discord-7"]]});
    let played = api.call("club", "POST", "/v1/matches", &game);
    let why = "teams[1][0].id: is the same player as teams[0][0].id";
    assert_eq!((played.0, &played.1["detail"]), (400, &json!(why)));
}

#[test]
fn two_players_of_one_name_are_told_apart_by_their_handles() {
    let api = Api::start("");
    let mut one = game("guid-1", "guid-2");
    one["teams"][1][0]["name"] = json!("GUID-1");
    assert_eq!(api.call("club", "POST", "/v1/matches", &one).0, 201);
    wait_for_weight(&api, "guid-1");
    wait_for_weight(&api, "guid-2");
    let ask = |name: &str| {
        api.call(
            "club",
            "PUT",
            "/v1/links/discord-7",
            &json!({ "player": name }),
        )
    };
    // The list of players is up to date a moment after the weights.
    let found = until(&api, "/v1/players?q=guid", |found| {
        found["players"].as_array().unwrap().len() == 2
    });
    let handle = found["players"][1]["player"]["handle"].as_str().unwrap();
    // The handles are in the database a moment after they are in memory.
    poll(|| {
        let (status, problem) = ask("Guid-1");
        assert_eq!(status, 409, "{problem}");
        match problem["detail"].as_str().unwrap().contains(handle) {
            true => Ok(()),
            false => Err(problem),
        }
    });
    assert_eq!(ask(handle).1["player"]["handle"], handle);
    assert_eq!(
        api.call(
            "club",
            "PUT",
            "/v1/links/guid-1",
            &json!({"player": "guid-1"})
        )
        .0,
        400
    );
}

#[test]
fn who_is_forgotten_is_in_no_pick_up_match_and_no_link() {
    let api = Api::start("");
    assert_eq!(
        api.call("club", "POST", "/v1/matches", &game("guid-1", "guid-2"))
            .0,
        201
    );
    wait_for_weight(&api, "guid-1");
    let body =
        json!({"game": {"ruleset": "futsal", "players": [{"id": "guid-1"}, {"id": "guid-2"}]}});
    assert_eq!(api.call("club", "PUT", "/v1/pickups/p", &body).0, 200);
    let ask = json!({"player": "guid-1"});
    assert_eq!(api.call("club", "PUT", "/v1/links/discord-7", &ask).0, 200);
    let forget = ["player", "forget", "guid-1", "--yes"];
    let done = evenkeel(api.folder.path()).args(forget).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(api.call("club", "GET", "/v1/pickups/p", &NONE).0, 404);
    assert_eq!(api.call("club", "GET", "/v1/links/discord-7", &NONE).0, 404);
}

#[test]
fn a_client_finds_its_tickets_and_their_teams_again() {
    let queue = "[queue.quick]\nteams = 2\nsize = 1\nruleset = 'futsal'\nhost = 'none'\n";
    let mut api = Api::start(queue);
    let submit = |api: &Api, ticket: &str, id: &str| {
        let path = format!("/v1/queues/quick/tickets/{ticket}");
        assert_eq!(
            api.call("lobby", "PUT", &path, &json!({"players": [{"id": id}]}))
                .0,
            200
        );
    };
    let list = |api: &Api, query: &str| {
        let path = format!("/v1/queues/quick/tickets{query}");
        api.call("lobby", "GET", &path, &NONE).1
    };
    submit(&api, "t1", "ann");
    let one = json!([{"ticket": "t1", "state": "queued", "players": ["ann"], "match": null}]);
    assert_eq!(
        list(&api, "?player=ann"),
        json!({"tickets": one, "matches": []})
    );
    submit(&api, "t2", "bob");
    crate::common::process::poll(|| {
        let found = list(&api, "");
        match found["matches"][0]["teams"].as_array() {
            Some(teams) if teams.len() == 2 => Ok(()),
            _ => Err(found.to_string()),
        }
    });
    let before = list(&api, "?player=bob");
    assert_eq!(before["tickets"][0]["state"], "matched", "{before}");
    api.kill_and_start();
    assert_eq!(list(&api, "?player=bob"), before);
    assert_eq!(
        api.call("lobby", "GET", "/v1/queues/none/tickets", &NONE).0,
        404
    );
}
