//=============================================================================
// EvenkeelLeave: why a human left the game.
//
// The game does not say it. Who was kicked is told by what the game does before
// it closes the connection: it adds a ban, or the reason for idlers, or takes
// the body away without a death. Whose connection was lost was silent before.
//=============================================================================
class EvenkeelLeave extends Info;

/** Seconds without a sign of the client; the game gives a connection up after 15 (ConnectionTimeout). */
const SILENCE = 5.0;

struct Watched
{
	var PlayerController PC;
	var string Hash, Address;	// as they were at the first look
	var float HeardAt;			// when the client was heard last
	var float Stamp;			// of the client's last move
	var rotator View;			// a driver sends no moves, but looks around
	var bool bBody;				// had a body at the last look, and has not died since
};

var array<Watched> Players;

function int Find(PlayerController PC)
{
	local int i;

	for ( i = 0; i < Players.Length; i++ )
		if ( Players[i].PC == PC )
			return i;
	return -1;
}

/** Called for each human, twice a second. */
function Look(PlayerController PC)
{
	local int i;

	if ( PC == None )
		return;
	i = Find(PC);
	if ( i < 0 )
	{
		Prune();
		i = Players.Length;
		Players.Length = i + 1;
		Players[i].PC = PC;
		Players[i].Hash = PC.GetPlayerIDHash();
		Players[i].Address = PC.GetPlayerNetworkAddress();
		Players[i].HeardAt = Level.TimeSeconds;
	}
	if ( (PC.CurrentTimeStamp != Players[i].Stamp) || (PC.Rotation != Players[i].View) )
		Players[i].HeardAt = Level.TimeSeconds;
	Players[i].Stamp = PC.CurrentTimeStamp;
	Players[i].View = PC.Rotation;
	Players[i].bBody = (PC.Pawn != None);
}

/** Forgets those who are no longer there. */
function Prune()
{
	local int i;

	for ( i = Players.Length - 1; i >= 0; i-- )
		if ( (Players[i].PC == None) || Players[i].PC.bDeleteMe )
			Players.Remove(i, 1);
}

/** Somebody died. */
function OnDeath(Controller Victim)
{
	local int i;

	i = Find(PlayerController(Victim));
	if ( i >= 0 )
		Players[i].bBody = false;
}

/** Why this human leaves: kicked, timeout or left, as LEAVE spells it. */
function string Reason(PlayerController PC)
{
	local int i;

	if ( PC == None )
		return "left";
	i = Find(PC);
	if ( i < 0 )
		return "left";
	if ( IsKicked(i) )
		return "kicked";
	// A client that has sent no move yet is not known to be silent.
	if ( (Players[i].Stamp > 0.0) && (Level.TimeSeconds - Players[i].HeardAt > SILENCE) )
		return "timeout";
	return "left";
}

function bool IsKicked(int i)
{
	local AccessControl Access;

	Access = Level.Game.AccessControl;
	if ( Access != None )
	{
		// The game sets this reason only while it kicks an idler.
		if ( (Access.DefaultKickReason == Access.IdleKickReason) && (Access.default.DefaultKickReason != Access.IdleKickReason) )
			return true;
		if ( (Players[i].Hash != "") && Access.bBanByID && (Access.CheckID(Players[i].Hash) != 0) )
			return true;
		if ( (Players[i].Address != "") && !Access.bBanByID && (Access.CheckIPPolicy(Players[i].Address) != 0) )
			return true;
	}
	return Players[i].bBody && (Players[i].PC.Pawn == None);
}

defaultproperties
{
}
