//=============================================================================
// EvenkeelOrders: carries out what was decided about who plays where.
//
// Before play, all players go to where they are wanted. During play, who has a
// body keeps it: a change of sides waits for the next death, unless somebody
// comes, leaves or changes sides before.
//=============================================================================
class EvenkeelOrders extends Info;

var MutEvenkeel Keeper;
var EvenkeelMover Mover;
var EvenkeelRoster Roster;

/** A TEAM line of a BALANCE that is followed. */
function Want(string Id, int Team)
{
	WantSeat(Roster.FindHuman(Id), Team);
}

function WantSeat(int i, int Team)
{
	if ( i < 0 )
		return;
	Roster.Seats[i].Wanted = Team;
	Roster.Seats[i].bLate = false;
}

/** Moves everyone to where they are wanted; how many had to. */
function int MoveWanted()
{
	local int i, Moved;

	for ( i = 0; i < Roster.Seats.Length; i++ )
		if ( Roster.Seats[i].Wanted != -1 )
		{
			if ( MoveTo(i, Roster.Seats[i].Wanted) )
				Moved++;
			Roster.Seats[i].Wanted = -1;
		}
	return Moved;
}

function ForgetWanted()
{
	local int i;

	for ( i = 0; i < Roster.Seats.Length; i++ )
		Roster.Seats[i].Wanted = -1;
}

function ForgetDue()
{
	local int i;

	for ( i = 0; i < Roster.Seats.Length; i++ )
		Roster.Seats[i].Due = -1;
}

/** The answer to PLACE. One that comes too late is not followed: Refresh has told the truth since. */
function Place(string Id, int Team)
{
	local int i;

	i = Roster.FindHuman(Id);
	if ( i < 0 )
		return;
	Roster.Seats[i].Team = Team;
	if ( !Roster.Seats[i].bPlacing )
		return;
	Roster.Seats[i].bPlacing = false;
	if ( Send(i, Team) )
		TellPlaced(i);
}

/** Auto-balance moves somebody who died. */
function Follow(string Id, int Team)
{
	Roster.Believe(Id, Team);
	Advise(Id, Team);
}

/** This player is to change to this team. */
function Advise(string Id, int Team)
{
	local int i;

	i = Roster.FindHuman(Id);
	if ( (i >= 0) && Send(i, Team) )
		TellMoved(i);
}

/**
 * Puts a human on a team, or, as long as they have a body, notes that they are to change as soon as
 * they have none. Whether they are on another team now.
 */
function bool Send(int i, int Team)
{
	if ( (Team < 0) || (Team > 1) || (Roster.TeamOf(Roster.Seats[i].PRI) == Team) )
	{
		Roster.Seats[i].Due = -1;
		return false;
	}
	if ( Roster.HasBody(i) )
	{
		if ( !Roster.Seats[i].bRefused )
			Roster.Seats[i].Due = Team;
		return false;
	}
	return MoveTo(i, Team);
}

/** The body is gone that a change waited for. */
function MoveDue(int i)
{
	local int Team;

	Team = Roster.Seats[i].Due;
	if ( MoveTo(i, Team) )
	{
		TellMoved(i);
		// Told here, so that the changes that others wait for still hold.
		Roster.TellMove(i, Team);
	}
	Roster.Seats[i].Due = -1;
}

/** Tells a late arrival why they are not on the team that they chose. */
function TellPlaced(int i)
{
	Message(i, "you play for" @ Keeper.TeamWord(Roster.TeamOf(Roster.Seats[i].PRI)) $ ", which makes the teams more even.");
}

/** Tells everybody of a change of sides, and the player why. */
function TellMoved(int i)
{
	if ( Keeper.bAnnounce )
		Level.Game.Broadcast(Keeper, "Evenkeel:" @ Roster.Seats[i].PRI.PlayerName @ "changes to" @ Keeper.TeamWord(Roster.TeamOf(Roster.Seats[i].PRI)) @ "to even the teams.");
	Keeper.RosterChanged();
}

/** A line that only this player sees. */
function Message(int i, string Text)
{
	local PlayerController PC;

	PC = PlayerController(Roster.Seats[i].PRI.Owner);
	if ( Keeper.bAnnounce && (PC != None) )
		PC.ClientMessage("Evenkeel:" @ Text);
}

/**
 * Puts a human on a team. If the game refuses, Refresh tells the daemon where they are, and it is
 * not tried again in this game.
 */
function bool MoveTo(int i, int Team)
{
	local int Now;

	Now = Roster.TeamOf(Roster.Seats[i].PRI);
	if ( Roster.Seats[i].bRefused || (Now < 0) || (Now == Team) || Level.Game.bGameEnded )
		return false;
	if ( Mover.PutOn(Roster.Seats[i].PRI, Team) )
		return true;
	Roster.Seats[i].bRefused = true;
	return false;
}

defaultproperties
{
}
