//! Tickets over HTTP, and waiting for another state of one.

use std::time::{Duration, Instant};

use serde_json::json;

use super::NONE;
use crate::common::{api::Api, http::HttpAnswer};

const QUEUE: &str = "
[queue.quick]
teams = 2
size = 1
ruleset = 'futsal'
host = 'none'
ready_check = 60
[queue.quick.attributes]
tier = 'int 1..10'
modes = 'set a b'
sure = 'flag'
";

#[test]
fn two_tickets_become_a_match_and_who_waits_hears_of_it() {
    let mut api = Api::start(QUEUE);
    let queues = api.call("", "GET", "/v1/queues", &NONE);
    assert_eq!(queues.1["queues"][0]["name"], "quick");
    let path = |ticket: &str| format!("/v1/queues/quick/tickets/{ticket}");
    let body =
        |id: &str| json!({"players": [{"id": id, "tier": 3, "modes": ["a", "b"], "sure": true}]});
    let (status, one) = api.call("lobby", "PUT", &path("t1"), &body("ann"));
    assert_eq!((status, &one["state"]), (200, &json!("queued")), "{one}");
    assert_eq!(
        api.call("lobby", "PUT", &path("t1"), &body("ann")).1["state"],
        "queued"
    );
    assert_eq!(
        api.call("lobby", "PUT", &path("t1"), &body("bob")).0,
        400,
        "other content"
    );
    assert_eq!(
        api.call("all", "GET", &path("t1"), &NONE).0,
        404,
        "it is another client's"
    );
    for (wrong, status) in [
        (json!({"players": [{"id": "bob", "tier": 11}]}), 400),
        (json!({"players": [{"id": "bob", "colour": 1}]}), 400),
        (json!({"players": [{"id": "bob", "tier": {}}]}), 400),
        (json!({"players": [{"id": "bob"}], "more": 1}), 400),
    ] {
        assert_eq!(
            api.call("lobby", "PUT", &path("t9"), &wrong).0,
            status,
            "{wrong}"
        );
    }
    assert_eq!(
        api.call("lobby", "PUT", "/v1/queues/none/tickets/t9", &body("bob"))
            .0,
        404
    );
    // Nothing lost by a kill.
    api.kill_and_start();
    let wait = format!("{}?wait=50&state=queued", path("t1"));
    let fields = "Authorization: Bearer lobby-token\r\n";
    let (began, waiting) = (Instant::now(), api.begin("GET", &wait, fields, ""));
    assert_eq!(api.call("lobby", "PUT", &path("t2"), &body("bob")).0, 200);
    let answer = HttpAnswer::read(waiting);
    let (status, view) = (answer.status, api.check("GET", &wait, &answer));
    let took = began.elapsed();
    assert_eq!(
        (status, &view["state"]),
        (200, &json!("proposed")),
        "{view}"
    );
    assert!(took < Duration::from_secs(40), "{took:?}");
    let answer = |player: &str, what: &str| {
        let body = json!({"match": view["match"], "player": player});
        api.call("lobby", "POST", &format!("{}/{what}", path("t1")), &body)
            .0
    };
    assert_eq!(answer("nobody", "accept"), 404);
    assert_eq!(
        (answer("ann", "accept"), answer("bob", "accept")),
        (204, 204)
    );
    let wait = format!("{}?wait=50&state=proposed", path("t1"));
    let (_, view) = api.call("lobby", "GET", &wait, &NONE);
    assert_eq!(view["state"], "matched", "{view}");
    assert_eq!(
        api.call("lobby", "DELETE", &path("t1"), &NONE).1["state"],
        "matched",
        "too late"
    );
    assert_eq!(api.call("lobby", "PUT", &path("t3"), &body("cid")).0, 200);
    assert_eq!(
        api.call("lobby", "DELETE", &path("t3"), &NONE).1["state"],
        "cancelled"
    );
    assert_eq!(answer("ann", "decline"), 409);
    assert_eq!(
        api.call("lobby", "GET", &format!("{}?wait=61", path("t1")), &NONE)
            .0,
        400
    );
}
