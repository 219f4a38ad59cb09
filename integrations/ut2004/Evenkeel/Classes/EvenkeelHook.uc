//=============================================================================
// EvenkeelHook: how a game type gives one team an advantage its own way.
//
// UnrealScript has no interfaces, so this is a class to derive from. A game
// type (or a mutator that knows it) spawns an actor of the derived class, or
// the server's administrator names the class in the key HookClass. The mutator
// finds it and calls GiveAdvantage. EvenkeelAdrenaline is an example.
//=============================================================================
class EvenkeelHook extends Info
	abstract;

/**
 * Give this team (0 is red, 1 is blue) an advantage of Factor over the other one, 1.1 for example,
 * until the next call. A Factor of 1 ends it; Team is -1 then. Called only when something changes.
 *
 * Returns whether the game type takes care of it. If so, the mutator leaves damage and respawning
 * alone.
 */
function bool GiveAdvantage(int Team, float Factor)
{
	return false;
}

defaultproperties
{
}
