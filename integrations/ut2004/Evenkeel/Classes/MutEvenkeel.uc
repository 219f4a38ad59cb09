//=============================================================================
// MutEvenkeel: even teams, chosen by an Evenkeel daemon.
//
// Tells the daemon which game is played by whom and how it goes, and does what
// it says: teams at the start, sides for late arrivals, the number of bots, an
// advantage for the weaker team. Without the daemon the game goes on by its own
// rules, with as many bots as humans and level ask for.
//
// Runs on the server only; clients need nothing.
//=============================================================================
class MutEvenkeel extends Mutator
	config(Evenkeel);

/** Seconds between two looks at the game. */
const BEAT = 0.5;
/** Seconds before the start at which teams are asked for, where there is a countdown. */
const COUNTDOWN_LEFT = 2;
/** Seconds that an answer to BALANCE is waited for; later it would tear up a running game. */
const BALANCE_PATIENCE = 10.0;
/** The most that MinPlayers can be. */
const MOST_PLAYERS = 32;

var() config string DaemonHost;
var() config int DaemonPort;
var() config string ServerName;
var() config string Token;
var() config int MinPlayers;
var() config bool bBalanceAtStart;
var() config bool bBalanceInCountdown;
var() config bool bPlaceArrivals;
var() config bool bFollowMoves;
var() config bool bManageBots;
var() config bool bGiveAdvantage;
var() config float MaxAdvantage;
var() config float AdvantageSeconds;
var() config bool bReport;
var() config float ReportSeconds;
var() config bool bAnnounce;
var() config bool bVerbose;

var EvenkeelClient Client;
var EvenkeelRoster Roster;
var EvenkeelRules Rules;

var bool bTold;				// a GAME of ours is with the daemon
var bool bStarted;			// play has begun
var bool bEnded;			// play is over
var bool bEndTold;			// the daemon has the match
var bool bBalanced;			// teams were chosen for this game
var bool bBalancing;		// BALANCE is asked and not answered
var float BalanceAt;		// when
var int BalanceLines;		// lines of its answer still to come
var string BalanceRatio;
var bool bRosterChanged;	// the number of bots is to be asked for
var bool bMoving;			// a move of ours is under way
var bool bHolding;			// the game's own balancing of humans is off
var bool bHeldBefore;		// what it was
var int OwnMinPlayers;		// the game's setting before ours
var int LastScore[2];
var int AdvantageTeam;		// -1: none
var float AdvantageFactor;
var float NextAdvantage, NextReport;
var PlayerController WhyTo;	// who wants to know why

//-----------------------------------------------------------------------------
// The game's life.

event PostBeginPlay()
{
	Super.PostBeginPlay();
	AdvantageTeam = -1;
	if ( UnrealMPGameInfo(Level.Game) != None )
		OwnMinPlayers = UnrealMPGameInfo(Level.Game).MinPlayers;
	Rules = Spawn(class'EvenkeelRules');
	Client = Spawn(class'EvenkeelClient');
	Roster = Spawn(class'EvenkeelRoster');
	if ( (Rules == None) || (Client == None) || (Roster == None) )
	{
		Log("Another mutator removed a part of this one; it does nothing.", 'Evenkeel');
		return;
	}
	Rules.Keeper = self;
	Client.Keeper = self;
	Roster.Keeper = self;
	Roster.Client = Client;
	Level.Game.AddGameModifier(Rules);
	SetTimer(BEAT, true);
}

/** Whether there are two teams that are anybody's to choose. */
function bool HasTeams()
{
	if ( !Level.Game.bTeamGame || (TeamGame(Level.Game) == None) || Level.Game.IsA('Invasion') )
		return false;
	return !TeamGame(Level.Game).bPlayersVsBots;
}

/** Whether everybody's team is settled, so that who comes now comes late. */
function bool TeamsAreSet()
{
	return (bStarted || bBalanced) && !bBalancing;
}

/** Whether teams were chosen, or are being chosen, without those who come from now on. */
function bool HasChosenTeams()
{
	return bStarted || bBalanced || bBalancing;
}

/** Whether the daemon may hold a game of ours that has not ended. */
function bool HasUnfinishedGame()
{
	return bTold && !bEndTold;
}

function bool IsWorking()
{
	return (Client != None) && (Roster != None) && (Rules != None) && (Rules.Keeper == self);
}

