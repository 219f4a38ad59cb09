//! The addresses of data that `/v1` has, too. Where there is a `/v1`, they lead there for one release.

/// The address below `/v1` of the data at `path` with `query`; `None` if there is none, or if the query asks for what `/v1`
/// does not have.
pub(super) fn in_v1(path: &str, query: &str) -> Option<String> {
    let (to, keys): (String, &[&str]) = match path.strip_suffix(".json")? {
        "/live" => ("/v1/live".to_owned(), &[]),
        "/matches" => ("/v1/matches".to_owned(), &["ruleset"]),
        path => {
            let (kind, name) = path.strip_prefix('/')?.split_once('/')?;
            if name.is_empty() || name.contains('/') {
                return None;
            }
            match kind {
                "players" => (format!("/v1/players/{name}"), &["kind"]),
                "matches" => (format!("/v1/matches/{name}"), &[]),
                "rulesets" => (format!("/v1/leaderboards/{name}"), &["kind", "q"]),
                _ => return None,
            }
        }
    };
    let asked = || query.split('&').filter(|pair| !pair.is_empty());
    let known = |pair: &str| keys.contains(&pair.split('=').next().unwrap_or_default());
    let mark = if query.is_empty() { "" } else { "?" };
    asked().all(known).then(|| format!("{to}{mark}{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_v1_has_lead_there() {
        let led = |path, query| in_v1(path, query).unwrap();
        assert_eq!(led("/players/0a.json", ""), "/v1/players/0a");
        assert_eq!(
            led("/players/Sarge.json", "kind=bot"),
            "/v1/players/Sarge?kind=bot"
        );
        assert_eq!(
            led("/rulesets/a%2Bb.json", "q=x&kind=bot"),
            "/v1/leaderboards/a%2Bb?q=x&kind=bot"
        );
        assert_eq!(
            led("/matches.json", "ruleset=ctf"),
            "/v1/matches?ruleset=ctf"
        );
        assert_eq!(led("/matches/7.json", ""), "/v1/matches/7");
        assert_eq!(led("/live.json", ""), "/v1/live");
    }

    #[test]
    fn what_v1_does_not_have_stays_where_it_is() {
        for (path, query) in [
            ("/players/0a", ""),
            ("/balance.json", ""),
            ("/index.json", ""),
            ("/players/a/b.json", ""),
            ("/players/.json", ""),
            ("//evil.example/players.json", ""),
            ("/rulesets/ctf.json", "page=2"),
            ("/matches.json", "map=x"),
        ] {
            assert_eq!(in_v1(path, query), None, "{path}?{query}");
        }
    }
}
