//! The options about the chat, which all engines share.

use clap::Args;

use crate::sidecar::ChatSettings;

/// Which commands of players a sidecar answers.
#[derive(Debug, Args)]
pub(super) struct ChatArgs {
    /// Do not answer the commands !teams, !why and !rank in the chat
    #[arg(long, conflicts_with = "vote")]
    no_chat: bool,
    /// Let players vote with !balance: the teams are balanced again, also during play, if more than
    /// PERCENT of the humans on teams agree (50 to 99). With `[rebalance] ask_seconds`, players are
    /// asked first, and volunteer with !switch
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(50..=99))]
    vote: Option<u8>,
}

impl ChatArgs {
    pub(super) fn settings(&self) -> ChatSettings {
        ChatSettings {
            on: !self.no_chat,
            vote: self.vote,
        }
    }
}