event Timer()
{
	Client.Think();
	if ( bEnded )
		return;
	if ( bBalancing && (Level.TimeSeconds - BalanceAt > BALANCE_PATIENCE) )
	{
		bBalancing = false;
		Log("No teams came in time.", 'Evenkeel');
	}
	Roster.Sync();
	Roster.Respawn();
	if ( IsCountdownEnding() )
		AskForTeams();
	if ( bRosterChanged )
		AskForBots();
	if ( !bStarted )
		return;
	OnScore(None);
	if ( Level.TimeSeconds >= NextReport )
		Report();
	if ( bGiveAdvantage && HasTeams() && Client.IsLive() && (Level.TimeSeconds >= NextAdvantage) )
	{
		NextAdvantage = Level.TimeSeconds + FMax(AdvantageSeconds, 1.0);
		Client.Ask("ADVANTAGE");
	}
	if ( Level.Game.bGameEnded )
		OnEnd();
}

/** Nobody has a body yet in the countdown, so that nobody dies of changing sides. */
function bool IsCountdownEnding()
{
	local DeathMatch Game;

	Game = DeathMatch(Level.Game);
	return bBalanceInCountdown && !bStarted && (Game != None)
		&& Game.bStartedCountDown && (Game.CountDown <= COUNTDOWN_LEFT);
}

/** Called by the game as play begins, before anybody has a body. */
function MatchStarting()
{
	Super.MatchStarting();
	if ( !IsWorking() )
		return;
	if ( bEnded )
	{
		// The same level once more, without being loaded again.
		ForgetGame();
		if ( Client.IsLive() )
			BeginGame();
	}
	Roster.Sync();
	AskForTeams();
	bStarted = true;
	NoteScores();
	TellStart();
}

function ForgetGame()
{
	bTold = false;
	bStarted = false;
	bEnded = false;
	bEndTold = false;
	bBalanced = false;
	bBalancing = false;
	AdvantageTeam = -1;
}

function TellStart()
{
	NextReport = 0.0;
	NextAdvantage = 0.0;
	if ( bReport )
		Client.Say("START");
}

/** Play is over. */
function OnEnd()
{
	bEnded = true;
	AdvantageTeam = -1;
	if ( bReport )
	{
		Roster.TellPoints();
		TellEnd();
	}
}

