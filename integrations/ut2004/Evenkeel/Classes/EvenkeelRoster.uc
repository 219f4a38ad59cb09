//=============================================================================
// EvenkeelRoster: who plays, and what the daemon has been told of them.
//
// It looks at the list of controllers twice a second and tells what has
// changed. Spectators, and what helps games without playing, are not in it.
//=============================================================================
class EvenkeelRoster extends Info;

/** Seconds that a late arrival waits for the answer to PLACE before their own team counts. */
const PLACE_PATIENCE = 5.0;
/** More than a server's worth of people who leave while the daemon is away. */
const MOST_MISSED = 64;

/** One human or bot. */
struct Seat
{
	var PlayerReplicationInfo PRI;
	var string Id;			// as the daemon knows them
	var string Nick;		// the name last told
	var int Team;			// where the daemon believes them to be; -1: nowhere yet
	var int Wanted;			// where BALANCE wants them; -1: nowhere
	var int Points;			// last told
	var float PlaceAt;		// when PLACE was asked
	var bool bLate;			// came after the teams were chosen, and is to be placed
	var bool bPlacing;		// PLACE is asked and not answered
	var bool bBot;
	var bool bCarrier;		// carries the flag, or the ball
	var bool bRespawn;		// lost their body to a move of ours
};

var MutEvenkeel Keeper;
var EvenkeelClient Client;
var array<Seat> Seats;
/** Lines about people who left while the daemon was away. */
var array<string> Missed;

function string Quote(string Text)
{
	return class'EvenkeelWords'.static.Quote(Text);
}

/** Whether this controller plays. */
function bool Plays(Controller C)
{
	if ( (C == None) || C.bDeleteMe || !C.bIsPlayer || (MessagingSpectator(C) != None) )
		return false;
	if ( (PlayerController(C) == None) && (Bot(C) == None) )
		return false;
	return (C.PlayerReplicationInfo != None) && !C.PlayerReplicationInfo.bOnlySpectator
		&& (C.PlayerReplicationInfo.PlayerName != "");
}

/** The team somebody is on now. */
function int TeamOf(PlayerReplicationInfo PRI)
{
	if ( (PRI == None) || (PRI.Team == None) )
		return -1;
	return PRI.Team.TeamIndex;
}

function int Find(PlayerReplicationInfo PRI)
{
	local int i;

	for ( i = 0; i < Seats.Length; i++ )
		if ( Seats[i].PRI == PRI )
			return i;
	return -1;
}

/** The human of this id, as a reply spells it. */
function int FindHuman(string Id)
{
	local int i;

	for ( i = 0; i < Seats.Length; i++ )
		if ( !Seats[i].bBot && (Seats[i].Id == Id) )
			return i;
	return -1;
}

/** Looks who came, went, changed sides, names or burdens, and tells it. */
function Sync()
{
	local Controller C;
	local int i;

	for ( i = Seats.Length - 1; i >= 0; i-- )
		if ( (Seats[i].PRI == None) || Seats[i].PRI.bDeleteMe || !Plays(Controller(Seats[i].PRI.Owner)) )
			Remove(i);
	for ( C = Level.ControllerList; C != None; C = C.NextController )
		if ( Plays(C) )
		{
			i = Learn(C);
			if ( i >= 0 )
				Refresh(i);
		}
}

/** The seat of somebody who plays; -1 for others. Who is new gets one, and the daemon hears of it. */
function int Learn(Controller C)
{
	local int i;

	if ( !Plays(C) )
		return -1;
	i = Find(C.PlayerReplicationInfo);
	if ( i >= 0 )
		return i;
	i = Seats.Length;
	Seats.Length = i + 1;
	Seats[i].PRI = C.PlayerReplicationInfo;
	Seats[i].bBot = (Bot(C) != None);
	Seats[i].Nick = C.PlayerReplicationInfo.PlayerName;
	Seats[i].Id = IdFor(C);
	Seats[i].Team = -1;
	Seats[i].Wanted = -1;
	Seats[i].bLate = !Seats[i].bBot && Keeper.HasChosenTeams();
	Tell(i, false);
	Keeper.RosterChanged();
	return i;
}

/**
 * A human's hash; a name for bots, for humans without a hash (in a LAN, say), and for the second
 * one of two who share a hash.
 */
function string IdFor(Controller C)
{
	local string Id;

	if ( PlayerController(C) != None )
		Id = PlayerController(C).GetPlayerIDHash();
	if ( (Id == "") || (FindHuman(Id) >= 0) )
		Id = C.PlayerReplicationInfo.PlayerName;
	return class'EvenkeelWords'.static.Clean(Id);
}

