//=============================================================================
// EvenkeelIdentity: the id under which the daemon knows a player.
//
// No two players of a game get the same id, and none gets one that the daemon
// refuses.
//=============================================================================
class EvenkeelIdentity extends Info;

/** More than the players of a game. */
const MOST_TRIES = 64;
/** Stands before a name that could be taken for something else. */
const NAME_PREFIX = "name:";

/** Asked for identifiers if the game keeps no statistics. */
var EvenkeelStats Stats;

/**
 * A human's hash from the source that Kind names; the name for bots, for humans without a hash (in
 * a LAN, say), and for the second one of two who share a hash.
 */
function string IdFor(Controller C, string Kind, EvenkeelRoster Roster)
{
	local string Id, Nick;
	local int i;

	Nick = class'EvenkeelWords'.static.Clean(C.PlayerReplicationInfo.PlayerName);
	if ( PlayerController(C) == None )
		Id = FromBotName(Nick);
	else
	{
		Id = class'EvenkeelWords'.static.Clean(HashOf(PlayerController(C), Kind));
		if ( class'EvenkeelWords'.static.IsNobody(Id) || Roster.IsTaken(Id) )
			Id = FromName(Nick);
	}
	Nick = Id;
	for ( i = 2; (i < MOST_TRIES) && Roster.IsTaken(Id); i++ )
		Id = Nick $ "#" $ i;
	return Id;
}

/** The hash of a human, or nothing. */
function string HashOf(PlayerController PC, string Kind)
{
	if ( Kind ~= "name" )
		return "";
	if ( Kind ~= "stats" )
		return StatsId(PC);
	return PC.GetPlayerIDHash();
}

/** What the stock log has after `C number`. Only the first part: what follows the tab is secret. */
function string StatsId(PlayerController PC)
{
	local GameStats Source;
	local string Id;
	local int End;

	Source = Level.Game.GameStats;
	if ( Source == None )
	{
		if ( Stats == None )
			Stats = Spawn(class'EvenkeelStats');
		Source = Stats;
	}
	if ( Source == None )
		return "";
	Id = Source.GetStatsIdentifier(PC);
	End = InStr(Id, Chr(9));
	if ( End >= 0 )
		Id = Left(Id, End);
	return Id;
}

/**
 * A human's name as an id. A name that looks like a hash gets the prefix, as it does when the log
 * is read; so does one that the daemon refuses, and one that has the prefix already.
 */
function string FromName(string Nick)
{
	if ( class'EvenkeelWords'.static.IsNobody(Nick) || class'EvenkeelWords'.static.IsHex(Nick)
		|| (Left(Nick, Len(NAME_PREFIX)) == NAME_PREFIX) )
		return NAME_PREFIX $ Nick;
	return Nick;
}

/** A bot's name as an id. */
function string FromBotName(string Nick)
{
	if ( class'EvenkeelWords'.static.IsNobody(Nick) )
		return NAME_PREFIX $ Nick;
	return Nick;
}

defaultproperties
{
}
