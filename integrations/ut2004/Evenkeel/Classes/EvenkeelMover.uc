//=============================================================================
// EvenkeelMover: puts a human on a team, at no cost to them or their team.
//=============================================================================
class EvenkeelMover extends Info;

var MutEvenkeel Keeper;
/** Those who lost their body to a move of ours, and get a new one. */
var array<PlayerController> Bodiless;

/** Whether the game lets people change sides during play without harm. */
function bool CanMoveInPlay()
{
	if ( !Keeper.HasTeams() || Level.Game.bGameEnded || (Level.Game.CurrentGameProfile != None) )
		return false;
	// Who changes sides with a body dies of it, and with few lives that may end their game.
	if ( Level.Game.MaxLives > 0 )
		return false;
	return !(Level.Game.bMustJoinBeforeStart && Level.Game.GameReplicationInfo.bMatchHasBegun);
}

/** Puts this human on a team. False if the game refuses, or if they are on it already. */
function bool PutOn(PlayerReplicationInfo PRI, int Team)
{
	local PlayerController PC;
	local TeamInfo Sides[2];
	local float Score, Deaths, Adrenaline, TeamScore[2];
	local int s, Lives;
	local bool bHadBody;

	if ( (PRI == None) || (PRI.Team == None) || (Team < 0) || (Team > 1) || (PRI.Team.TeamIndex == Team) )
		return false;
	PC = PlayerController(PRI.Owner);
	if ( (PC == None) || Level.Game.bGameEnded )
		return false;
	bHadBody = (PC.Pawn != None);
	if ( bHadBody && !CanMoveInPlay() )
		return false;
	Score = PRI.Score;
	Deaths = PRI.Deaths;
	Lives = PRI.NumLives;
	Adrenaline = PC.Adrenaline;
	for ( s = 0; s < 2; s++ )
	{
		Sides[s] = Level.Game.GameReplicationInfo.Teams[s];
		if ( Sides[s] != None )
			TeamScore[s] = Sides[s].Score;
	}
	ChangeTeam(PC, Team);
	PRI.Score = Score;
	PRI.Deaths = Deaths;
	PRI.NumLives = Lives;
	PC.Adrenaline = Adrenaline;
	for ( s = 0; s < 2; s++ )
		if ( Sides[s] != None )
			Sides[s].Score = TeamScore[s];
	if ( bHadBody && (PC.Pawn == None) )
		Bodiless[Bodiless.Length] = PC;
	return (PRI.Team != None) && (PRI.Team.TeamIndex == Team);
}

/** The game's own balancing would choose another team; it is off for the length of this call. */
function ChangeTeam(PlayerController PC, int Team)
{
	local TeamGame Game;
	local bool bBalance;

	Game = TeamGame(Level.Game);
	if ( Game == None )
		return;
	bBalance = Game.bPlayersBalanceTeams;
	Game.bPlayersBalanceTeams = false;
	Keeper.bMoving = true;
	PC.ServerChangeTeam(Team);
	Keeper.bMoving = false;
	Game.bPlayersBalanceTeams = bBalance;
}

/** Gives a body back to those who lost it to a move of ours. */
function Respawn()
{
	local PlayerController PC;
	local int i;

	for ( i = 0; i < Bodiless.Length; i++ )
	{
		PC = Bodiless[i];
		if ( (PC != None) && !PC.bDeleteMe && (PC.Pawn == None) && !Level.Game.bGameEnded )
			PC.ServerRestartPlayer();
	}
	Bodiless.Length = 0;
}

defaultproperties
{
}
