//=============================================================================
// EvenkeelRoster: who plays, and what the daemon has been told of them.
//
// It looks at the list of controllers twice a second and tells what has
// changed. Spectators, and what helps games without playing, are not in it.
//=============================================================================
class EvenkeelRoster extends Info;

/** Seconds that a late arrival waits for the answer to PLACE before their own team counts. */
const PLACE_PATIENCE = 5.0;

/** One human or bot. */
struct Seat
{
	var PlayerReplicationInfo PRI;
	var string Id;			// as the daemon knows them
	var string Nick;		// the name last told
	var int Team;			// where the daemon believes them to be; -1: nowhere yet
	var int Wanted;			// where BALANCE wants them; -1: nowhere
	var int Due;			// where they change to as soon as they have no body; -1: nowhere
	var int Points;			// last told
	var int SeenPoints;		// on the scoreboard at the last look
	var float PlaceAt;		// when PLACE was asked
	var bool bTold;			// the daemon knows them, or will from what is kept for it
	var bool bPointsTold;	// Points is what the daemon has
	var bool bLate;			// came after the teams were chosen, and is to be placed
	var bool bPlacing;		// PLACE is asked and not answered
	var bool bBot;
	var bool bCarrier;		// carries the flag, or the ball
	var bool bRefused;		// the game refused to move them
};

var MutEvenkeel Keeper;
var EvenkeelClient Client;
var EvenkeelIdentity Identity;
var EvenkeelLeave Leave;
var EvenkeelMover Mover;
var EvenkeelOrders Orders;
var EvenkeelTeams Teams;
var array<Seat> Seats;

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

/** The team of this player now. */
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

/** Whether another player has this id. KILL and POINTS do not tell humans from bots. */
function bool IsTaken(string Id)
{
	local int i;

	for ( i = 0; i < Seats.Length; i++ )
		if ( Seats[i].Id == Id )
			return true;
	return false;
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

/** Whether this player has a body to lose. */
function bool HasBody(int i)
{
	local Controller C;

	C = Controller(Seats[i].PRI.Owner);
	return (C != None) && (C.Pawn != None);
}

/** The seat of somebody who plays; -1 for others. Who is new gets one, and the daemon hears of it. */
function int Learn(Controller C)
{
	local string Id;
	local int i;

	if ( !Plays(C) )
		return -1;
	i = Find(C.PlayerReplicationInfo);
	if ( i >= 0 )
		return i;
	Id = Identity.IdFor(C, Keeper.Identity, self);
	i = Seats.Length;
	Seats.Length = i + 1;
	Seats[i].PRI = C.PlayerReplicationInfo;
	Seats[i].bBot = (Bot(C) != None);
	Seats[i].Nick = C.PlayerReplicationInfo.PlayerName;
	Seats[i].Id = Id;
	Seats[i].Team = -1;
	Seats[i].Wanted = -1;
	Seats[i].Due = -1;
	Seats[i].bPointsTold = true;
	Seats[i].bLate = !Seats[i].bBot && Keeper.HasChosenTeams();
	Introduce(i, false);
	// What was decided before they came no longer holds.
	if ( !Seats[i].bBot )
		Orders.ForgetDue();
	Keeper.RosterChanged();
	return i;
}

/** JOIN or BOTJOIN; bSeated: on the team they are on, which is not up for choice. */
function Introduce(int i, bool bSeated)
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
		Seats[i].bTold = Client.Tell("BOTJOIN" @ Quote(Seats[i].Id) @ Team);
		Seats[i].Team = Team;
		Client.Ask("BOT" @ Quote(Seats[i].Id));
		return;
	}
	Line = "JOIN" @ Quote(Seats[i].Id) @ "name=" $ Quote(Seats[i].Nick);
	if ( bSeated && Keeper.HasTeams() && Keeper.TeamsAreSet() && (Team >= 0) )
	{
		Line = Line @ "team=" $ Team;
		Seats[i].Team = Team;
	}
	Seats[i].bTold = Client.Tell(Line);
	Client.Ask("PLAYER" @ Quote(Seats[i].Id));
}

/** Everyone, to a daemon that knows nobody, or may have missed something. */
function TellAll()
{
	local int i;

	for ( i = 0; i < Seats.Length; i++ )
	{
		Seats[i].Team = -1;
		Seats[i].bLate = false;
		Seats[i].bPlacing = false;
		Seats[i].Due = -1;
		Seats[i].bCarrier = false;
		Seats[i].bPointsTold = false;
		Introduce(i, true);
	}
}

