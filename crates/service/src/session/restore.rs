//! Parks the games that an earlier daemon has left in the journal, until their servers connect
//! again.

use std::{collections::BTreeSet, io, path::Path, sync::Arc};

use tracing::error_span;

use super::{
    Sessions, draw_game,
    game_journal::GameJournal,
    journal_folder::{JournalFile, JournalFolder},
    live::LivePlace,
    state::{Ended, SessionState},
};
use crate::{
    lobby::journal::{Entry, JournaledEnd, JournaledGame},
    model::{access::Holder, in_game::Verdict},
};

/// The games that the journals read so far contain. The latest journals are read first.
#[derive(Default)]
struct LaterJournals {
    servers: BTreeSet<String>,
    games: BTreeSet<i64>,
}

impl Sessions {
    /// Journals running games in this folder from now on, and parks the games that an earlier
    /// daemon has left there. Games that cannot be resumed, because their server gave no name or
    /// the daemon was away for longer than the grace period of parked games, are recorded as
    /// abandoned. Call it once, before the first session.
    ///
    /// # Errors
    /// Fails if another daemon uses the folder, or if the folder cannot be used. A damaged journal
    /// is discarded without an error.
    pub async fn open_journal(&self, path: &Path) -> io::Result<()> {
        let (folder, alive) = JournalFolder::open(path, self.settings.file_mode)?;
        let now = self.clock.now();
        let away = alive.map_or(0, |alive| now.0.saturating_sub(alive.0));
        let recent = u64::try_from(away).unwrap_or(0) <= self.settings.resume_grace.millis();
        let left = folder.load()?;
        folder.note_alive(now)?;
        let folder = Arc::new(folder);
        if self.journals.set(folder.clone()).is_err() {
            return Err(io::Error::other("the journal is open already"));
        }
        self.parked.make_room(left.len());
        let mut found = LaterJournals::default();
        for (file, bytes) in left {
            self.restore(&folder, file, &bytes, recent, &mut found)
                .await;
        }
        Ok(())
    }

    /// Parks the game of a journal, or records it as abandoned.
    async fn restore(
        &self,
        folder: &Arc<JournalFolder>,
        file: Arc<JournalFile>,
        bytes: &[u8],
        recent: bool,
        found: &mut LaterJournals,
    ) {
        let rules = self.rules.get();
        let game = match JournaledGame::read(bytes, &rules.settings.lobby) {
            Ok(game) => game,
            Err(error) => {
                tracing::warn!(%error, bytes = bytes.len(), "a journal is discarded");
                return folder.remove(&file);
            }
        };
        let torn = bytes.len() - game.valid;
        if game.copied {
            tracing::warn!("the beginning of a journal is damaged; its copy is used");
        }
        if torn > 0 || game.failed > 0 {
            let failed = game.failed;
            tracing::warn!(
                torn,
                failed,
                "a journal is damaged, or was written under other settings"
            );
        }
        let server = game.server.clone();
        if game
            .number
            .is_some_and(|number| !found.games.insert(number))
        {
            // A later journal has replaced this one, and the daemon ended before this one was removed.
            return folder.remove(&file);
        }
        let Some(state) = self.state_of(folder, file, game).await else {
            return;
        };
        match server {
            Some(server) if recent && found.servers.insert(server.clone()) => {
                tracing::info!(
                    server,
                    "a running game waits for its server to connect again"
                );
                self.park(&server, self.holder_of(&server), state);
            }
            server => self.give_up(state, server.as_deref()),
        }
    }

    /// The session state that the journal describes; `None` if it has no game that can go on.
    async fn state_of(
        &self,
        folder: &Arc<JournalFolder>,
        file: Arc<JournalFile>,
        game: JournaledGame,
    ) -> Option<SessionState> {
        let passed = self.clock.now().0.saturating_sub(game.origin.0);
        let journal =
            match GameJournal::left(folder, file.clone(), game.valid as u64, &self.metrics) {
                Ok(journal) => journal,
                Err(error) => {
                    tracing::warn!(%error, "a journal cannot be continued");
                    folder.remove(&file);
                    GameJournal::new(Some(folder.clone()), &self.metrics)
                }
            };
        let now = game.lobby.now().max(u64::try_from(passed).unwrap_or(0));
        let span = error_span!("journal", server = game.server.as_deref());
        let live = LivePlace::new(&self.live);
        let mut state = SessionState::new(game.lobby, self.rules.get(), journal, live, &span);
        (state.epoch, state.game) = (game.epoch, game.number.unwrap_or_else(draw_game));
        state.go_on(game.reasons, now, &*self.clock);
        state.held = game.held;
        state.count_play(&self.metrics);
        for (number, finished) in game.earlier {
            // A match that is on disk is not written again.
            let (finished, _) = self.judge(finished, &Holder::ThisMachine);
            if self.backlog.keep(finished, number, None) {
                state.waiting.push(number);
            }
        }
        self.restore_end(&mut state, game.end).await;
        state.restarted = true;
        Some(state)
    }

    /// Finds out whether the match of a game is on disk, if the journal does not say so.
    async fn restore_end(&self, state: &mut SessionState, end: JournaledEnd) {
        let recorded = self.end_of_game(state.game).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot tell whether the match of a journaled game is on disk");
            None
        });
        match (end, recorded) {
            (JournaledEnd::Answered(answer), _) => {
                state.delivered = answer.delivered;
                let (id, unrated) = (answer.id, answer.unrated);
                state.ended = Some(Ended { id, unrated });
            }
            (JournaledEnd::Over { delivered, .. }, Some(ended)) => {
                state.end_with(ended);
                if delivered {
                    state.note_delivered();
                }
            }
            (
                JournaledEnd::Over {
                    finished,
                    delivered,
                },
                None,
            ) => {
                let (finished, _) = self.judge(*finished, &Holder::ThisMachine);
                if self.backlog.keep(finished, state.game, None) {
                    state.keep();
                    state.delivered = delivered;
                }
            }
            (JournaledEnd::Open, Some(ended)) => {
                // After a power cut the journal may lack the END of a match that is in the
                // database, and whether END was answered.
                let frame = state.frame(None);
                if state.lobby.end(Verdict::Draw, &frame).is_ok() {
                    state.note(&Entry::End(Verdict::Draw));
                }
                state.end_with(ended);
                state.note_delivered();
            }
            (JournaledEnd::Open, None) => {}
        }
    }
}
