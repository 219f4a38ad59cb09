//! Fills in the status of a daemon from the counters of its parts.

use super::{
    BacklogStatus, BackupMetrics, BackupStatus, FollowStatus, GameStatus, HookStatus,
    HostingStatus, JournalStatus, MatchStatus, Monitor, OtherSettingsStatus, PredictionStatus,
    QueueStatus, Status, StoreStatus, warnings::warnings,
};
use crate::{
    matchmaking::lifecycle::Stage,
    model::Timestamp,
    queues::{HostingLevels, QueueLevels},
    webhooks::HookMetrics,
};

impl Monitor {
    /// How the daemon is, and what is wrong.
    pub async fn status(&self) -> Status {
        let not_ready = self.readiness().await.err();
        let clock = self.service.sessions().clock();
        let mut status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.started.to_string(),
            uptime_seconds: self.began.elapsed().as_secs(),
            ready: not_ready.is_none(),
            not_ready: not_ready.map(|why| why.to_string()),
            store: StoreStatus {
                place: self.place.clone(),
                bytes: self.database_size().await,
                write_failures: self.failures().writes,
                in_place: self.service.store().is_in_place(),
                clock_difference_seconds: self.clocks.seconds(),
            },
            other_settings: self.other_settings(),
            backups: self.backups.as_ref().map(|own| backups(own, clock.now())),
            ..self.of_play()
        };
        let recent = self.recent.lock().since(self.failures());
        status.warnings = warnings(&status, recent);
        status
    }

    /// The daemons of the same database that have other settings.
    fn other_settings(&self) -> Vec<OtherSettingsStatus> {
        let others = self.service.leases().others().into_iter();
        let others = others.map(|other| OtherSettingsStatus {
            lease: other.lease,
            holder: other.holder,
            keys: other.keys,
        });
        others.collect()
    }

    /// The part of the status about games, matches and queues.
    fn of_play(&self) -> Status {
        let (learning, sessions) = (self.service.learning(), self.service.sessions());
        let (learned, levels) = (learning.metrics().learned(), sessions.levels());
        let metrics = sessions.metrics();
        let gate = self.gate.as_ref();
        let queues = self.service.queues().metrics();
        Status {
            connections: gate.map_or(0, |gate| gate.metrics().open_connections()),
            games: GameStatus {
                playing: metrics.playing(),
                parked: levels.parked,
            },
            matches: MatchStatus {
                learned: learned.matches,
                rated: learned.rated,
                recorded: metrics.recorded(),
                lag_seconds: learning.metrics().lag(learning.millis()),
                learning_again: learning.is_learning_again(),
            },
            predictions: PredictionStatus {
                count: learned.predictions,
                log_loss: learned.log_loss,
                recent_log_loss: learned.recent_log_loss,
                gain: learned.beside_coin.and_then(|c| c.reach.and(Some(c.gain))),
                gain_reach: learned.beside_coin.and_then(|coin| coin.reach),
                beside_coin: learned.beside_coin.map(|coin| coin.to_string()),
            },
            journal: JournalStatus {
                unforced: levels.unforced_journals,
                failures: metrics.journal_failures(),
            },
            backlog: BacklogStatus {
                matches: levels.waiting_matches,
                decisions: levels.waiting_decisions,
            },
            queues: queues.queues().into_iter().map(queue).collect(),
            hosting: hosting(queues.hosting()),
            webhooks: self.hooks.iter().map(|own| hook(own)).collect(),
            followed: self.followed.as_ref().map(|logs| FollowStatus {
                unread_bytes: logs.unread(),
                failing: logs.failing(),
                missing: logs.missing(),
                broken: logs.is_broken(),
            }),
            ..Status::default()
        }
    }
}

fn queue((name, levels): (String, QueueLevels)) -> QueueStatus {
    QueueStatus {
        name,
        tickets: levels.tickets,
        players: levels.players,
        oldest_wait_seconds: levels.oldest,
        round_age_seconds: levels.round_age(),
    }
}

fn hosting(levels: HostingLevels) -> HostingStatus {
    let stages = Stage::HOSTED.iter().zip(levels.matches);
    HostingStatus {
        connected: levels.connected,
        away: levels.away,
        draining: levels.draining,
        used_slots: levels.used_slots,
        free_slots: levels.free_slots,
        matches: stages
            .map(|(stage, count)| (stage.as_str().to_owned(), count))
            .collect(),
    }
}

fn hook(metrics: &HookMetrics) -> HookStatus {
    HookStatus {
        name: metrics.name.clone(),
        pending: metrics.waiting(),
        dropped: metrics.dropped(),
    }
}

fn backups(metrics: &BackupMetrics, now: Timestamp) -> BackupStatus {
    let latest = metrics.latest();
    let age = |latest: Timestamp| now.0.saturating_sub(latest.0).max(0) as f64 / 1_000.0;
    BackupStatus {
        latest: latest.map(|time| time.to_string()),
        age_seconds: latest.map(age),
        failures: metrics.failures(),
    }
}