/** JOIN or BOTJOIN; bSeated: on the team they are on, which is not up for choice. */
function Tell(int i, bool bSeated)
{
	local string Line;
	local int Team;

	Team = TeamOf(Seats[i].PRI);
	if ( !Keeper.HasTeams() )
		Team = 0;
	if ( Seats[i].bBot )
	{
		if ( Team < 0 )
			return;
		Client.Say("BOTJOIN" @ Quote(Seats[i].Id) @ Team);
		Seats[i].Team = Team;
		return;
	}
	Line = "JOIN" @ Quote(Seats[i].Id) @ "name=" $ Quote(Seats[i].Nick);
	if ( bSeated && Keeper.HasTeams() && Keeper.TeamsAreSet() && (Team >= 0) )
	{
		Line = Line @ "team=" $ Team;
		Seats[i].Team = Team;
	}
	Client.Say(Line);
}

/** Everyone, to a daemon that knows nobody, or (bResumed) may have missed something. */
function TellAll(bool bResumed)
{
	local int i;

	if ( bResumed )
		for ( i = 0; i < Missed.Length; i++ )
			Client.Say(Missed[i]);
	Missed.Length = 0;
	for ( i = 0; i < Seats.Length; i++ )
	{
		Seats[i].Team = -1;
		Seats[i].bLate = false;
		Seats[i].bPlacing = false;
		Seats[i].bCarrier = false;
		Seats[i].Points = 0;
		Tell(i, true);
	}
}

/** What has changed about somebody known. */
function Refresh(int i)
{
	local PlayerReplicationInfo PRI;
	local int Team;
	local bool bCarrier;

	PRI = Seats[i].PRI;
	if ( !Seats[i].bBot && (PRI.PlayerName != Seats[i].Nick) )
	{
		Seats[i].Nick = PRI.PlayerName;
		Client.Say("JOIN" @ Quote(Seats[i].Id) @ "name=" $ Quote(Seats[i].Nick));
	}
	if ( !Keeper.HasTeams() || !Keeper.TeamsAreSet() )
		return;
	if ( Seats[i].bLate )
		AskPlace(i);
	if ( Seats[i].bPlacing && (Level.TimeSeconds - Seats[i].PlaceAt > PLACE_PATIENCE) )
		Seats[i].bPlacing = false;
	Team = TeamOf(PRI);
	if ( (Team >= 0) && (Team != Seats[i].Team) && !Seats[i].bPlacing )
		TellMove(i, Team);
	bCarrier = (PRI.HasFlag != None);
	if ( !Seats[i].bBot && (bCarrier != Seats[i].bCarrier) )
	{
		Seats[i].bCarrier = bCarrier;
		if ( bCarrier )
			Client.Say("PROTECT" @ Quote(Seats[i].Id));
		else
			Client.Say("PROTECT" @ Quote(Seats[i].Id) @ "0");
	}
}

/** Which side does this late arrival take? Asked once. */
function AskPlace(int i)
{
	Seats[i].bLate = false;
	if ( !Keeper.bPlaceArrivals || !Client.IsLive() )
		return;
	Client.Ask("PLACE" @ Quote(Seats[i].Id));
	Seats[i].bPlacing = true;
	Seats[i].PlaceAt = Level.TimeSeconds;
}

function TellMove(int i, int Team)
{
	if ( Seats[i].bBot )
		Client.Say("BOTJOIN" @ Quote(Seats[i].Id) @ Team);
	else
		Client.Say("MOVE" @ Quote(Seats[i].Id) @ Team);
	Seats[i].Team = Team;
	Keeper.RosterChanged();
}

/** Somebody leaves. */
function Gone(Controller C)
{
	local int i;

	if ( (C == None) || (C.PlayerReplicationInfo == None) )
		return;
	i = Find(C.PlayerReplicationInfo);
	if ( i >= 0 )
		Remove(i);
}

function Remove(int i)
{
	local string Line;

	// A bot without a team was never told of.
	if ( !Seats[i].bBot )
		Line = "LEAVE" @ Quote(Seats[i].Id);
	else if ( Seats[i].Team >= 0 )
		Line = "BOTLEAVE" @ Quote(Seats[i].Id);
	if ( (Line != "") && Client.IsLive() )
		Client.Say(Line);
	else if ( (Line != "") && Keeper.HasUnfinishedGame() && (Missed.Length < MOST_MISSED) )
		Missed[Missed.Length] = Line;
	Seats.Remove(i, 1);
	Keeper.RosterChanged();
}

/** Scoreboard points that have changed since they were last told. */
function TellPoints()
{
	local int i, Points;

	for ( i = 0; i < Seats.Length; i++ )
		if ( (Seats[i].PRI != None) && (!Seats[i].bBot || (Seats[i].Team != -1)) )
		{
			Points = int(Seats[i].PRI.Score);
			if ( Points != Seats[i].Points )
			{
				Client.Say("POINTS" @ Quote(Seats[i].Id) @ Points);
				Seats[i].Points = Points;
			}
		}
}