function TellEnd()
{
	local int Winner;

	if ( !HasTeams() )
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

function NotifyLogout(Controller Exiting)
{
	if ( IsWorking() && !bEnded )
		Roster.Gone(Exiting);
	Super.NotifyLogout(Exiting);
}

function ServerTraveling(string URL, bool bItems)
{
	if ( Client != None )
		Client.Quit();
	HoldTeams(false);
	Super.ServerTraveling(URL, bItems);
}

function Mutate(string MutateString, PlayerController Sender)
{
	if ( (MutateString ~= "evenkeel") && (Sender != None) && IsWorking() )
		TellState(Sender);
	else if ( (MutateString ~= "evenkeel why") && (Sender != None) && IsWorking() )
	{
		if ( Sender.PlayerReplicationInfo.bAdmin || (Level.NetMode == NM_Standalone) )
		{
			WhyTo = Sender;
			Client.Ask("EXPLAIN");
		}
	}
	Super.Mutate(MutateString, Sender);
}

function TellState(PlayerController Sender)
{
	if ( Client.IsLive() )
		Sender.ClientMessage("Evenkeel: connected.");
	else
		Sender.ClientMessage("Evenkeel: the daemon is away.");
	if ( AdvantageTeam >= 0 )
		Sender.ClientMessage("Evenkeel: team" @ AdvantageTeam @ "has an advantage of" @ AdvantageFactor);
}

//-----------------------------------------------------------------------------
// What the daemon is told.

/** The conversation has begun; bResumed: where it broke off. */
function WentLive(bool bResumed)
{
	bBalancing = false;
	if ( bEnded )
	{
		// Said again, END has the same answer; whether it was heard isn't known.
		if ( bReport && HasUnfinishedGame() )
			TellEnd();
		return;
	}
	HoldTeams(true);
	if ( bResumed )
		Roster.TellAll(true);
	else
		BeginGame();
	bRosterChanged = true;
}

function WentDown()
{
	bBalancing = false;
	AdvantageTeam = -1;
	HoldTeams(false);
	bRosterChanged = true;
}

/** All there is to say of a game that the daemon doesn't know. */
function BeginGame()
{
	local Mutator M;
	local GameRules R;

	bTold = true;
	bEndTold = false;
	Client.Say("GAME" @ Level.Game.Class);
	for ( M = Level.Game.BaseMutator; M != None; M = M.NextMutator )
		Client.Say("MUTATOR" @ M.Class);
	// The stock log counts the rules among the mutators; what is learned from it must match.
	for ( R = Level.Game.GameRulesModifiers; R != None; R = R.NextGameRules )
		Client.Say("MUTATOR" @ R.Class);
	TellMap();
	if ( HasTeams() )
		Client.Say("TEAMS 2");
	if ( MinPlayers > 0 )
		Client.Say("MINPLAYERS" @ Min(MinPlayers, MOST_PLAYERS));
	Roster.TellAll(false);
	if ( bStarted )
	{
		// Who was there for the goals so far isn't known any more.
		NoteScores();
		TellStart();
	}
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
	Client.Say(Line);
}

/** What is told every few seconds. */
function Report()
{
	local DeathMatch Game;

	NextReport = Level.TimeSeconds + FMax(ReportSeconds, 1.0);
	if ( !bReport )
		return;
	Game = DeathMatch(Level.Game);
	if ( (Game != None) && (Game.TimeLimit > 0) && !Game.bOverTime )
		Client.Say("CLOCK" @ Clamp(Game.RemainingTime, 0, 86400));
	Roster.TellPoints();
}

/** A score may have changed; Scorer, if any, did it. */
function OnScore(PlayerReplicationInfo Scorer)
{
	local TeamInfo Side;
	local string Line;
	local int t, Now;

	if ( !bReport || !bStarted || bEnded || bMoving || !HasTeams() || !Client.IsLive() )
		return;
	for ( t = 0; t < 2; t++ )
	{
		Side = Level.Game.GameReplicationInfo.Teams[t];
		if ( Side == None )
			continue;
		Now = int(Side.Score);
		if ( Now == LastScore[t] )
			continue;
		Line = "SCORE" @ t @ (Now - LastScore[t]) $ ScorerOf(Scorer, Side);
		LastScore[t] = Now;
		Client.Say(Line);
	}
}

/** The last argument of SCORE: who did it, if it is somebody of that team. */
function string ScorerOf(PlayerReplicationInfo Scorer, TeamInfo Side)
{
	local int i;

	if ( (Scorer == None) || (Scorer.Team != Side) )
		return "";
	i = Roster.Learn(Controller(Scorer.Owner));
	if ( i < 0 )
		return "";
	return " " $ class'EvenkeelWords'.static.Quote(Roster.Seats[i].Id);
}

function NoteScores()
{
	local GameReplicationInfo GRI;
	local int t;

	GRI = Level.Game.GameReplicationInfo;
	for ( t = 0; t < 2; t++ )
		if ( (GRI != None) && (GRI.Teams[t] != None) )
			LastScore[t] = int(GRI.Teams[t].Score);
}

function OnKill(Controller Killer, Controller Killed)
{
	if ( bReport && bStarted && !bEnded && !bMoving && Client.IsLive() )
		Roster.TellKill(Killer, Killed);
}

//-----------------------------------------------------------------------------
// What the daemon is asked, and what it says.

function RosterChanged()
{
	bRosterChanged = true;
}

/** Teams for the game that is about to start; once. */
function AskForTeams()
{
	if ( !bBalanceAtStart || bBalanced || bBalancing || bStarted || !HasTeams() || !Client.IsLive() )
		return;
	Client.Ask("BALANCE");
	bBalancing = true;
	BalanceAt = Level.TimeSeconds;
	BalanceLines = 0;
}

function AskForBots()
{
	bRosterChanged = false;
	if ( !bManageBots )
		return;
	if ( Client.IsLive() )
		Client.Ask("BOTS");
	else
		SetMinPlayers(OwnPlan());
}

/** MinPlayers as the daemon would have it, from what is known here. */
function int OwnPlan()
{
	local int Plan, Low, High;

	Plan = MinPlayers;
	if ( Plan <= 0 )
		Plan = OwnMinPlayers;
	Low = Max(Level.IdealPlayerCountMin, 0);
	High = Level.IdealPlayerCountMax;
	if ( High <= 0 )
		High = MOST_PLAYERS;
	Plan = Clamp(Plan, Min(Low, High), High);
	if ( !HasTeams() )
		return Plan;
	Plan = 2 * ((Plan + 1) / 2);
	return Max(Plan, 2 * Roster.LargestTeam());
}

function SetMinPlayers(int Players)
{
	if ( UnrealMPGameInfo(Level.Game) != None )
		UnrealMPGameInfo(Level.Game).MinPlayers = Clamp(Players, 0, MOST_PLAYERS);
}

/** While the daemon decides, the game must not move people back. */
function HoldTeams(bool bHold)
{
	local TeamGame Game;

	Game = TeamGame(Level.Game);
	if ( (Game == None) || (bHold == bHolding) )
		return;
	if ( bHold && !bBalanceAtStart && !bPlaceArrivals && !bFollowMoves )
		return;
	if ( bHold )
	{
		bHeldBefore = Game.bPlayersBalanceTeams;
		Game.bPlayersBalanceTeams = false;
	}
	else
		Game.bPlayersBalanceTeams = bHeldBefore;
	bHolding = bHold;
}

/** One line of the daemon's. */
function Heard(string Verb, string Rest)
{
	switch ( Verb )
	{
		case "BALANCE":
			HeardBalance(Rest);
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
		case "ADVANTAGE":
			HeardAdvantage(Rest);
			break;
		case "END":
			bEndTold = true;
			Log("Match" @ Rest, 'Evenkeel');
			break;
		case "WHY":
			if ( WhyTo != None )
				WhyTo.ClientMessage(Rest);
			break;
		case "ERROR":
			Log("The daemon says" @ Rest, 'Evenkeel');
			break;
	}
}

function string Take(out string Rest)
{
	return class'EvenkeelWords'.static.Take(Rest);
}

/** BALANCE <lines> <ratio> <p0> <seed>; the lines follow. */
function HeardBalance(string Rest)
{
	BalanceLines = Max(int(Take(Rest)), 0);
	BalanceRatio = Take(Rest);
	if ( BalanceLines == 0 )
		FinishBalance();
}

/** TEAM <t> <id> */
function HeardTeam(string Rest)
{
	local int Team;

	Team = int(Take(Rest));
	if ( bBalancing )
		Roster.Want(Take(Rest), Team);
	CountBalanceLine();
}

/** BOTS <t> <count> within a BALANCE; otherwise BOTS <minPlayers> <n0> <n1>. */
function HeardBots(string Rest)
{
	if ( BalanceLines > 0 )
		CountBalanceLine();
	else if ( bManageBots )
		SetMinPlayers(int(Take(Rest)));
}

function CountBalanceLine()
{
	if ( BalanceLines <= 0 )
		return;
	BalanceLines--;
	if ( BalanceLines == 0 )
		FinishBalance();
}

/** All of BALANCE's answer is there. */
function FinishBalance()
{
	local int Moved;

	if ( !bBalancing )
		return;
	bBalancing = false;
	bBalanced = true;
	bRosterChanged = true;
	Moved = Roster.MoveWanted();
	if ( bAnnounce )
		Level.Game.Broadcast(self, "Evenkeel: teams are chosen," @ Moved @ "changed sides, balance" @ BalanceRatio);
}

/** PLACE <id> <t> <ratio> */
function HeardPlace(string Rest)
{
	local string Id;

	Id = Take(Rest);
	Roster.Place(Id, int(Take(Rest)));
}

/** MOVE <id> <from> <to>, after a DEATH. */
function HeardMove(string Rest)
{
	local string Id;

	Id = Take(Rest);
	Take(Rest);
	if ( Roster.Follow(Id, int(Take(Rest))) && bAnnounce )
		Level.Game.Broadcast(self, "Evenkeel: a player changes sides to even the teams.");
	bRosterChanged = true;
}

/** ADVANTAGE <t> <factor>, or ADVANTAGE - 1.000 */
function HeardAdvantage(string Rest)
{
	local string Side;
	local float Factor;

	Side = Take(Rest);
	Factor = FClamp(float(Take(Rest)), 1.0, FMax(MaxAdvantage, 1.0));
	AdvantageTeam = -1;
	if ( (Side == "-") || (Factor <= 1.0) || bEnded )
		return;
	AdvantageTeam = int(Side);
	AdvantageFactor = Factor;
}

/** The damage that is done, once the weaker team's shots count for more. */
function int WeighDamage(int Damage, Pawn Injured, Pawn InstigatedBy, class<DamageType> Kind)
{
	local int Shooter;

	if ( (AdvantageTeam < 0) || (Damage <= 0) || (Injured == None) )
		return Damage;
	if ( InstigatedBy != None )
		Shooter = InstigatedBy.GetTeamNum();
	else if ( (Kind != None) && Kind.default.bDelayedDamage && (Injured.DelayedDamageInstigatorController != None) )
		Shooter = Injured.DelayedDamageInstigatorController.GetTeamNum();
	else
		return Damage;
	if ( (Shooter != AdvantageTeam) || (Injured.GetTeamNum() == Shooter) )
		return Damage;
	// Rounded by chance, so that small damage is helped as much as large on average.
	return int(float(Damage) * AdvantageFactor + FRand());
}

defaultproperties
{
	DaemonHost="127.0.0.1"
	DaemonPort=7997
	ServerName="ut2004"
	bBalanceAtStart=True
	bBalanceInCountdown=True
	bPlaceArrivals=True
	bFollowMoves=True
	bManageBots=True
	bGiveAdvantage=True
	MaxAdvantage=1.500000
	AdvantageSeconds=10.000000
	bReport=True
	ReportSeconds=15.000000
	bAnnounce=True
	GroupName="TeamBalancer"
	FriendlyName="Evenkeel"
	Description="Even teams, chosen by an Evenkeel daemon from what it has learned of everybody's past games."
}
