//=============================================================================
// EvenkeelClient: keeps up the conversation with the daemon.
//
// It dials, says HELLO, tries again with growing pauses when the daemon is
// away, and hands what it hears to EvenkeelReplies. EvenkeelKept has the
// reports that the daemon must not miss; all else that it is given to say while
// there is no connection is dropped.
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
/** A connection that ends before does not make the next pause short. */
const LONG_LIFE = 60.0;

var MutEvenkeel Keeper;
var EvenkeelReplies Replies;
var EvenkeelKept Kept;
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
var float LiveAt;		// when the daemon answered HELLO
var float HeardAt;		// when the last line came in
var float AskedAt;		// when the oldest question went out that may be open
var float PingedAt;		// when the open PING went out
var float Pause;		// before the next attempt
var int PingMark;		// so many of the kept lines went out before the open PING
var bool bWaiting;		// a question is open
var bool bPinged;		// PING is one of them
var bool bLost;			// the connection is gone; noticed in Think
var bool bBots;			// HELLO says that bots come and go as the daemon asks
var bool bPlainHello;	// this daemon knows no options of HELLO
var bool bQuit;			// the level is over
var string LostWhy;		// why it is gone
var string LoggedWhy;	// what the log says already, not to be repeated

/** Whether what is said now can arrive. */
function bool IsLive()
{
	return (Phase == CP_Live) && !bLost;
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
	else if ( (bWaiting && (Now - AskedAt > REPLY_PATIENCE)) || (bPinged && (Now - PingedAt > REPLY_PATIENCE)) )
		Drop("it no longer answers");
	else if ( !bPinged && ((Kept.Lines.Length > 0) || (Now - HeardAt > PING_AFTER)) )
		Ping();
	else if ( bBots != Keeper.Bots.Manages() )
		SayHello(false);
}

/** Its answer shows that the daemon has everything that was said before. */
function Ping()
{
	bPinged = true;
	PingedAt = Level.TimeSeconds;
	PingMark = Kept.Lines.Length;
	Ask("PING");
}

function Dial()
{
	Link = Spawn(class'EvenkeelLink', self);
	DialedAt = Level.TimeSeconds;
	Phase = CP_Dialing;
	bWaiting = false;
	bPinged = false;
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
	local float Life;

	bWasLive = (Phase == CP_Live);
	Life = Level.TimeSeconds - LiveAt;
	Phase = CP_Down;
	bLost = false;
	bWaiting = false;
	bPinged = false;
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
		bPlainHello = false;
		if ( Life >= LONG_LIFE )
			Pause = 0.0;
		else if ( Why == "closed" )
			Why = Why @ "after" @ int(Life) @ "seconds; does another game server use the name" @ Keeper.DaemonName() $ ", too?";
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
	if ( !IsLive() || !Put(Line) )
		return;
	if ( !bWaiting )
		AskedAt = Level.TimeSeconds;
	bWaiting = true;
}

/**
 * A report that the daemon must not miss. It is kept until the daemon has it; while the daemon is
 * away, only if it may still hold the game. Again, if any, is what to say where the line itself
 * would count twice. False if the report is neither said nor kept.
 */
function bool Tell(string Line, optional string Again)
{
	if ( Again == "" )
		Again = Line;
	if ( IsLive() )
	{
		if ( Put(Line) )
			Kept.Keep(Line, Again, true);
		return true;
	}
	return Keeper.HasUnfinishedGame() && Kept.Keep(Line, Again, false);
}

/** Says again what the daemon may not have, in its order. */
function TellKept()
{
	local int i;

	for ( i = 0; i < Kept.Lines.Length; i++ )
		Say(Kept.SayAt(i));
}

/** The daemon no longer holds the game that these reports are about. */
function ForgetKept()
{
	Kept.Clear();
	PingMark = 0;
}

/** Sends a line. False if it is too long. */
function bool Put(string Line)
{
	if ( Len(Line) > MAX_LINE )
	{
		Log("Too long to be said:" @ Left(Line, 80), 'Evenkeel');
		return false;
	}
	if ( Keeper.bVerbose )
		Log(">" @ Line, 'Evenkeel');
	Link.SendLine(Line);
	return true;
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
	SayHello(Keeper.HasUnfinishedGame());
}

/** HELLO may be said again at any time, to say whether bots come and go as the daemon asks. */
function SayHello(bool bResume)
{
	local string Line;

	bBots = Keeper.Bots.Manages();
	Line = "HELLO" @ class'EvenkeelWords'.static.Quote(Keeper.DaemonName());
	if ( Keeper.Token != "" )
		Line = Line @ class'EvenkeelWords'.static.Quote(Keeper.Token);
	if ( !bPlainHello )
	{
		if ( bResume )
			Line = Line @ "resume=yes";
		if ( bBots )
			Line = Line @ "bots=yes";
		else
			Line = Line @ "bots=no";
	}
	// Not Put, which may show it in the log.
	Link.SendLine(Line);
}

function Heard(EvenkeelLink Which, string Line)
{
	local string Verb, Rest;

	if ( (Which != Link) || bLost )
		return;
	if ( Keeper.bVerbose )
		Log("<" @ Line, 'Evenkeel');
	HeardAt = Level.TimeSeconds;
	bWaiting = false;
	Rest = Line;
	Verb = Caps(class'EvenkeelWords'.static.Take(Rest));
	if ( Phase == CP_Live )
	{
		if ( (Verb == "PONG") && bPinged )
		{
			bPinged = false;
			Kept.Confirm(PingMark);
		}
		Replies.Heard(Verb, Rest);
	}
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
		SayHello(false);
	}
	else
		LinkLost(Link, "HELLO was refused:" @ Code @ Rest);
}

function GoLive(bool bResumed)
{
	Phase = CP_Live;
	LiveAt = Level.TimeSeconds;
	LoggedWhy = "";
	Log("Connected to" @ Keeper.DaemonHost $ ":" $ Keeper.DaemonPort @ "as" @ Keeper.DaemonName(), 'Evenkeel');
	Keeper.WentLive(bResumed);
}

defaultproperties
{
}
