//=============================================================================
// EvenkeelAdrenaline: an example of EvenkeelHook.
//
// The weaker team gains adrenaline, the faster the larger its advantage is to
// be. Unlike damage, that counts with InstaGib, too. To use it, set
//     HookClass=Evenkeel.EvenkeelAdrenaline
// in Evenkeel.ini.
//=============================================================================
class EvenkeelAdrenaline extends EvenkeelHook;

/** Adrenaline each second for every 0.1 of advantage. */
var float Rate;

/** The team that gains; -1: none. */
var int Helped;
var float Advantage;
/** Adrenaline due, but less than the game can count. */
var float Owed;

function bool GiveAdvantage(int Team, float Factor)
{
	Helped = Team;
	Advantage = Factor;
	Owed = 0.0;
	SetTimer(1.0, (Helped >= 0));
	return true;
}

event Timer()
{
	local Controller C;
	local int Points;

	if ( (Helped < 0) || Level.Game.bGameEnded )
		return;
	// The game cuts adrenaline to whole points with each award.
	Owed += Rate * (Advantage - 1.0) * 10.0;
	Points = int(Owed);
	if ( Points <= 0 )
		return;
	Owed -= float(Points);
	for ( C = Level.ControllerList; C != None; C = C.NextController )
		if ( C.bIsPlayer && (C.Pawn != None) && (C.GetTeamNum() == Helped) )
			C.AwardAdrenaline(float(Points));
}

defaultproperties
{
	Rate=1.000000
	Helped=-1
	Advantage=1.000000
}
