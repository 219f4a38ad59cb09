//=============================================================================
// EvenkeelWeights: the players' weights as the daemon reported them last.
//
// They serve while the daemon is away, and are kept in a file of their own,
// System/EvenkeelWeights.ini, since nothing else outlives a change of level.
//=============================================================================
class EvenkeelWeights extends Info
	config(EvenkeelWeights);

/** More than the players of some weeks; the oldest are forgotten. */
const MOST_KNOWN = 256;
/** Where the daemon's scale has its middle. */
const MIDDLE = 50.0;

/** A weight, a blank, and p: or b: (for a bot) with the id. */
var config array<string> Known;
/** The mean weight of all bots; 0 when never heard. */
var config float MeanBot;

var bool bChanged;

/** The weight of a human. */
function float OfHuman(string Id, float IfUnknown)
{
	return Find("p:" $ Id, IfUnknown);
}

/** The weight of a bot. */
function float OfBot(string Id)
{
	return Find("b:" $ Id, OfAnyBot());
}

/** The weight of a bot that is not there yet. */
function float OfAnyBot()
{
	if ( MeanBot > 0.0 )
		return MeanBot;
	return MIDDLE;
}

function float Find(string Key, float IfUnknown)
{
	local int i;

	i = IndexOf(Key);
	if ( i < 0 )
		return IfUnknown;
	return FClamp(float(Left(Known[i], InStr(Known[i], " "))), 0.0, 100.0);
}

function int IndexOf(string Key)
{
	local int i;

	for ( i = Known.Length - 1; i >= 0; i-- )
		if ( Mid(Known[i], InStr(Known[i], " ") + 1) == Key )
			return i;
	return -1;
}

function NoteHuman(string Id, string Weight)
{
	Note("p:" $ Id, Weight);
}

function NoteBot(string Id, string Weight)
{
	Note("b:" $ Id, Weight);
}

/** The newest stands last. A player whom the daemon does not know has no weight. */
function Note(string Key, string Weight)
{
	local int i;

	i = IndexOf(Key);
	if ( i >= 0 )
		Known.Remove(i, 1);
	bChanged = true;
	if ( Weight == "" )
		return;
	if ( Known.Length >= MOST_KNOWN )
		Known.Remove(0, 1);
	Known[Known.Length] = string(float(Weight)) @ Key;
}

function NoteMeanBot(string Weight)
{
	MeanBot = FClamp(float(Weight), 0.0, 100.0);
	bChanged = true;
}

/** Writes the file, between two games. */
function Store()
{
	if ( bChanged )
		SaveConfig();
	bChanged = false;
}

defaultproperties
{
}
