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
const LOOK_TIME = 0.5;
/** Settings that the web page shows. */
const SETTINGS = 19;

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
var() config bool bChat;
var() config int VotePercent;
var() config bool bVerbose;

/** The teams' names, and the texts of the web page. */
var localized string TeamWords[2];
var localized string SettingsGroup;
var localized string SettingText[SETTINGS];
var localized string SettingHelp[SETTINGS];

var EvenkeelBalance Balance;
var EvenkeelBots Bots;
var EvenkeelChat Chat;
var EvenkeelClient Client;
var EvenkeelHandicap Handicap;
var EvenkeelLeave Leave;
var EvenkeelMover Mover;
var EvenkeelOrders Orders;
var EvenkeelReasons Reasons;
var EvenkeelReplies Replies;
var EvenkeelReports Reports;
var EvenkeelRoster Roster;
var EvenkeelRules Rules;
var EvenkeelScores Scores;
var EvenkeelTeams Teams;
var EvenkeelWeights Weights;

var bool bTold;				// a GAME of ours is with the daemon
var bool bStarted;			// play has begun
var bool bEnded;			// play is over
var bool bEndTold;			// the daemon has the match
var bool bRosterChanged;	// bots and advantage are to be asked for
var bool bMoving;			// a move of ours is under way
var float NextAdvantage, NextReport;

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
	SetTimer(LOOK_TIME, true);
}

/** Spawns the parts and makes them known to each other. */
function bool SpawnParts()
{
	Balance = Spawn(class'EvenkeelBalance');
	Bots = Spawn(class'EvenkeelBots');
	Chat = Spawn(class'EvenkeelChat');
	Client = Spawn(class'EvenkeelClient');
	Handicap = Spawn(class'EvenkeelHandicap');
	Leave = Spawn(class'EvenkeelLeave');
	Mover = Spawn(class'EvenkeelMover');
	Orders = Spawn(class'EvenkeelOrders');
	Reasons = Spawn(class'EvenkeelReasons');
	Replies = Spawn(class'EvenkeelReplies');
	Reports = Spawn(class'EvenkeelReports');
	Roster = Spawn(class'EvenkeelRoster');
	Scores = Spawn(class'EvenkeelScores');
	Teams = Spawn(class'EvenkeelTeams');
	Weights = Spawn(class'EvenkeelWeights');
	if ( (Balance == None) || (Bots == None) || (Chat == None) || (Client == None) || (Handicap == None) )
		return false;
	if ( (Leave == None) || (Mover == None) || (Reasons == None) || (Replies == None) || (Roster == None) )
		return false;
	if ( (Orders == None) || (Reports == None) || (Scores == None) || (Teams == None) || (Weights == None) )
		return false;
	Client.Kept = Spawn(class'EvenkeelKept');
	Roster.Identity = Spawn(class'EvenkeelIdentity');
	Chat.Vote = Spawn(class'EvenkeelVote');
	if ( (Client.Kept == None) || (Roster.Identity == None) || (Chat.Vote == None) )
		return false;
	ConnectParts();
	ListenToChat();
	return true;
}

/** Hears what players say, where that is wanted. */
function ListenToChat()
{
	local EvenkeelEars Ears;

	if ( !bChat || (Level.Game.BroadcastHandler == None) )
		return;
	Ears = Spawn(class'EvenkeelEars');
	if ( Ears == None )
		return;
	Ears.Chat = Chat;
	Level.Game.BroadcastHandler.RegisterBroadcastHandler(Ears);
}

function ConnectParts()
{
	Balance.Keeper = self;
	Balance.Client = Client;
	Balance.Orders = Orders;
	Balance.Reasons = Reasons;
	Balance.Roster = Roster;
	Balance.Teams = Teams;
	Bots.Keeper = self;
	Bots.Roster = Roster;
	Chat.Keeper = self;
	Chat.Client = Client;
	Chat.Mover = Mover;
	Chat.Reasons = Reasons;
	Chat.Roster = Roster;
	Chat.Vote.Roster = Roster;
	Client.Keeper = self;
	Client.Replies = Replies;
	Handicap.Keeper = self;
	Mover.Keeper = self;
	Orders.Keeper = self;
	Orders.Mover = Mover;
	Orders.Roster = Roster;
	Reasons.Keeper = self;
	Reasons.Roster = Roster;
	Replies.Keeper = self;
	Replies.Balance = Balance;
	Replies.Bots = Bots;
	Replies.Chat = Chat;
	Replies.Client = Client;
	Replies.Handicap = Handicap;
	Replies.Reasons = Reasons;
	Replies.Orders = Orders;
	Replies.Weights = Weights;
	Reports.Keeper = self;
	Reports.Client = Client;
	Reports.Roster = Roster;
	Roster.Keeper = self;
	Roster.Client = Client;
	Roster.Leave = Leave;
	Roster.Mover = Mover;
	Roster.Orders = Orders;
	Roster.Teams = Teams;
	Scores.Keeper = self;
	Scores.Client = Client;
	Scores.Roster = Roster;
	Teams.Keeper = self;
	Teams.Bots = Bots;
	Teams.Orders = Orders;
	Teams.Roster = Roster;
	Teams.Weights = Weights;
}

