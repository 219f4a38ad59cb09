//=============================================================================
// MutEvenkeel: even teams, chosen by an Evenkeel daemon.
//
// Tells the daemon which game is played by whom and how it goes, and does what
// it says: teams at the start, sides for late arrivals, the number of bots, an
// advantage for the weaker team. While the daemon is away, teams and sides are
// chosen here, by the weights heard last.
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
/** Errors of the daemon that are worth a line in the log, in each game. */
const MOST_ERRORS = 20;

var() config string DaemonHost;
var() config int DaemonPort;
var() config string ServerName;
var() config string Token;
var() config string Identity;
var() config int MinPlayers;
var() config float DefaultWeight;
var() config bool bBalanceAtStart;
var() config bool bBalanceInCountdown;
var() config bool bPlaceArrivals;
var() config bool bFollowMoves;
var() config bool bManageBots;
var() config bool bGiveAdvantage;
var() config float MaxAdvantage;
var() config float AdvantageSeconds;
var() config bool bMoreDamageDealt;
var() config bool bLessDamageTaken;
var() config float MaxRespawnDelay;
var() config string HookClass;
var() config bool bReport;
var() config float ReportSeconds;
var() config bool bAnnounce;
var() config bool bVerbose;

var EvenkeelClient Client;
var EvenkeelRoster Roster;
var EvenkeelScores Scores;
var EvenkeelBots Bots;
var EvenkeelTeams Teams;
var EvenkeelWeights Weights;
var EvenkeelHandicap Handicap;
var EvenkeelMover Mover;
var EvenkeelRules Rules;

var bool bTold;				// a GAME of ours is with the daemon
var bool bStartTold;		// and it knows that play has begun
var bool bStarted;			// play has begun
var bool bEnded;			// play is over
var bool bEndTold;			// the daemon has the match
var bool bBalanced;			// teams were chosen for this game
var bool bBalancing;		// BALANCE is asked and not answered
var float BalanceAt;		// when
var int BalanceLines;		// lines of its answer still to come
var string BalanceRatio;
var bool bRosterChanged;	// bots and advantage are to be asked for
var bool bMoving;			// a move of ours is under way
var int Errors;				// of the daemon, in this game
var float NextAdvantage, NextReport;
var PlayerController WhyTo;	// who wants to know why

//-----------------------------------------------------------------------------
// The game's life.

/** The game spawns its mutators before it reads most options of the URL. */
event PostBeginPlay()
{
	Super.PostBeginPlay();
	Rules = Spawn(class'EvenkeelRules');
	if ( (Rules == None) || !SpawnParts() )
	{
		Log("Another mutator removed a part of this one; it does nothing.", 'Evenkeel');
		return;
	}
	Rules.Keeper = self;
	Level.Game.AddGameModifier(Rules);
	SetTimer(BEAT, true);
}

