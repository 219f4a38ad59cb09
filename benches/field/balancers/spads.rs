//! SPADS, the automatic host of Spring games: Yaribz/SPADS `src/spads.pl` at commit 02c4a7ac (version 0.13.55, 2026),
//! `balanceBattle` in the mode `clan;skill`.
//!
//! Clans come first, the largest first: one that is weaker than the mean goes where most room is, a stronger one to the
//! team with the smaller sum among those with room for it. Then all others, from the best to the worst: each goes to the team
//! that lacks most per free place to reach half of the sum of all. Two special cases are for three against three, and for a
//! last place beside a clan. Players of equal skill stand in a random order.
//!
//! It publishes no example; the tests have answers that were worked out by these rules by hand. A party is a clan by its tag,
//! which its default keeps at any cost.

use rand::{rngs::ChaCha8Rng, seq::SliceRandom};

use super::{Assembly, with_first};

/// A team that is being filled.
#[derive(Clone, Debug, Default)]
struct Filling {
    free: usize,
    sum: f64,
    members: Vec<usize>,
}

impl Filling {
    fn add(&mut self, who: usize, skill: f64) {
        self.free -= 1;
        self.sum += skill;
        self.members.push(who);
    }
}

/// The team with most room.
fn roomiest(teams: &[Filling; 2]) -> usize {
    usize::from(teams[1].free > teams[0].free)
}

/// The team for a strong clan of this size.
fn for_strong(teams: &[Filling; 2], size: usize) -> usize {
    let mut chosen = roomiest(teams);
    for (at, team) in teams.iter().enumerate() {
        let best = &teams[chosen];
        let fits = team.free >= size;
        let weaker = team.sum < best.sum && (fits || team.free == best.free);
        if weaker || team.sum == best.sum && fits && team.free < best.free {
            chosen = at;
        }
    }
    chosen
}

/// The team that lacks most per free place to reach `half`.
fn lacking(teams: &[Filling; 2], half: f64) -> usize {
    let lacks = |team: &Filling| (half - team.sum) / team.free as f64;
    match [&teams[0], &teams[1]] {
        [one, other] if one.free > 0 && other.free > 0 => usize::from(lacks(other) > lacks(one)),
        [one, _] => usize::from(one.free == 0),
    }
}

/// Places the clans.
fn place_clans(assembly: &Assembly, teams: &mut [Filling; 2], random: &mut ChaCha8Rng) {
    let skill = |who: &usize| assembly.ratings[*who];
    let mean = assembly.ratings.iter().sum::<f64>() / assembly.len() as f64;
    let mut clans = assembly.parties.clone();
    clans.shuffle(random);
    clans.sort_by_key(|clan| std::cmp::Reverse(clan.len()));
    while !clans.is_empty() {
        let mut clan = clans.remove(0);
        let of_clan = clan.iter().map(skill).sum::<f64>() / clan.len() as f64;
        let team = match of_clan > mean {
            true => for_strong(teams, clan.len()),
            false => roomiest(teams),
        };
        let room = teams[team].free;
        if room < 2 {
            return;
        }
        if clan.len() > room {
            let rest = clan.split_off(room);
            if rest.len() > 1 {
                clans.push(rest);
                clans.sort_by_key(|clan| std::cmp::Reverse(clan.len()));
            }
        }
        clan.iter()
            .for_each(|who| teams[team].add(*who, skill(who)));
    }
}