/** Somebody killed somebody, or died without anybody's doing. */
function TellKill(Controller Killer, Controller Victim)
{
	local int k, v;

	v = Learn(Victim);
	if ( v < 0 )
		return;
	k = Learn(Killer);
	if ( (k >= 0) && (k != v) )
		Client.Say("KILL" @ Quote(Seats[k].Id) @ Quote(Seats[v].Id));
	else if ( Seats[v].bBot )
		Client.Say("KILL" @ Quote(Seats[v].Id) @ Quote(Seats[v].Id));
	if ( !Seats[v].bBot )
		Client.Say("DEATH" @ Quote(Seats[v].Id));
}

/** Humans on the team that has the most of them. */
function int LargestTeam()
{
	local int i, Team, Largest;
	local int Size[2];

	for ( i = 0; i < Seats.Length; i++ )
		if ( !Seats[i].bBot )
		{
			Team = TeamOf(Seats[i].PRI);
			if ( (Team == 0) || (Team == 1) )
				Size[Team]++;
		}
	Largest = Max(Size[0], Size[1]);
	return Largest;
}

//-----------------------------------------------------------------------------
// What the daemon decided.

/** A TEAM line of BALANCE. */
function Want(string Id, int Team)
{
	local int i;

	i = FindHuman(Id);
	if ( i < 0 )
		return;
	Seats[i].Team = Team;
	Seats[i].Wanted = Team;
}

/** Moves everyone to where BALANCE wants them; how many had to. */
function int MoveWanted()
{
	local int i, Moved;

	for ( i = 0; i < Seats.Length; i++ )
		if ( Seats[i].Wanted != -1 )
		{
			if ( MoveTo(i, Seats[i].Wanted) )
				Moved++;
			Seats[i].Wanted = -1;
		}
	return Moved;
}

/** The answer to PLACE. One that comes too late is not followed: Refresh has told the truth since. */
function Place(string Id, int Team)
{
	local int i;

	i = FindHuman(Id);
	if ( (i < 0) || !Seats[i].bPlacing )
		return;
	Seats[i].bPlacing = false;
	Seats[i].Team = Team;
	MoveTo(i, Team);
}

/** Auto-balance moves somebody who died; false when they are not there any more. */
function bool Follow(string Id, int Team)
{
	local int i;

	i = FindHuman(Id);
	if ( i < 0 )
		return false;
	Seats[i].Team = Team;
	if ( !Keeper.bFollowMoves )
		return false;
	return MoveTo(i, Team);
}

/**
 * Puts a human on a team, at no cost to their score. If the game refuses, Refresh notices that
 * they are not where the daemon believes them to be.
 */
function bool MoveTo(int i, int Team)
{
	local PlayerController PC;
	local PlayerReplicationInfo PRI;
	local TeamInfo Sides[2];
	local float Score, Deaths, TeamScore[2];
	local int s, Lives;
	local bool bHadBody;

	PRI = Seats[i].PRI;
	if ( (PRI == None) || (Team < 0) || (Team > 1) || (TeamOf(PRI) == Team) )
		return false;
	PC = PlayerController(PRI.Owner);
	if ( (PC == None) || Level.Game.bGameEnded )
		return false;
	bHadBody = (PC.Pawn != None);
	// Whoever changes sides dies of it, and with few lives that may end their game.
	if ( bHadBody && (Level.Game.MaxLives > 0) )
		return false;
	Score = PRI.Score;
	Deaths = PRI.Deaths;
	Lives = PRI.NumLives;
	for ( s = 0; s < 2; s++ )
	{
		Sides[s] = Level.Game.GameReplicationInfo.Teams[s];
		if ( Sides[s] != None )
			TeamScore[s] = Sides[s].Score;
	}
	Keeper.bMoving = true;
	PC.ServerChangeTeam(Team);
	Keeper.bMoving = false;
	PRI.Score = Score;
	PRI.Deaths = Deaths;
	PRI.NumLives = Lives;
	for ( s = 0; s < 2; s++ )
		if ( Sides[s] != None )
			Sides[s].Score = TeamScore[s];
	Seats[i].bRespawn = bHadBody && (PC.Pawn == None);
	return (TeamOf(PRI) == Team);
}

/** Gives those a body back who lost it to a move of ours. */
function Respawn()
{
	local PlayerController PC;
	local int i;

	for ( i = 0; i < Seats.Length; i++ )
		if ( Seats[i].bRespawn )
		{
			Seats[i].bRespawn = false;
			if ( Seats[i].PRI != None )
				PC = PlayerController(Seats[i].PRI.Owner);
			else
				PC = None;
			if ( (PC != None) && (PC.Pawn == None) && !Level.Game.bGameEnded )
				PC.ServerRestartPlayer();
		}
}

defaultproperties
{
}
