//=============================================================================
// EvenkeelReplies: what the daemon says, taken apart and passed on.
//=============================================================================
class EvenkeelReplies extends Info;

/** Errors of the daemon that are worth a line in the log, in each game. */
const MOST_ERRORS = 20;

var MutEvenkeel Keeper;
var EvenkeelBalance Balance;
var EvenkeelBots Bots;
var EvenkeelChat Chat;
var EvenkeelClient Client;
var EvenkeelHandicap Handicap;
var EvenkeelOrders Orders;
var EvenkeelReasons Reasons;
var EvenkeelWeights Weights;

var int Errors;			// in this game
var int AdviceLeft;		// lines of REBALANCE's answer still to come

/** A new conversation, or a new game. */
function BeginAnew()
{
	Errors = 0;
	AdviceLeft = 0;
	Reasons.BeginAnew();
}

/** One line of the daemon's. */
function Heard(string Verb, string Rest)
{
	switch ( Verb )
	{
		case "BALANCE":
			Balance.HeardBalance(Rest);
			break;
		case "TEAM":
			HeardTeam(Rest);
			break;
		case "BOTS":
			HeardBots(Rest);
			break;
		case "PLACE":
			HeardPlace(Rest);
			break;
		case "MOVE":
			HeardMove(Rest);
			break;
		case "REBALANCE":
			AdviceLeft = Max(int(Take(Rest)), 0);
			// It was computed from where everybody is now.
			Orders.ForgetDue();
			Chat.HeardAdvice(AdviceLeft);
			break;
		case "ADVANTAGE":
			HeardAdvantage(Rest);
			break;
		case "PLAYER":
		case "BOT":
		case "MEANBOT":
			HeardWeight(Verb, Rest);
			break;
		case "END":
			Keeper.bEndTold = true;
			Log("Match" @ Rest, 'Evenkeel');
			break;
		case "EXPLAIN":
			Reasons.HeardExplain();
			break;
		case "WHY":
			Reasons.HeardWhy(Rest);
			break;
		case "RANK":
			Chat.HeardRank(Rest);
			break;
		case "ERROR":
			HeardError(Rest);
			break;
	}
}

function string Take(out string Rest)
{
	return class'EvenkeelWords'.static.Take(Rest);
}

/** TEAM <t> <id> */
function HeardTeam(string Rest)
{
	local int Team;

	Team = int(Take(Rest));
	Balance.HeardTeam(Take(Rest), Team);
}

/** BOTS <t> <count> within a BALANCE; otherwise BOTS <minPlayers> <n0> <n1>. */
function HeardBots(string Rest)
{
	if ( Balance.LinesLeft > 0 )
		Balance.CountLine();
	else if ( Bots.Manages() && !Keeper.bEnded )
		Bots.Give(int(Take(Rest)));
}

/** PLACE <id> <t> <ratio> */
function HeardPlace(string Rest)
{
	local string Id;

	Id = Take(Rest);
	Orders.Place(Id, int(Take(Rest)));
}

/** MOVE <id> <from> <to>: after a DEATH, or advice after REBALANCE. */
function HeardMove(string Rest)
{
	local string Id;
	local int Team;

	Id = Take(Rest);
	Take(Rest);
	Team = int(Take(Rest));
	if ( AdviceLeft > 0 )
	{
		AdviceLeft--;
		Orders.Advise(Id, Team);
		return;
	}
	Orders.Follow(Id, Team);
	Client.Ask("EXPLAIN");
}

/** ADVANTAGE <t> <factor>, or ADVANTAGE - 1.000 */
function HeardAdvantage(string Rest)
{
	local string Side;

	Side = Take(Rest);
	if ( (Side == "-") || Keeper.bEnded )
		Handicap.Give(-1, 1.0);
	else
		Handicap.Give(int(Side), float(Take(Rest)));
}

/** PLAYER <id> [<weight>], BOT <name> <weight>, or MEANBOT <weight> <count> */
function HeardWeight(string Verb, string Rest)
{
	local string Id;

	if ( Verb == "MEANBOT" )
	{
		Weights.NoteMeanBot(Take(Rest));
		return;
	}
	Id = Take(Rest);
	if ( Verb == "BOT" )
		Weights.NoteBot(Id, Take(Rest));
	else
		Weights.NoteHuman(Id, Take(Rest));
}

/** ERROR <code> <text> */
function HeardError(string Rest)
{
	local string Code, Text;

	Text = Rest;
	Code = Take(Text);
	// The daemon does not hold the game whose END this is about; asking again would not help.
	if ( Keeper.bEnded && ((Code ~= "no-game") || (Code ~= "not-allowed")) )
		Keeper.bEndTold = true;
	if ( Chat.HeardError(Code) )
		return;
	Errors++;
	if ( Errors <= MOST_ERRORS )
		Log("The daemon says" @ Rest, 'Evenkeel');
}

defaultproperties
{
}