/** Spawns the parts and makes them known to each other. */
function bool SpawnParts()
{
	Client = Spawn(class'EvenkeelClient');
	Roster = Spawn(class'EvenkeelRoster');
	Scores = Spawn(class'EvenkeelScores');
	Bots = Spawn(class'EvenkeelBots');
	Teams = Spawn(class'EvenkeelTeams');
	Weights = Spawn(class'EvenkeelWeights');
	Handicap = Spawn(class'EvenkeelHandicap');
	Mover = Spawn(class'EvenkeelMover');
	if ( (Client == None) || (Roster == None) || (Scores == None) || (Bots == None) )
		return false;
	if ( (Teams == None) || (Weights == None) || (Handicap == None) || (Mover == None) )
		return false;
	Client.Keeper = self;
	Roster.Keeper = self;
	Roster.Client = Client;
	Roster.Mover = Mover;
	Roster.Teams = Teams;
	Roster.Identity = Spawn(class'EvenkeelIdentity');
	Scores.Keeper = self;
	Scores.Client = Client;
	Scores.Roster = Roster;
	Bots.Keeper = self;
	Bots.Roster = Roster;
	Teams.Keeper = self;
	Teams.Roster = Roster;
	Teams.Weights = Weights;
	Teams.Bots = Bots;
	Handicap.Keeper = self;
	Mover.Keeper = self;
	return (Roster.Identity != None);
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

/** Whether what happens now belongs into the match. */
function bool IsReporting()
{
	return bReport && bStarted && !bEnded;
}

function bool IsWorking()
{
	return (Rules != None) && (Rules.Keeper == self);
}

event Timer()
{
	Client.Think();
	if ( bEnded )
		return;
	Bots.Watch();
	if ( bBalancing && (Level.TimeSeconds - BalanceAt > BALANCE_PATIENCE) )
	{
		bBalancing = false;
		Log("No teams came in time.", 'Evenkeel');
	}
	// The countdown began anew, or stands still: teams are chosen again at its end.
	if ( bBalanced && !bStarted && !IsCountdownEnding() )
		bBalanced = false;
	Roster.Sync();
	Mover.Respawn();
	if ( IsCountdownEnding() )
		AskForTeams();
	if ( bRosterChanged )
		MindRoster();
	if ( bStarted )
		FollowPlay();
}

/** What the timer does during play. */
function FollowPlay()
{
	Scores.Look(None);
	if ( Client.IsLive() && (Level.TimeSeconds >= NextReport) )
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
	if ( !bBalanceInCountdown || bStarted || (Game == None) )
		return false;
	if ( !Game.bStartedCountDown || (Game.CountDown > COUNTDOWN_LEFT) )
		return false;
	if ( Level.NetMode == NM_Standalone )
		return true;
	// It stands still while the game waits for players, and begins anew when it has them.
	return !Game.bWaitForNetPlayers && !(Game.bTournament && (Game.NumPlayers < Game.MaxPlayers));
}

/** Called by the game as play begins, before anybody has a body. */
function MatchStarting()
{
	Super.MatchStarting();
	if ( !IsWorking() )
		return;
	Bots.NoteGame();
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
	Scores.Note();
	TellStart();
}

function ForgetGame()
{
	bTold = false;
	bStartTold = false;
	bStarted = false;
	bEnded = false;
	bEndTold = false;
	bBalanced = false;
	bBalancing = false;
	bRosterChanged = true;
	Handicap.ForgetGame();
	Roster.ForgetGame();
	Client.ForgetMissed();
}

function TellStart()
{
	NextReport = 0.0;
	NextAdvantage = 0.0;
	if ( !bReport || !Client.IsLive() )
		return;
	Client.Say("START");
	bStartTold = true;
}

/** Play is over. */
function OnEnd()
{
	// Kept for the daemon if it is away.
	Roster.TellPoints();
	bEnded = true;
	Handicap.ForgetGame();
	Bots.PutBack();
	Weights.Store();
	if ( bReport )
		TellEnd();
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
	if ( IsWorking() )
	{
		Client.Quit();
		Bots.PutBack();
		Weights.Store();
	}
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
	if ( Handicap.Helped >= 0 )
		Sender.ClientMessage("Evenkeel: team" @ Handicap.Helped @ "has an advantage of" @ Handicap.Factor);
}

//-----------------------------------------------------------------------------
// What the daemon is told.

/** The conversation has begun; bResumed: where it broke off. */
function WentLive(bool bResumed)
{
	bBalancing = false;
	BalanceLines = 0;
	if ( !bResumed )
		Client.ForgetMissed();
	if ( bEnded )
	{
		// Said again, END has the same answer; whether it was heard isn't known.
		if ( bReport && HasUnfinishedGame() )
		{
			if ( bResumed )
				CatchUp();
			TellEnd();
		}
		return;
	}
	if ( bResumed )
	{
		CatchUp();
		Roster.TellAll();
		NextReport = 0.0;
	}
	else
		BeginGame();
	bRosterChanged = true;
}

/** What has happened while the daemon was away, in its order. */
function CatchUp()
{
	if ( bStarted && !bStartTold )
		TellStart();
	Client.TellMissed();
}

function WentDown()
{
	bBalancing = false;
	BalanceLines = 0;
	Handicap.Give(-1, 1.0);
	bRosterChanged = true;
}

/** All there is to say of a game that the daemon doesn't know. */
function BeginGame()
{
	local Mutator M;
	local GameRules R;

	bTold = true;
	bStartTold = false;
	bEndTold = false;
	Errors = 0;
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
	Client.Ask("MEANBOT");
	Roster.TellAll();
	if ( bStarted )
	{
		// Who was there for the goals so far isn't known any more.
		Scores.Note();
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
	Scores.Look(Scorer);
}

/** A kill is being scored; the team's scores don't count it yet. */
function OnKill(Controller Killer, Controller Killed)
{
	Bots.BeforeKill(Killer, Killed);
	if ( bMoving || !bStarted || bEnded )
		return;
	Scores.BeforeKill(Killer, Killed);
	Handicap.OnDeath(Killed);
	if ( bReport && Client.IsLive() )
		Roster.TellKill(Killer, Killed);
}

/** The damage that is done, once the advantage is counted. */
function int WeighDamage(int Damage, Pawn Injured, Pawn InstigatedBy, class<DamageType> Kind)
{
	return Handicap.WeighDamage(Damage, Injured, InstigatedBy, Kind);
}

//-----------------------------------------------------------------------------
// What the daemon is asked.

function RosterChanged()
{
	bRosterChanged = true;
}

/** Players came, went, or changed sides: the number of bots and the advantage are no longer right. */
function MindRoster()
{
	bRosterChanged = false;
	NextAdvantage = 0.0;
	if ( Client.IsLive() )
	{
		if ( Client.bBots )
			Client.Ask("BOTS");
	}
	else if ( Bots.Manages() )
		Bots.GiveOwnPlan();
}

/** Teams for the game that is about to start; once. */
function AskForTeams()
{
	if ( !bBalanceAtStart || bBalanced || bBalancing || bStarted || !HasTeams() )
		return;
	if ( Client.IsLive() )
	{
		Client.Ask("BALANCE");
		bBalancing = true;
		BalanceAt = Level.TimeSeconds;
		BalanceLines = 0;
	}
	else if ( Teams.Choose() )
	{
		bBalanced = true;
		bRosterChanged = true;
		Announce(Roster.MoveWanted(), "");
	}
}

/** Teams were chosen, and so many humans changed sides. */
function Announce(int Moved, string Ratio)
{
	local string Text;

	if ( !bAnnounce )
		return;
	Text = "Evenkeel: teams are chosen," @ Moved @ "changed sides";
	if ( Ratio != "" )
		Text = Text $ ", balance" @ Ratio;
	Level.Game.Broadcast(self, Text);
}

//-----------------------------------------------------------------------------
// What the daemon says.

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
		case "PLAYER":
		case "BOT":
		case "MEANBOT":
			HeardWeight(Verb, Rest);
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
			HeardError(Rest);
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
	else if ( Client.bBots && !bEnded )
		Bots.Give(int(Take(Rest)));
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
	if ( !bBalancing )
		return;
	bBalancing = false;
	bBalanced = true;
	bRosterChanged = true;
	Announce(Roster.MoveWanted(), BalanceRatio);
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

	Side = Take(Rest);
	if ( (Side == "-") || bEnded )
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
	if ( bEnded && ((Code ~= "no-game") || (Code ~= "not-allowed")) )
		bEndTold = true;
	Errors++;
	if ( Errors <= MOST_ERRORS )
		Log("The daemon says" @ Rest, 'Evenkeel');
}

defaultproperties
{
	DaemonHost="127.0.0.1"
	DaemonPort=7997
	ServerName="ut2004"
	Identity="hash"
	DefaultWeight=50.000000
	bBalanceAtStart=True
	bBalanceInCountdown=True
	bPlaceArrivals=True
	bFollowMoves=True
	bManageBots=True
	bGiveAdvantage=True
	MaxAdvantage=1.500000
	AdvantageSeconds=10.000000
	bMoreDamageDealt=True
	bReport=True
	ReportSeconds=15.000000
	bAnnounce=True
	GroupName="TeamBalancer"
	FriendlyName="Evenkeel"
	Description="Even teams, chosen by an Evenkeel daemon from what it has learned of everybody's past games."
}
