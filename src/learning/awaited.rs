//! What a view cannot answer yet.

use super::{gaps::Gaps, view::View};
use crate::model::Kind;

/// What is not known yet, because the stored matches are still being folded. Once they are, nothing is.
impl View {
    /// Whether the stored matches may give this player a weight under the ruleset, and none is known yet.
    pub fn awaits(&self, kind: Kind, id: &str) -> bool {
        let Some(gaps) = &self.gaps else {
            return false;
        };
        let known = self.of(kind, id);
        let is_known = known.is_some_and(|known| known.is_near || known.is_pinned);
        !is_known && (gaps.has(kind, id) || kind == Kind::Bot && self.awaits_bots())
    }

    /// Whether the stored matches may give this player a weight that decisions use, and none is known yet,
    /// nor a guess.
    pub fn awaits_expected(&self, kind: Kind, id: &str) -> bool {
        self.of(kind, id).is_none() && self.awaits(kind, id)
    }

    /// Whether the stored matches give bots weights, and none is known yet.
    pub fn awaits_bots(&self) -> bool {
        self.gaps.as_ref().is_some_and(Gaps::has_bots) && self.mean_bot().is_none()
    }

    /// Whether the stored matches may give this human a rank under the ruleset, and it is not known yet.
    pub fn awaits_rank(&self, id: &str) -> bool {
        self.awaits_facts(id, |gaps| gaps.has_ranks)
    }

    /// Whether the stored matches may tell more of this human than [`facts`](Self::facts). `reads` is whether a
    /// fact is of interest, by the name that queues have for it.
    pub fn awaits_any_fact(&self, id: &str, reads: impl Fn(&str) -> bool) -> bool {
        let careers = ["@hours", "@known_since"].into_iter().any(&reads);
        let ranks = reads("@division");
        self.awaits_facts(id, |gaps| !careers && (gaps.has_ranks || !ranks))
    }

    /// Whether a human is in a stored match, and is not known from games of the ruleset, or the weights lack what
    /// is needed.
    fn awaits_facts(&self, id: &str, suffices: impl Fn(&Gaps) -> bool) -> bool {
        let Some(gaps) = &self.gaps else {
            return false;
        };
        let is_near = self.of(Kind::Human, id).is_some_and(|known| known.is_near);
        gaps.has(Kind::Human, id) && !(is_near && suffices(gaps))
    }
}
