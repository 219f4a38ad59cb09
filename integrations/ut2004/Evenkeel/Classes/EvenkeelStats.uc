//=============================================================================
// EvenkeelStats: reads the stock log's identifiers where the game writes no log.
//
// GetStatsIdentifier needs an object of this kind. This one opens no file and
// writes nothing.
//=============================================================================
class EvenkeelStats extends GameStats;

/** The stock class opens its log here. */
function Init()
{
}

defaultproperties
{
}
