//=============================================================================
// EvenkeelClient: keeps up the conversation with the daemon.
//
// It dials, says HELLO, tries again with growing pauses when the daemon is
// away, and hands what it hears to the mutator. While it isn't live, whatever
// it is given to say is dropped: the mutator tells everything anew once it is.
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
var bool bNoResume;		// this daemon knows no resume
var bool bQuit;			// the level is over
var string LostWhy;
/** Failed attempts since the last success; only the first is worth a line in the log. */
var int Failures;

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
		Pause = 0.0;
	else
		Failures++;
	if ( (bWasLive || (Failures == 1)) && !bQuit )
		Log("The daemon at" @ Keeper.DaemonHost $ ":" $ Keeper.DaemonPort $ ":" @ Why, 'Evenkeel');
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

function LinkLost(EvenkeelLink Which, string Why)
{
	if ( Which != Link )
		return;
	bLost = true;
	LostWhy = Why;
}

function LinkOpened(EvenkeelLink Which)
{
	local string Line;

	if ( Which != Link )
		return;
	Phase = CP_Hello;
	Line = "HELLO" @ class'EvenkeelWords'.static.Quote(Keeper.ServerName);
	if ( Keeper.Token != "" )
		Line = Line @ class'EvenkeelWords'.static.Quote(Keeper.Token);
	if ( WantsResume() )
		Line = Line @ "resume=yes";
	// Not Put, which may show it in the log.
	SaidAt = Level.TimeSeconds;
	Link.SendLine(Line);
}

function bool WantsResume()
{
	return !bNoResume && Keeper.HasUnfinishedGame();
}

function Heard(EvenkeelLink Which, string Line)
{
	local string Verb, Rest;

	if ( Which != Link )
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
	else if ( (Verb == "ERROR") && WantsResume() )
		bNoResume = true;
	else if ( Verb == "ERROR" )
		Log("HELLO was refused:" @ Line, 'Evenkeel');
}

function GoLive(bool bResumed)
{
	Phase = CP_Live;
	Pause = 0.0;
	Failures = 0;
	bNoResume = false;
	Log("Connected to" @ Keeper.DaemonHost $ ":" $ Keeper.DaemonPort, 'Evenkeel');
	Keeper.WentLive(bResumed);
}

defaultproperties
{
}