/** The name of this game server: the key, or one that no other server on this machine has. */
function string DaemonName()
{
	local string Address;
	local int Colon;

	if ( ServerName != "" )
		return ServerName;
	Address = Level.GetAddressURL();
	Colon = InStr(Address, ":");
	if ( Colon < 0 )
		return "ut2004";
	return "ut2004-" $ Mid(Address, Colon + 1);
}

/** A team as people call it. */
function string TeamWord(int Team)
{
	if ( (Team < 0) || (Team > 1) )
		return "no team";
	return TeamWords[Team];
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
	return bStarted || Balance.bDone;
}

/** Whether teams were chosen, or are being chosen, without those who come from now on. */
function bool HasChosenTeams()
{
	return bStarted || Balance.HasBegun();
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
	Roster.Sync();
	Mover.Respawn();
	if ( !bStarted )
		Balance.Think();
	if ( bRosterChanged )
		MindRoster();
	Chat.Think();
	if ( bStarted )
		FollowPlay();
}

/** What the timer does during play. */
function FollowPlay()
{
	Scores.Look(None);
	if ( Client.IsLive() && (Level.TimeSeconds >= NextReport) )
		Reports.Report();
	if ( bGiveAdvantage && HasTeams() && Client.IsLive() && (Level.TimeSeconds >= NextAdvantage) )
	{
		NextAdvantage = Level.TimeSeconds + FMax(AdvantageSeconds, 1.0);
		Client.Ask("ADVANTAGE");
	}
	if ( Level.Game.bGameEnded )
		OnEnd();
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
	Balance.PlayBegins();
	bStarted = true;
	// The daemon hears of the teams as they are before it hears that play begins.
	Roster.Sync();
	Scores.Note();
	TellStart();
}

function ForgetGame()
{
	bTold = false;
	bStarted = false;
	bEnded = false;
	bEndTold = false;
	bRosterChanged = true;
	Balance.Forget();
	Chat.BeginAnew();
	Handicap.ForgetGame();
	Roster.ForgetGame();
	Client.ForgetKept();
}

function TellStart()
{
	NextReport = 0.0;
	NextAdvantage = 0.0;
	if ( bReport )
		Client.Tell("START");
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
		Reports.TellEnd();
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
	if ( (Sender != None) && IsWorking() )
	{
		if ( MutateString ~= "evenkeel" )
			TellState(Sender);
		else if ( (MutateString ~= "evenkeel why") && MayAdminister(Sender) )
		{
			TellState(Sender);
			Reasons.TellAllTo(Sender);
		}
	}
	Super.Mutate(MutateString, Sender);
}

function bool MayAdminister(PlayerController PC)
{
	return (Level.NetMode == NM_Standalone) || ((PC.PlayerReplicationInfo != None) && PC.PlayerReplicationInfo.bAdmin);
}

function TellState(PlayerController Sender)
{
	if ( Client.IsLive() )
		Sender.ClientMessage("Evenkeel: connected as" @ DaemonName() $ ".");
	else
		Sender.ClientMessage("Evenkeel: the daemon is away; the game server works from the weights that it reported last.");
	if ( Handicap.Helped >= 0 )
		Sender.ClientMessage("Evenkeel:" @ TeamWord(Handicap.Helped) @ "has an advantage of" @ class'EvenkeelWords'.static.Percent(Handicap.Factor - 1.0) $ ".");
}

//-----------------------------------------------------------------------------
// What the daemon is told.

