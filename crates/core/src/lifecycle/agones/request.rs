//! The request for the game server of a match.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{AgonesSettings, settings::is_label_value};
use crate::{domain::MatchId, lifecycle::Wanted};

/// The most regions that a request names.
const MAX_REGIONS: usize = 16;
/// What the names of the annotations begin with.
const PREFIX: &str = "evenkeel";

type Texts = BTreeMap<String, String>;

/// What the allocator service is sent. Agones calls it an AllocationRequest.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AllocationRequest<'a> {
    namespace: &'a str,
    /// The service tries them in this order.
    game_server_selectors: Vec<LabelSelector>,
    metadata: MetaPatch,
}

/// The labels of the game servers that will do.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LabelSelector {
    match_labels: Texts,
}

/// What the game server that is allocated is marked with.
#[derive(Serialize)]
struct MetaPatch {
    annotations: Texts,
}

impl AgonesSettings {
    /// The request for the game server of a match, in JSON. Regions come in the order of their latencies; if
    /// the match has no ceiling, any region comes last.
    ///
    /// # Errors
    /// Fails if the mode or the map of the match cannot be the value of a label, or if no region is near
    /// enough to its players.
    pub fn request(&self, id: MatchId, queue: &str, wanted: &Wanted) -> Result<String, String> {
        let body = AllocationRequest {
            namespace: &self.namespace,
            game_server_selectors: self.selectors(wanted)?,
            metadata: MetaPatch {
                annotations: annotations(id, queue, wanted),
            },
        };
        serde_json::to_string(&body).map_err(|error| error.to_string())
    }

    fn selectors(&self, wanted: &Wanted) -> Result<Vec<LabelSelector>, String> {
        let mut labels = self.labels.clone();
        let named = [
            (&self.mode_label, &wanted.mode, "mode"),
            (&self.map_label, &wanted.map, "map"),
        ];
        for (label, value, what) in named {
            if let Some(value) = value
                && !label.is_empty()
            {
                if !is_label_value(value) {
                    return Err(format!("the {what} {value:?} cannot be a label's value"));
                }
                labels.insert(label.clone(), value.clone());
            }
        }
        let mut selectors: Vec<LabelSelector> = self
            .regions(wanted)
            .into_iter()
            .map(|region| {
                let mut match_labels = labels.clone();
                match_labels.insert(self.region_label.clone(), region);
                LabelSelector { match_labels }
            })
            .collect();
        match (wanted.ceiling, self.region_label.is_empty()) {
            (Some(_), false) if selectors.is_empty() => {
                return Err("no region is near enough to all players".to_owned());
            }
            (Some(_), false) => {}
            _ => selectors.push(LabelSelector {
                match_labels: labels,
            }),
        }
        Ok(selectors)
    }

    /// The regions that are near enough, the nearest first. Players state their names, so names that cannot
    /// be the value of a label are left out.
    fn regions(&self, wanted: &Wanted) -> Vec<String> {
        if self.region_label.is_empty() {
            return Vec::new();
        }
        let near = |latency: f64| wanted.ceiling.is_none_or(|ceiling| latency <= ceiling);
        let mut regions: Vec<(&String, f64)> = wanted
            .latencies
            .iter()
            .map(|(region, latency)| (region, *latency))
            .filter(|(region, latency)| {
                near(*latency) && !region.is_empty() && is_label_value(region)
            })
            .collect();
        regions.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.cmp(other.0)));
        let nearest = regions.into_iter().take(MAX_REGIONS);
        nearest.map(|(region, _)| region.clone()).collect()
    }
}

/// What a game server can read about its match in Kubernetes. No passes: everybody who may read the objects
/// of the namespace sees it.
fn annotations(id: MatchId, queue: &str, wanted: &Wanted) -> Texts {
    let all = [
        ("match", Some(id.to_string())),
        ("queue", Some(queue.to_owned())),
        ("mode", wanted.mode.clone()),
        ("map", wanted.map.clone()),
    ];
    let annotation = |(name, value): (&str, Option<String>)| {
        let value = value?;
        Some((format!("{PREFIX}/{name}"), value))
    };
    all.into_iter().filter_map(annotation).collect()
}
