//=============================================================================
// EvenkeelClient: keeps up the conversation with the daemon.
//
// It dials, says HELLO, tries again with growing pauses when the daemon is
// away, and hands what it hears to the mutator. While it isn't live, it keeps
// the reports that the daemon must not miss, if it may still hold the game;
// all else that it is given to say is dropped.
//=============================================================================
class EvenkeelClient extends Info;

/** Below the daemon's limit of 1,024 bytes, line end included. */
const MAX_LINE = 1000;
/** Seconds. */
const DIAL_PATIENCE = 10.0;
const REPLY_PATIENCE = 15.0;
const PING_AFTER = 30.0;
const FIRST_PAUSE = 2.0;
const LONGEST_PAUSE = 60.0;
/** Reports kept for the daemon; it keeps the game for two minutes. */
const MOST_MISSED = 512;

var MutEvenkeel Keeper;
var EvenkeelLink Link;

var enum EClientPhase
{
	CP_Down,		// waiting for the next attempt
	CP_Dialing,		// no connection yet
	CP_Hello,		// HELLO is said
	CP_Live			// lines go both ways
} Phase;

var float DialAt;		// when to try again
var float DialedAt;		// when the last attempt began
var float SaidAt;		// when the last line went out
var float AskedAt;		// when the oldest open question went out
var float Pause;		// before the next attempt
var bool bWaiting;		// a question is open
var bool bLost;			// the connection is gone; noticed in Think
var bool bBots;			// HELLO says that bots come and go as the daemon asks
var bool bPlainHello;	// this daemon knows no options of HELLO
var bool bQuit;			// the level is over
var string LostWhy;		// why it is gone
var string LoggedWhy;	// what the log says already, not to be repeated
/** Reports of what has happened since the connection broke, in their order. */
var array<string> Missed;

function bool IsLive()
{
	return (Phase == CP_Live);
}

/** Called by the mutator's timer. */
function Think()
{
	local float Now;

	Now = Level.TimeSeconds;
	if ( bLost )
		Drop(LostWhy);
	else if ( Phase == CP_Down )
	{
		if ( !bQuit && (Now >= DialAt) )
			Dial();
	}
	else if ( Phase != CP_Live )
	{
		if ( Now - DialedAt > DIAL_PATIENCE )
			Drop("no answer");
	}
	else if ( bWaiting && (Now - AskedAt > REPLY_PATIENCE) )
		Drop("it no longer answers");
	else if ( !bWaiting && (Now - SaidAt > PING_AFTER) )
		Ask("PING");
}

function Dial()
{
	Link = Spawn(class'EvenkeelLink', self);
	DialedAt = Level.TimeSeconds;
	Phase = CP_Dialing;
	bWaiting = false;
	if ( Link == None )
		LinkLost(None, "no link");
	else
	{
		Link.Client = self;
		Link.Dial(Keeper.DaemonHost, Keeper.DaemonPort);
	}
}

/** Gives the connection up; the next attempt follows after a pause. */
function Drop(string Why)
{
	local bool bWasLive;

	bWasLive = IsLive();
	Phase = CP_Down;
	bLost = false;
	bWaiting = false;
	if ( Link != None )
	{
		Link.Client = None;
		if ( Link.IsConnected() )
			Link.Close();
		Link.Destroy();
		Link = None;
	}
	if ( bWasLive )
	{
		Pause = 0.0;
		bPlainHello = false;
	}
	// Each reason once, however often it is tried again.
	if ( !bQuit && (bWasLive || (Why != LoggedWhy)) )
		Log("The daemon at" @ Keeper.DaemonHost $ ":" $ Keeper.DaemonPort $ ":" @ Why, 'Evenkeel');
	LoggedWhy = Why;
	Pause = FClamp(2.0 * Pause, FIRST_PAUSE, LONGEST_PAUSE);
	// Several servers that lost the same daemon don't come back in step.
	DialAt = Level.TimeSeconds + Pause * (1.0 + 0.25 * FRand());
	if ( bWasLive )
		Keeper.WentDown();
}

/** The level ends. */
function Quit()
{
	Say("QUIT");
	bQuit = true;
}

/** A line that is answered by silence, or by nothing we wait for. */
function Say(string Line)
{
	if ( IsLive() )
		Put(Line);
}