/** What has changed about somebody known. */
function Refresh(int i)
{
	local PlayerReplicationInfo PRI;
	local int Team;
	local bool bCarrier;

	PRI = Seats[i].PRI;
	Seats[i].SeenPoints = int(PRI.Score);
	if ( !Seats[i].bBot )
		Leave.Look(PlayerController(PRI.Owner));
	if ( !Seats[i].bBot && (PRI.PlayerName != Seats[i].Nick) )
	{
		Seats[i].Nick = PRI.PlayerName;
		Client.Tell("JOIN" @ Quote(Seats[i].Id) @ "name=" $ Quote(Seats[i].Nick));
	}
	if ( !Keeper.HasTeams() || !Keeper.TeamsAreSet() )
		return;
	if ( Seats[i].bLate )
		AskPlace(i);
	if ( Seats[i].bPlacing && (Level.TimeSeconds - Seats[i].PlaceAt > PLACE_PATIENCE) )
		Seats[i].bPlacing = false;
	if ( (Seats[i].Due != -1) && !HasBody(i) )
		Orders.MoveDue(i);
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

/** Which side does this late arrival take? Asked once; while the daemon is away, chosen here. */
function AskPlace(int i)
{
	Seats[i].bLate = false;
	if ( !Keeper.bPlaceArrivals )
		return;
	if ( Client.IsLive() )
	{
		Client.Ask("PLACE" @ Quote(Seats[i].Id));
		Seats[i].bPlacing = true;
		Seats[i].PlaceAt = Level.TimeSeconds;
	}
	else if ( Orders.Send(i, Teams.SideFor(i)) )
		Orders.TellPlaced(i);
}

function TellMove(int i, int Team)
{
	if ( !Seats[i].bBot && (Seats[i].Due == -1) )
		Orders.ForgetDue();
	if ( Seats[i].bBot )
		Seats[i].bTold = Client.Tell("BOTJOIN" @ Quote(Seats[i].Id) @ Team);
	else
		Client.Tell("MOVE" @ Quote(Seats[i].Id) @ Team);
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
	local bool bLeft;

	// A bot without a team was never told of, nor was somebody who came and went in an outage.
	if ( Seats[i].bTold )
	{
		PointsOf(i);
		if ( Seats[i].bBot )
			Client.Tell("BOTLEAVE" @ Quote(Seats[i].Id));
		else
		{
			bLeft = (Seats[i].PRI == None) || Seats[i].PRI.bOnlySpectator;
			Client.Tell("LEAVE" @ Quote(Seats[i].Id) $ LeaveReason(i, bLeft));
		}
	}
	if ( !Seats[i].bBot )
		Orders.ForgetDue();
	Seats.Remove(i, 1);
	Keeper.RosterChanged();
}

/** The option of LEAVE; bLeft: they left, by becoming a spectator for example. */
function string LeaveReason(int i, bool bLeft)
{
	local string Reason;

	Reason = "left";
	if ( !bLeft )
		Reason = Leave.Reason(PlayerController(Seats[i].PRI.Owner));
	// It is what LEAVE means anyway; a daemon that knows no options of HELLO knows no others.
	if ( (Reason == "left") || Client.bPlainHello )
		return "";
	return " reason=" $ Reason;
}

/** Scoreboard points that have changed since they were last told. */
function TellPoints()
{
	local int i;

	for ( i = 0; i < Seats.Length; i++ )
		PointsOf(i);
}

/** This player's points, if the daemon has others. */
function PointsOf(int i)
{
	if ( !Keeper.IsReporting() || !Seats[i].bTold )
		return;
	// The game sets the points of who becomes a spectator to zero; those seen last count.
	if ( (Seats[i].PRI != None) && !Seats[i].PRI.bOnlySpectator )
		Seats[i].SeenPoints = int(Seats[i].PRI.Score);
	if ( Seats[i].bPointsTold && (Seats[i].SeenPoints == Seats[i].Points) )
		return;
	Seats[i].Points = Seats[i].SeenPoints;
	Seats[i].bPointsTold = Client.Tell("POINTS" @ Quote(Seats[i].Id) @ Seats[i].Points);
}

/**
 * Somebody killed somebody, or died without anybody's doing. DEATH may be answered by a move, so
 * it is said only of somebody who would be moved; a death of others is a KILL.
 */
function TellKill(Controller Killer, Controller Victim)
{
	local int k, v;
	local bool bMayMove;

	v = Learn(Victim);
	if ( v < 0 )
		return;
	k = Learn(Killer);
	bMayMove = Keeper.bFollowMoves && !Seats[v].bBot && !Seats[v].bRefused && (Seats[v].Due == -1)
		&& Mover.CanMoveInPlay();
	if ( (k >= 0) && (k != v) )
		Client.Say("KILL" @ Quote(Seats[k].Id) @ Quote(Seats[v].Id));
	else if ( !bMayMove )
		Client.Say("KILL" @ Quote(Seats[v].Id) @ Quote(Seats[v].Id));
	if ( bMayMove )
		Client.Say("DEATH" @ Quote(Seats[v].Id));
}

/** Humans on the team that has the most of them. */
function int LargestTeam()
{
	local int i, Team;
	local int Size[2];

	for ( i = 0; i < Seats.Length; i++ )
		if ( !Seats[i].bBot )
		{
			Team = TeamOf(Seats[i].PRI);
			if ( (Team == 0) || (Team == 1) )
				Size[Team]++;
		}
	return Max(Size[0], Size[1]);
}

/** A new game on the same level: everybody's team is up for choice again. */
function ForgetGame()
{
	local int i;

	for ( i = 0; i < Seats.Length; i++ )
	{
		Seats[i].bRefused = false;
		Seats[i].bLate = false;
		Seats[i].bPlacing = false;
		Seats[i].Wanted = -1;
		Seats[i].Due = -1;
	}
}

/** The daemon takes this player to be on this team; if that is not so, Refresh tells it. */
function Believe(string Id, int Team)
{
	local int i;

	i = FindHuman(Id);
	if ( i >= 0 )
		Seats[i].Team = Team;
}

defaultproperties
{
}
