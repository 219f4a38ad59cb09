//=============================================================================
// EvenkeelReasons: why teams were chosen as they were.
//
// The daemon is asked for its reasons after each decision, and they are kept:
// it forgets them with the next game, and may be away when somebody asks.
//=============================================================================
class EvenkeelReasons extends Info;

/** More than the daemon says of one decision. */
const MOST_LINES = 64;
/** Lines for a player: about them, and in all. */
const OWN_LINES = 2;
const PLAYER_LINES = 3;

var MutEvenkeel Keeper;
var EvenkeelRoster Roster;
var array<string> Lines;
var bool bIgnoreNext;	// the next answer to EXPLAIN is about teams that nobody got
var bool bIgnoring;		// its lines are coming in

/** The daemon's next reasons are about a decision that is not followed. */
function IgnoreNext()
{
	bIgnoreNext = true;
}

/** There is another connection. */
function BeginAnew()
{
	bIgnoreNext = false;
	bIgnoring = false;
}

/** The daemon's answer to EXPLAIN begins. */
function HeardExplain()
{
	bIgnoring = bIgnoreNext;
	bIgnoreNext = false;
	if ( !bIgnoring )
		Clear();
}

/** One line of it. */
function HeardWhy(string Line)
{
	if ( !bIgnoring )
		Append(Line);
}

function Clear()
{
	Lines.Length = 0;
}

function Append(string Line)
{
	if ( Lines.Length < MOST_LINES )
		Lines[Lines.Length] = Line;
}

/** All of them, as the daemon says them: for administrators. */
function TellAllTo(PlayerController PC)
{
	local int i;

	if ( Lines.Length == 0 )
		PC.ClientMessage("Evenkeel: nothing has been decided yet.");
	for ( i = 0; i < Lines.Length; i++ )
		PC.ClientMessage(Lines[i]);
}

/**
 * To a player: first the reasons that name them, then those that name nobody. What names other
 * players is left out, because it has their identities, and what they did.
 */
function TellTo(PlayerController PC)
{
	local int i, Seat, Told;

	Seat = Roster.Find(PC.PlayerReplicationInfo);
	for ( i = 0; (i < Lines.Length) && (Told < OWN_LINES); i++ )
		if ( (Seat >= 0) && Names(i, Seat) && !NamesOthers(i, Seat) )
		{
			PC.ClientMessage("Evenkeel:" @ Reworded(Lines[i], Seat));
			Told++;
		}
	for ( i = 0; (i < Lines.Length) && (Told < PLAYER_LINES); i++ )
		if ( ((Seat < 0) || !Names(i, Seat)) && !NamesOthers(i, Seat) && !IsForOperators(Lines[i]) )
		{
			PC.ClientMessage("Evenkeel:" @ Reworded(Lines[i], Seat));
			Told++;
		}
	if ( Lines.Length == 0 )
		PC.ClientMessage("Evenkeel: nothing has been decided yet.");
	else if ( Told == 0 )
		PC.ClientMessage("Evenkeel: the last decision was not about you.");
}

function bool Names(int i, int Seat)
{
	return (class'EvenkeelWords'.static.WordAt(Lines[i], Roster.Seats[Seat].Id) >= 0);
}

function bool NamesOthers(int i, int Seat)
{
	local int Other;

	for ( Other = 0; Other < Roster.Seats.Length; Other++ )
		if ( (Other != Seat) && Names(i, Other) )
			return true;
	return false;
}

/** Lines about the search, and not about the teams. */
function bool IsForOperators(string Line)
{
	return (Left(Line, 9) == "objective") || (Left(Line, 6) == "picked") || (Left(Line, 9) == "runner-up")
		|| (Left(Line, 9) == "best plan") || (Left(Line, 9) == "only bots");
}

/** A reason in a player's words: their name, the teams' names, short numbers, and one half. */
function string Reworded(string Line, int Seat)
{
	local int At, t;

	At = InStr(Line, ";");
	if ( At >= 0 )
		Line = Left(Line, At);
	// The numbers first: the name may have some, too.
	Line = class'EvenkeelWords'.static.Shortened(Line);
	for ( t = 0; t < 2; t++ )
		Line = class'EvenkeelWords'.static.Swapped(Line, "team" @ t, Keeper.TeamWord(t));
	if ( Seat >= 0 )
		Line = class'EvenkeelWords'.static.Swapped(Line, Roster.Seats[Seat].Id, Roster.Seats[Seat].Nick);
	return Line;
}

defaultproperties
{
}
