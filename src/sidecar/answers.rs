//! The daemon's answers, of which only those that mean a move or an end matter here.

/// The most lines an answer may announce; rosters are far smaller.
const MAX_LINES: usize = 1_024;

/// One answer. Identities are in the very bytes they were sent in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// The teams chosen: the ratio, each human's team, and the bots of each team.
    Balance {
        ratio: f64,
        teams: Vec<(String, u8)>,
        bots: Vec<u32>,
    },
    /// The moves that mend the game: the ratio afterwards, and who goes where.
    Rebalance {
        ratio: f64,
        moves: Vec<(String, u8)>,
    },
    /// How many bots belong on each team.
    Bots(Vec<u32>),
    /// The side for somebody who came late, or who died and changes sides now.
    Side { id: String, team: u8 },
    /// What became of the game.
    End(String),
    /// Something was refused.
    Refused(String),
    /// Nothing to act upon.
    Other,
}

/// Puts the lines of an answer together.
#[derive(Debug, Default)]
pub(super) struct Answers {
    begun: Option<(Answer, usize)>,
}

impl Answers {
    /// The next line; an answer when it is complete.
    pub(super) fn line(&mut self, line: &str) -> Option<Answer> {
        match self.begun.take() {
            None => self.begin(line),
            Some((mut answer, left)) => {
                follow(&mut answer, line);
                self.complete(answer, left - 1)
            }
        }
    }

    fn begin(&mut self, line: &str) -> Option<Answer> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = rest.split(' ');
        let answer = match verb {
            "BALANCE" | "REBALANCE" => {
                let lines = number(words.next())?.min(MAX_LINES);
                let ratio = if verb == "BALANCE" {
                    words.next()
                } else {
                    words.nth(1)
                };
                let ratio = ratio?.parse().ok()?;
                let answer = if verb == "BALANCE" {
                    let (teams, bots) = (Vec::new(), Vec::new());
                    Answer::Balance { ratio, teams, bots }
                } else {
                    let moves = Vec::new();
                    Answer::Rebalance { ratio, moves }
                };
                return self.complete(answer, lines);
            }
            "EXPLAIN" => {
                let lines = number(words.next())?.min(MAX_LINES);
                return self.complete(Answer::Other, lines);
            }
            "BOTS" => Answer::Bots(words.skip(1).map_while(|n| n.parse().ok()).collect()),
            // The identity may hold blanks: read from the right.
            "PLACE" => {
                let (id, team) = rest.rsplit_once(' ')?.0.rsplit_once(' ')?;
                let (id, team) = (id.to_owned(), team.parse().ok()?);
                Answer::Side { id, team }
            }
            "MOVE" => {
                let (id, team) = moved(rest)?;
                Answer::Side { id, team }
            }
            "END" => Answer::End(rest.to_owned()),
            "ERROR" => Answer::Refused(rest.to_owned()),
            _ => Answer::Other,
        };
        Some(answer)
    }

    fn complete(&mut self, answer: Answer, left: usize) -> Option<Answer> {
        if left == 0 {
            return Some(answer);
        }
        self.begun = Some((answer, left));
        None
    }
}

/// One of the lines that follow upon the first one.
fn follow(answer: &mut Answer, line: &str) {
    match answer {
        Answer::Balance { teams, bots, .. } => {
            if let Some(rest) = line.strip_prefix("TEAM ")
                && let Some((team, id)) = rest.split_once(' ')
                && let Ok(team) = team.parse()
            {
                teams.push((id.to_owned(), team));
            } else if let Some(rest) = line.strip_prefix("BOTS ")
                && let Some((_, count)) = rest.split_once(' ')
            {
                bots.extend(count.parse::<u32>().ok());
            }
        }
        Answer::Rebalance { moves, .. } => {
            moves.extend(line.strip_prefix("MOVE ").and_then(moved));
        }
        _ => {}
    }
}

/// `id from to`, from the right.
fn moved(rest: &str) -> Option<(String, u8)> {
    let (rest, to) = rest.rsplit_once(' ')?;
    let (id, _) = rest.rsplit_once(' ')?;
    Some((id.to_owned(), to.parse().ok()?))
}

fn number(word: Option<&str>) -> Option<usize> {
    word?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Answer> {
        let mut answers = Answers::default();
        text.lines().filter_map(|line| answers.line(line)).collect()
    }

    #[test]
    fn answers_of_several_lines() {
        let text = "HELLO evenkeel/0.1.0 protocol/1\nBALANCE 4 0.987654 - 7\nTEAM 1 a\nTEAM 0 \"b c\"\nBOTS 0 1\n\
                    BOTS 1 2\nEXPLAIN 1\nWHY MOVE x 0 1\nREBALANCE 1 0.5 0.9\nMOVE \"b c\" 0 1\nREBALANCE 0 1.0 1.0";
        let id = |text: &str| text.to_owned();
        let (teams, bots) = (vec![(id("a"), 1), (id("\"b c\""), 0)], vec![1, 2]);
        assert_eq!(
            read(text),
            [
                Answer::Other,
                Answer::Balance {
                    ratio: 0.987_654,
                    teams,
                    bots
                },
                Answer::Other,
                Answer::Rebalance {
                    ratio: 0.9,
                    moves: vec![(id("\"b c\""), 1)]
                },
                Answer::Rebalance {
                    ratio: 1.0,
                    moves: vec![]
                },
            ]
        );
    }

    #[test]
    fn answers_of_one_line() {
        let text = "BOTS 6 2 3\nPLACE \"b c\" 1 0.9\nMOVE a - 0\nEND 00ff recorded\nERROR no-game say GAME first\nPONG";
        let side = |id: &str, team| Answer::Side {
            id: id.to_owned(),
            team,
        };
        assert_eq!(
            read(text),
            [
                Answer::Bots(vec![2, 3]),
                side("\"b c\"", 1),
                side("a", 0),
                Answer::End("00ff recorded".into()),
                Answer::Refused("no-game say GAME first".into()),
                Answer::Other,
            ]
        );
    }

    #[test]
    fn nonsense_is_nothing() {
        assert_eq!(
            read("BALANCE x y\nPLACE\nMOVE 1\nREBALANCE 5\n\nBALANCE 99999999999999999999 1 - 7"),
            [Answer::Other]
        );
    }
}
