//! What the page of teams asks of the database, on both kinds.

use std::{collections::BTreeSet, sync::Arc};

use evenkeel::{
    model::{Kind, PlayerKey, Timestamp},
    server::Service,
    store::{DerivedFrom, DerivedRows, Recount, SignIn, Store, WeightRow},
};
use tempfile::TempDir;

use crate::common::{
    as_they_stand,
    backends::{open_chosen, rows},
    config,
    postgres::Server,
};

fn weight(ruleset: &str, id: &str, name: &str, kind: Kind) -> WeightRow {
    let id = id.to_owned();
    WeightRow {
        ruleset: ruleset.to_owned(),
        key: PlayerKey { kind, id },
        name: name.to_owned(),
        weight: 50.0,
        deviation: 5.0,
        rank: None,
        is_pinned: false,
        games: 3,
        wins: 1,
        last_seen: Timestamp(1),
    }
}

async fn players_are_found_by_names_and_identities(store: &Arc<Store>) {
    let weights = vec![
        weight("futsal", "ann", "^1Ann", Kind::Human),
        weight("futsal", "C3D2", "Mr. X", Kind::Human),
        weight("futsal", "a1", "Max", Kind::Human),
        weight("futsal", "b2", "max", Kind::Human),
        weight("futsal", "Sarge", "Ann", Kind::Bot),
        weight("chess", "ann2", "Ann", Kind::Human),
    ];
    let derived = DerivedRows {
        from: DerivedFrom {
            matches: 1,
            last_match: 1,
            settings: "settings".into(),
        },
        rulings: vec![].into(),
        weights: as_they_stand(weights),
        divisions: Vec::new(),
        seasons: Vec::new(),
        recount: Recount::default(),
    };
    assert!(
        store
            .learned()
            .replace_derived(&derived, true, None)
            .await
            .unwrap()
    );
    let service = Service::open(store.clone(), config("").service()).unwrap();
    service.learning().resume(-1).await.unwrap(); // serves the weights in the database
    let find = async |texts: &[&str]| {
        let texts: BTreeSet<String> = texts.iter().map(ToString::to_string).collect();
        let found = service.learning().named("futsal", &texts).await.unwrap();
        let mut ids: Vec<String> = found.iter().map(|row| row.key.id.clone()).collect();
        ids.sort();
        (ids.join(" "), found)
    };
    assert_eq!(find(&[]).await.0, "");
    assert_eq!(find(&["ann", "c3d2", "nobody"]).await.0, "C3D2 ann");
    assert_eq!(find(&["max", "Max"]).await.0, "a1 b2");
    assert_eq!(find(&["' or 1=1 --", "%", "sarge"]).await.0, "");
    let (_, ann) = find(&["ann"]).await;
    let many: Vec<String> = (0..400).map(|number| format!("p{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(["ann"]).collect();
    assert_eq!(find(&many).await.0, "ann");
    store
        .corrections()
        .set_hidden(&ann[0].key, true)
        .await
        .unwrap();
    assert_eq!(find(&["ann"]).await.0, "", "who is hidden is not found");
}

async fn sign_ins_are_kept_and_end(store: &Store) {
    let one = |number: u8, at: i64| SignIn {
        secret: [number; 32],
        client: if number == 255 { "other" } else { "club" }.to_owned(),
        token: [1; 32],
        made_at: Timestamp(at),
    };
    let there = async |number: u8| store.signed_in(&[number; 32]).await.unwrap();
    store.sign_in(&one(255, 0)).await.unwrap();
    for number in 0..=100 {
        store
            .sign_in(&one(number, i64::from(number)))
            .await
            .unwrap();
    }
    assert_eq!(there(0).await, None, "a client has at most a hundred");
    assert_eq!(there(1).await, Some(one(1, 1)));
    assert_eq!(there(255).await, Some(one(255, 0)));
    store.sign_out(&[1; 32]).await.unwrap();
    store.sign_out(&[1; 32]).await.unwrap();
    assert_eq!(there(1).await, None);
    assert_eq!(store.drop_sign_ins(Timestamp(50)).await.unwrap(), 49);
    assert_eq!(store.drop_sign_ins(Timestamp(50)).await.unwrap(), 0);
    assert!(there(49).await.is_none() && there(50).await.is_some());
}

#[tokio::test]
async fn on_the_chosen_database() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    let store = open_chosen(&path).await;
    players_are_found_by_names_and_identities(&store).await;
    sign_ins_are_kept_and_end(&store).await;
    let left: Vec<(i64,)> = rows(&path, "SELECT count(*) FROM sign_ins").await;
    assert_eq!(left, [(51,)]);
    store.close().await;
}

#[tokio::test]
async fn what_is_stored_is_found_again_on_postgresql() {
    let Some(server) = Server::shared() else {
        return;
    };
    let name = server.unused_name();
    server.create(&name).await;
    let place = server.place(&name);
    let patience = std::time::Duration::from_secs(20);
    let store = evenkeel::store::open_at(&place, true, patience)
        .await
        .unwrap();
    players_are_found_by_names_and_identities(&store).await;
    sign_ins_are_kept_and_end(&store).await;
    store.close().await;
}
