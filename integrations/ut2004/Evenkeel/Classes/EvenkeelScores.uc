//=============================================================================
// EvenkeelScores: tells the daemon how the teams' scores change.
//
// The game tells its rules of a kill before it changes a score, and of most
// changes right after them. Looking both times keeps two changes apart, a
// suicide's -1 and a frag's +1 for example, that would look like none.
//=============================================================================
class EvenkeelScores extends Info;

var MutEvenkeel Keeper;
var EvenkeelClient Client;
var EvenkeelRoster Roster;

/** The scores that the daemon knows, or will from what is kept for it. */
var int Told[2];
/** The scores when the daemon's count of this game began. */
var int AtStart[2];
/** Died without anybody's doing; the game takes a point from their team and says nothing. */
var PlayerReplicationInfo Fallen;

/** A score may have changed; Scorer, if any, did it. */
function Look(PlayerReplicationInfo Scorer)
{
	local PlayerReplicationInfo By;
	local TeamInfo Side;
	local int t, Change;

	if ( !Keeper.IsReporting() || Keeper.bMoving || !Keeper.HasTeams() )
		return;
	for ( t = 0; t < 2; t++ )
	{
		Side = Level.Game.GameReplicationInfo.Teams[t];
		if ( Side == None )
			continue;
		Change = int(Side.Score) - Told[t];
		if ( Change == 0 )
			continue;
		By = Scorer;
		if ( (By == None) && (Change < 0) )
			By = Fallen;
		// If it may have arrived, the sum is said, which counts nothing twice.
		if ( Client.Tell("SCORE" @ t @ Change $ ScorerWord(By, Side), "SCORE" @ t @ "total=" $ (Told[t] + Change - AtStart[t])) )
			Told[t] += Change;
	}
	Fallen = None;
}

/** The scores so far, to a daemon that may have missed some. */
function TellTotals()
{
	local int t;

	if ( !Keeper.IsReporting() || !Keeper.HasTeams() )
		return;
	for ( t = 0; t < 2; t++ )
		Client.Tell("SCORE" @ t @ "total=" $ (Told[t] - AtStart[t]));
}

/** A kill is about to be scored; what has changed before it is told first. */
function BeforeKill(Controller Killer, Controller Killed)
{
	Look(None);
	if ( (Killed != None) && ((Killer == None) || (Killer == Killed)) )
		Fallen = Killed.PlayerReplicationInfo;
}

/** The last argument of SCORE: who did it, if it is somebody of that team. */
function string ScorerWord(PlayerReplicationInfo By, TeamInfo Side)
{
	local int i;

	if ( (By == None) || (By.Team != Side) )
		return "";
	i = Roster.Learn(Controller(By.Owner));
	if ( i < 0 )
		return "";
	return " " $ class'EvenkeelWords'.static.Quote(Roster.Seats[i].Id);
}

/** The scores are news to nobody: the game begins, or the daemon learns of it only now. */
function Note()
{
	local GameReplicationInfo GRI;
	local int t;

	Fallen = None;
	GRI = Level.Game.GameReplicationInfo;
	for ( t = 0; t < 2; t++ )
		if ( (GRI != None) && (GRI.Teams[t] != None) )
		{
			Told[t] = int(GRI.Teams[t].Score);
			AtStart[t] = Told[t];
		}
}

defaultproperties
{
}