/// Places all others, from the best to the worst.
fn place_others(ratings: &[f64], order: Vec<usize>, teams: &mut [Filling; 2], half: f64) {
    let mut of_three = order.len() == 6 && teams.iter().all(|team| team.free == 3);
    let mut order = std::collections::VecDeque::from(order);
    while let Some(who) = order.pop_front() {
        let mut team = lacking(teams, half);
        if teams[team].free == 1 && teams[1 - team].free > 1 {
            let off = |who: usize| (ratings[who] - (half - teams[team].sum)).abs();
            if order.front().is_some_and(|next| off(*next) < off(who)) {
                team = 1 - team;
            }
        }
        teams[team].add(who, ratings[who]);
        // In three against three, the best has the second beside them if the worst as third leaves them too weak.
        if std::mem::take(&mut of_three)
            && let (Some(next), Some(worst)) = (order.front().copied(), order.back())
            && teams[team].sum + ratings[next] + ratings[*worst] < half
        {
            order.pop_front();
            teams[team].add(next, ratings[next]);
        }
    }
}

/// Teams of SPADS.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let players = assembly.len();
    let team = |free| Filling {
        free,
        ..Filling::default()
    };
    let mut teams = [team(players.div_ceil(2)), team(players / 2)];
    place_clans(assembly, &mut teams, random);
    let placed = |who: &usize| teams.iter().any(|team| team.members.contains(who));
    let mut order: Vec<usize> = (0..players).filter(|who| !placed(who)).collect();
    order.shuffle(random);
    order.sort_by(|a, b| assembly.ratings[*b].total_cmp(&assembly.ratings[*a]));
    let half = assembly.ratings.iter().sum::<f64>() / 2.0;
    place_others(&assembly.ratings, order, &mut teams, half);
    Some(with_first(players, &teams[0].members))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn of(ratings: &[f64], parties: &[&[usize]]) -> Vec<u8> {
        let mut assembly = Assembly::of(ratings);
        assembly.parties = parties.iter().map(|party| party.to_vec()).collect();
        teams(&assembly, &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
    }

    /// Half of all is 90. 50 goes to team 0, which then lacks 13.3 for each place, and team 1 gets 40: it lacks 16.7, and gets
    /// 30 as well. Now it lacks 10, so team 0 gets 20, lacks 10 as well, and gets 15. It lacks 5, so team 1 gets 10 and 8.
    #[test]
    fn each_goes_where_most_is_lacking() {
        let ratings = [50.0, 40.0, 30.0, 20.0, 15.0, 10.0, 8.0, 7.0];
        assert_eq!(of(&ratings, &[]), [0, 1, 1, 0, 0, 1, 1, 0]);
    }

    /// Half of all is 60: 40 with the second, 30, and the worst, 5, would be 75, so the rule of three against three does not
    /// hold. With 20 as the best of 20, 18, 17, 16, 15 and 1, half is 43.5, and 20 + 18 + 1 are less: both play together.
    #[test]
    fn three_against_three() {
        assert_eq!(
            of(&[40.0, 30.0, 20.0, 15.0, 10.0, 5.0], &[]),
            [0, 1, 1, 0, 1, 0]
        );
        assert_eq!(
            of(&[20.0, 18.0, 17.0, 16.0, 15.0, 1.0], &[]),
            [0, 0, 1, 1, 1, 0]
        );
    }

    /// A clan of three with 45 goes to team 0, which lacks 5 to 50. Team 1 gets 17, 16 and 12, and lacks 5 then. So team 0
    /// gets 7.
    #[test]
    fn a_clan_stays_together() {
        let ratings = [20.0, 15.0, 10.0, 17.0, 16.0, 12.0, 7.0, 3.0];
        assert_eq!(of(&ratings, &[&[0, 1, 2]]), [0, 0, 0, 1, 1, 1, 0, 1]);
    }

    /// The clan lacks 10. After 17 and 16, team 1 lacks only 8.5 for each of two places, and the last place beside the clan is
    /// next: 9 fits it better than 12.
    #[test]
    fn the_last_place_beside_a_clan_waits_for_who_fits() {
        let ratings = [20.0, 15.0, 5.0, 17.0, 16.0, 12.0, 9.0, 6.0];
        assert_eq!(of(&ratings, &[&[0, 1, 2]]), [0, 0, 0, 1, 1, 1, 0, 1]);
    }
}