/** A line that the daemon answers. */
function Ask(string Line)
{
	if ( !IsLive() )
		return;
	if ( !bWaiting )
		AskedAt = Level.TimeSeconds;
	bWaiting = true;
	Put(Line);
}

/**
 * A report that the daemon must not miss. While it is away, the report is kept for it if it may
 * still hold the game. False if it is neither said nor kept.
 */
function bool Tell(string Line)
{
	if ( IsLive() )
	{
		Put(Line);
		return true;
	}
	if ( !Keeper.HasUnfinishedGame() || (Missed.Length >= MOST_MISSED) )
		return false;
	Missed[Missed.Length] = Line;
	return true;
}

/** Says what the daemon has missed. */
function TellMissed()
{
	local int i;

	for ( i = 0; i < Missed.Length; i++ )
		Say(Missed[i]);
	Missed.Length = 0;
}

/** The daemon no longer holds the game that these reports are about. */
function ForgetMissed()
{
	Missed.Length = 0;
}

function Put(string Line)
{
	if ( Len(Line) > MAX_LINE )
	{
		Log("Too long to be said:" @ Left(Line, 80), 'Evenkeel');
		return;
	}
	if ( Keeper.bVerbose )
		Log(">" @ Line, 'Evenkeel');
	SaidAt = Level.TimeSeconds;
	Link.SendLine(Line);
}

/** The first reason is the true one: what is refused is closed afterwards. */
function LinkLost(EvenkeelLink Which, string Why)
{
	if ( (Which != Link) || bLost )
		return;
	bLost = true;
	LostWhy = Why;
}

function LinkOpened(EvenkeelLink Which)
{
	if ( Which != Link )
		return;
	Phase = CP_Hello;
	SayHello();
}

function SayHello()
{
	local string Line;

	bBots = Keeper.Bots.Manages();
	Line = "HELLO" @ class'EvenkeelWords'.static.Quote(Keeper.ServerName);
	if ( Keeper.Token != "" )
		Line = Line @ class'EvenkeelWords'.static.Quote(Keeper.Token);
	if ( WantsResume() )
		Line = Line @ "resume=yes";
	if ( !bPlainHello )
	{
		if ( bBots )
			Line = Line @ "bots=yes";
		else
			Line = Line @ "bots=no";
	}
	// Not Put, which may show it in the log.
	SaidAt = Level.TimeSeconds;
	Link.SendLine(Line);
}

function bool WantsResume()
{
	return !bPlainHello && Keeper.HasUnfinishedGame();
}

function Heard(EvenkeelLink Which, string Line)
{
	local string Verb, Rest;

	if ( (Which != Link) || bLost )
		return;
	if ( Keeper.bVerbose )
		Log("<" @ Line, 'Evenkeel');
	bWaiting = false;
	Rest = Line;
	Verb = Caps(class'EvenkeelWords'.static.Take(Rest));
	if ( Phase == CP_Live )
		Keeper.Heard(Verb, Rest);
	else if ( Verb == "HELLO" )
	{
		// HELLO <program> <protocol> [resumed|new]
		class'EvenkeelWords'.static.Take(Rest);
		class'EvenkeelWords'.static.Take(Rest);
		GoLive(class'EvenkeelWords'.static.Take(Rest) ~= "resumed");
	}
	else if ( Verb == "ERROR" )
		HelloRefused(Rest);
}

/**
 * A daemon that does not know the options says bad-argument and leaves the connection open. Any
 * other refusal is final for this connection.
 */
function HelloRefused(string Rest)
{
	local string Code;

	Code = class'EvenkeelWords'.static.Take(Rest);
	if ( (Code ~= "bad-argument") && !bPlainHello )
	{
		bPlainHello = true;
		SayHello();
	}
	else
		LinkLost(Link, "HELLO was refused:" @ Code @ Rest);
}

function GoLive(bool bResumed)
{
	Phase = CP_Live;
	Pause = 0.0;
	LoggedWhy = "";
	Log("Connected to" @ Keeper.DaemonHost $ ":" $ Keeper.DaemonPort, 'Evenkeel');
	Keeper.WentLive(bResumed);
}

defaultproperties
{
}
