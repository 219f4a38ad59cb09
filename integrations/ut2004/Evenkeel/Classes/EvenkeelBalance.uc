//=============================================================================
// EvenkeelBalance: the teams for the game that is about to start.
//
// The daemon is asked as the countdown ends, while nobody has a body to lose.
// If its answer has not come when play begins, teams are chosen here at once,
// by the weights heard last, and the answer is not followed any more.
//=============================================================================
class EvenkeelBalance extends Info;

/** Seconds before the start at which teams are asked for. */
const COUNTDOWN_LEFT = 3;

var MutEvenkeel Keeper;
var EvenkeelClient Client;
var EvenkeelOrders Orders;
var EvenkeelReasons Reasons;
var EvenkeelRoster Roster;
var EvenkeelTeams Teams;

var bool bAsked;		// BALANCE is asked, and its answer will be followed
var bool bAnswered;		// all of the answer is there, and nobody was moved yet
var bool bDone;			// teams were chosen for this game
var int LinesLeft;		// lines of an answer still to come
var string Ratio;		// weaker team by stronger team, as the answer says
var string Chance;		// that team 0 wins

/** Whether teams were chosen, or are being chosen, without those who come from now on. */
function bool HasBegun()
{
	return bAsked || bAnswered || bDone;
}

/** A new game, or a countdown that begins anew. */
function Forget()
{
	bAsked = false;
	bAnswered = false;
	bDone = false;
	Orders.ForgetWanted();
}

/** There is another connection, or none. An answer that broke off is not followed. */
function ConnectionLost()
{
	LinesLeft = 0;
	if ( !bAsked )
		return;
	bAsked = false;
	Orders.ForgetWanted();
}

/** Called by the mutator's timer before play. */
function Think()
{
	if ( !IsCountdownEnding() )
	{
		// The countdown began anew, or stands still: teams are chosen again at its end.
		if ( HasBegun() )
			Forget();
	}
	else if ( Keeper.bBalanceAtStart && Keeper.HasTeams() && !HasBegun() )
	{
		if ( Client.IsLive() )
		{
			bAsked = true;
			Client.Ask("BALANCE");
			Client.Ask("EXPLAIN");
		}
		else if ( Keeper.bBalanceInCountdown )
			ChooseHere();
	}
}

/** Play begins, and nobody has a body yet. */
function PlayBegins()
{
	if ( !Keeper.bBalanceAtStart || !Keeper.HasTeams() || bDone )
		return;
	if ( bAnswered )
	{
		MoveAll();
		return;
	}
	if ( bAsked )
	{
		Log("The daemon's teams did not come in time.", 'Evenkeel');
		Reasons.IgnoreNext();
	}
	bAsked = false;
	Orders.ForgetWanted();
	ChooseHere();
}

/** Chooses by the weights heard last. */
function ChooseHere()
{
	if ( !Teams.Choose() )
		return;
	Ratio = string(Teams.Best[0].Ratio);
	Chance = "-";
	Reasons.Clear();
	Reasons.Append("chosen by the game server, by the weights that the daemon reported last");
	MoveAll();
}

function MoveAll()
{
	bAnswered = false;
	bDone = true;
	Keeper.RosterChanged();
	Announce(Orders.MoveWanted());
}

/** Teams were chosen, and so many humans changed sides. */
function Announce(int Moved)
{
	local string Text;

	if ( !Keeper.bAnnounce )
		return;
	if ( Moved == 1 )
		Text = "Evenkeel: teams are chosen, 1 player changed sides;";
	else
		Text = "Evenkeel: teams are chosen," @ Moved @ "players changed sides;";
	if ( (Chance != "-") && (Chance != "") )
		Text = Text @ Keeper.TeamWord(0) @ "wins with a chance of" @ class'EvenkeelWords'.static.Percent(float(Chance));
	else
		Text = Text @ "the weaker team has" @ class'EvenkeelWords'.static.Percent(float(Ratio)) @ "of the stronger team's weight";
	Level.Game.Broadcast(Keeper, Text $ ".");
}

/** Whether the countdown is at its end. */
function bool IsCountdownEnding()
{
	local DeathMatch Game;

	Game = DeathMatch(Level.Game);
	if ( Game == None )
		return false;
	if ( !Game.bStartedCountDown || (Game.CountDown > COUNTDOWN_LEFT) )
		return false;
	if ( Level.NetMode == NM_Standalone )
		return true;
	// It stands still while the game waits for players, and begins anew when it has them.
	return !Game.bWaitForNetPlayers && !(Game.bTournament && (Game.NumPlayers < Game.MaxPlayers));
}

//-----------------------------------------------------------------------------
// The daemon's answer.

/** BALANCE <lines> <ratio> <p0> <seed>; the lines follow. */
function HeardBalance(string Rest)
{
	LinesLeft = Max(int(class'EvenkeelWords'.static.Take(Rest)), 0);
	if ( bAsked )
	{
		Ratio = class'EvenkeelWords'.static.Take(Rest);
		Chance = class'EvenkeelWords'.static.Take(Rest);
	}
	if ( LinesLeft == 0 )
		Finish();
}

/** The daemon believes from now on that this player is on this team, even if that is not followed. */
function HeardTeam(string Id, int Team)
{
	Roster.Believe(Id, Team);
	if ( bAsked )
		Orders.Want(Id, Team);
	CountLine();
}

function CountLine()
{
	if ( LinesLeft <= 0 )
		return;
	LinesLeft--;
	if ( LinesLeft == 0 )
		Finish();
}

/** All of the answer is there. One that is late changes nothing; the roster tells the daemon so. */
function Finish()
{
	if ( !bAsked )
		return;
	bAsked = false;
	bAnswered = true;
	if ( Keeper.bBalanceInCountdown )
		MoveAll();
}

defaultproperties
{
}
