//=============================================================================
// EvenkeelReports: tells the daemon which game is played, how much time is
// left, and how it ended.
//=============================================================================
class EvenkeelReports extends Info;

/** The most that MinPlayers can be. */
const MOST_PLAYERS = 32;
/** Points for a round of Onslaught; one that goes into overtime is worth less. */
const ROUND_POINTS = 2;

var MutEvenkeel Keeper;
var EvenkeelClient Client;
var EvenkeelRoster Roster;

/** The game, its mutators and its map. */
function TellGame()
{
	local Mutator M;
	local GameRules R;

	Client.Tell("GAME" @ Level.Game.Class);
	for ( M = Level.Game.BaseMutator; M != None; M = M.NextMutator )
		Client.Tell("MUTATOR" @ M.Class);
	// The stock log counts the rules among the mutators; what is learned from it must match.
	for ( R = Level.Game.GameRulesModifiers; R != None; R = R.NextGameRules )
		Client.Tell("MUTATOR" @ R.Class);
	TellMap();
	if ( Keeper.HasTeams() )
		Client.Tell("TEAMS 2");
	if ( Keeper.MinPlayers > 0 )
		Client.Tell("MINPLAYERS" @ Min(Keeper.MinPlayers, MOST_PLAYERS));
	Client.Ask("MEANBOT");
}

function TellMap()
{
	local string MapName, Line;
	local int Period, Low, High;

	MapName = string(Level);
	Period = InStr(MapName, ".");
	if ( Period >= 0 )
		MapName = Left(MapName, Period);
	Line = "MAP" @ class'EvenkeelWords'.static.Quote(MapName);
	Low = Level.IdealPlayerCountMin;
	High = Level.IdealPlayerCountMax;
	if ( (Low >= 0) && (High > 0) && (Low <= High) && (High <= 1024) )
		Line = Line @ Low @ High;
	Client.Tell(Line);
}

/** What is told every few seconds. */
function Report()
{
	local int Seconds;

	Keeper.NextReport = Level.TimeSeconds + FMax(Keeper.ReportSeconds, 1.0);
	if ( !Keeper.bReport )
		return;
	Seconds = SecondsLeft();
	if ( Seconds >= 0 )
		Client.Say("CLOCK" @ Min(Seconds, 86400));
	Roster.TellPoints();
}

/** Play time left; -1: nobody knows. */
function int SecondsLeft()
{
	local DeathMatch Game;

	Game = DeathMatch(Level.Game);
	if ( (Game == None) || (Game.TimeLimit <= 0) )
		return -1;
	if ( Game.IsA('ONSOnslaughtGame') )
		return RoundsLeft(Game);
	if ( Game.bOverTime )
		return -1;
	return Max(Game.RemainingTime, 0);
}

/**
 * Onslaught's clock is that of the round. The match lasts for as many rounds as the leading team
 * needs at least.
 */
function int RoundsLeft(DeathMatch Game)
{
	local GameReplicationInfo GRI;
	local int Lead, Rounds, Seconds;

	GRI = Game.GameReplicationInfo;
	if ( (Game.GoalScore <= 0) || (GRI.Teams[0] == None) || (GRI.Teams[1] == None) )
		return -1;
	Lead = Max(int(GRI.Teams[0].Score), int(GRI.Teams[1].Score));
	Rounds = Max((Game.GoalScore - Lead + ROUND_POINTS - 1) / ROUND_POINTS, 1);
	if ( !Game.bOverTime )
		Seconds = Max(Game.RemainingTime, 0);
	else if ( Rounds == 1 )
		return -1;
	return Seconds + (Rounds - 1) * Game.TimeLimit * 60;
}

/** Play is over. */
function TellEnd()
{
	local int Winner;

	if ( !Keeper.HasTeams() )
		Client.Ask("END");
	else
	{
		Winner = WinningTeam();
		if ( Winner < 0 )
			Client.Ask("END draw");
		else
			Client.Ask("END" @ Winner);
	}
}

/** -1: nobody. */
function int WinningTeam()
{
	local GameReplicationInfo GRI;

	GRI = Level.Game.GameReplicationInfo;
	if ( TeamInfo(GRI.Winner) != None )
		return TeamInfo(GRI.Winner).TeamIndex;
	if ( (GRI.Teams[0] == None) || (GRI.Teams[1] == None) || (GRI.Teams[0].Score == GRI.Teams[1].Score) )
		return -1;
	if ( GRI.Teams[0].Score > GRI.Teams[1].Score )
		return 0;
	return 1;
}

defaultproperties
{
}
