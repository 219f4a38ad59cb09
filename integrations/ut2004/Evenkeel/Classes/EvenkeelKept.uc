//=============================================================================
// EvenkeelKept: the reports that the daemon may not have.
//
// A line that was sent over a dying connection is lost without a sign. So each
// report stays here until the daemon has answered a PING that was sent after
// it, and is said again on the next connection. So are the reports of the time
// in which there was no connection.
//=============================================================================
class EvenkeelKept extends Info;

/** The daemon keeps the game for two minutes; there is no use in more. */
const MOST_LINES = 512;

struct KeptLine
{
	var string Line;	// what to say if it was never said
	var string Again;	// what to say if it was said: it may have arrived
	var bool bSaid;
};

var array<KeptLine> Lines;

/** Keeps a report. False if there are too many. */
function bool Keep(string Line, string Again, bool bSaid)
{
	local int i;

	i = Lines.Length;
	if ( i >= MOST_LINES )
		return false;
	Lines.Length = i + 1;
	Lines[i].Line = Line;
	Lines[i].Again = Again;
	Lines[i].bSaid = bSaid;
	return true;
}

/** The line to say now; from now on it counts as said. */
function string SayAt(int i)
{
	if ( Lines[i].bSaid )
		return Lines[i].Again;
	Lines[i].bSaid = true;
	return Lines[i].Line;
}

/** Whether this line is among those that are kept. */
function bool Has(string Line)
{
	local int i;

	for ( i = 0; i < Lines.Length; i++ )
		if ( Lines[i].Line == Line )
			return true;
	return false;
}

/** The daemon has the oldest lines, so many of them. */
function Confirm(int Count)
{
	Count = Min(Count, Lines.Length);
	if ( Count > 0 )
		Lines.Remove(0, Count);
}

function Clear()
{
	Lines.Length = 0;
}

defaultproperties
{
}