/** The conversation has begun; bResumed: where it broke off. */
function WentLive(bool bResumed)
{
	Replies.BeginAnew();
	if ( !bResumed )
		Client.ForgetKept();
	if ( bEnded )
	{
		// Said again, END has the same answer; whether it was heard isn't known.
		if ( bReport && HasUnfinishedGame() )
		{
			if ( bResumed )
				Client.TellKept();
			Reports.TellEnd();
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

/** What the daemon may not have, in its order. */
function CatchUp()
{
	// Said in play, START is refused and changes nothing; lost, it would cost the match.
	if ( bStarted && bReport && !Client.Kept.Has("START") )
		Client.Say("START");
	Client.TellKept();
	Scores.TellTotals();
}

function WentDown()
{
	Balance.ConnectionLost();
	Chat.BeginAnew();
	Orders.ForgetDue();
	Handicap.Give(-1, 1.0);
	bRosterChanged = true;
}

/**
 * All there is to say of a game that the daemon doesn't know. If a part of it may be lost, all of it
 * is said again, GAME first, so that nothing of an earlier game remains.
 */
function BeginGame()
{
	bTold = true;
	bEndTold = false;
	Replies.BeginAnew();
	Reports.TellGame();
	Roster.TellAll();
	if ( bStarted )
	{
		// Who was there for the goals so far isn't known any more.
		Scores.Note();
		TellStart();
	}
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
	Leave.OnDeath(Killed);
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
		if ( Bots.Manages() )
			Client.Ask("BOTS");
	}
	else if ( Bots.Manages() )
		Bots.GiveOwnPlan();
}

//-----------------------------------------------------------------------------
// The web page.

/** The key of each setting that the web page shows. */
static final function string SettingName(int i)
{
	switch ( i )
	{
		case 0: return "DaemonHost";
		case 1: return "DaemonPort";
		case 2: return "ServerName";
		case 3: return "MinPlayers";
		case 4: return "DefaultWeight";
		case 5: return "bBalanceAtStart";
		case 6: return "bBalanceInCountdown";
		case 7: return "bPlaceArrivals";
		case 8: return "bFollowMoves";
		case 9: return "bManageBots";
		case 10: return "bGiveAdvantage";
		case 11: return "MaxAdvantage";
		case 12: return "bMoreDamageDealt";
		case 13: return "bLessDamageTaken";
		case 14: return "MaxRespawnDelay";
		case 15: return "bReport";
		case 16: return "bAnnounce";
		case 17: return "bChat";
		case 18: return "VotePercent";
	}
	return "";
}

/** The range of a number, with the digits that it may have; nothing for others. */
static final function string SettingRange(string Setting)
{
	switch ( Setting )
	{
		case "DaemonHost":
		case "ServerName":
			return "64";
		case "DaemonPort":
			return "5;1:65535";
		case "MinPlayers":
			return "2;0:32";
		case "DefaultWeight":
			return "6;0.0:100.0";
		case "MaxAdvantage":
			return "4;1.0:3.0";
		case "MaxRespawnDelay":
			return "4;0.0:30.0";
		case "VotePercent":
			return "2;0:99";
	}
	return "";
}

static function FillPlayInfo(PlayInfo PlayInfo)
{
	local string Setting;
	local int i;

	Super.FillPlayInfo(PlayInfo);
	for ( i = 0; i < SETTINGS; i++ )
	{
		Setting = SettingName(i);
		if ( Left(Setting, 1) == "b" )
			PlayInfo.AddSetting(default.SettingsGroup, Setting, default.SettingText[i], 0, i, "Check");
		else
			PlayInfo.AddSetting(default.SettingsGroup, Setting, default.SettingText[i], 0, i, "Text", SettingRange(Setting));
	}
}

static event string GetDescriptionText(string PropName)
{
	local int i;

	for ( i = 0; i < SETTINGS; i++ )
		if ( SettingName(i) ~= PropName )
			return default.SettingHelp[i];
	return Super.GetDescriptionText(PropName);
}

defaultproperties
{
	DaemonHost="127.0.0.1"
	DaemonPort=7997
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
	bChat=True
	TeamWords(0)="Red"
	TeamWords(1)="Blue"
	SettingsGroup="Evenkeel"
	SettingText(0)="Daemon's Address"
	SettingText(1)="Daemon's Port"
	SettingText(2)="Server's Name"
	SettingText(3)="Players Wanted"
	SettingText(4)="Weight of Strangers"
	SettingText(5)="Pick Teams at Start"
	SettingText(6)="Pick in Countdown"
	SettingText(7)="Place Late Players"
	SettingText(8)="Follow Auto-Balance"
	SettingText(9)="Set Number of Bots"
	SettingText(10)="Help Weaker Team"
	SettingText(11)="Largest Advantage"
	SettingText(12)="More Damage Dealt"
	SettingText(13)="Less Damage Taken"
	SettingText(14)="Respawn Delay"
	SettingText(15)="Report Matches"
	SettingText(16)="Tell Players"
	SettingText(17)="Chat Commands"
	SettingText(18)="Votes"
	SettingHelp(0)="The name or address of the machine that the Evenkeel daemon runs on."
	SettingHelp(1)="The port that the daemon listens on."
	SettingHelp(2)="The name of this game server. Each needs its own. Empty: ut2004 and the port."
	SettingHelp(3)="The number of players wanted, bots included. 0 leaves it to the daemon."
	SettingHelp(4)="The weight of humans whom the daemon does not know, for teams chosen while it is away."
	SettingHelp(5)="Pick teams for all players when the game starts."
	SettingHelp(6)="Move the players in the last three seconds of the countdown, and not only when play begins."
	SettingHelp(7)="Pick the team of players who arrive during play."
	SettingHelp(8)="Move players who died, if the daemon's auto-balance asks for it."
	SettingHelp(9)="Set the number of bots to what the teams need."
	SettingHelp(10)="Give the weaker team an advantage."
	SettingHelp(11)="The largest factor of the advantage: 1.5 is 50 %."
	SettingHelp(12)="The weaker team does more damage."
	SettingHelp(13)="The weaker team takes less damage."
	SettingHelp(14)="The longest wait, in seconds, that is added for the stronger team's humans who died."
	SettingHelp(15)="Report scores, kills and the end, so that the daemon learns. Turn it off where the daemon reads this server's logs."
	SettingHelp(16)="Tell the players what happens."
	SettingHelp(17)="Answer the commands that players say: !why, !rank and !balance."
	SettingHelp(18)="More than so many percent of the humans have to agree to balance the teams again. 0: no votes."
	GroupName="TeamBalancer"
	FriendlyName="Evenkeel"
	Description="Even teams, chosen by an Evenkeel daemon from what it has learned of everybody's past games."
}
