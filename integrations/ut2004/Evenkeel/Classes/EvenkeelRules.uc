//=============================================================================
// EvenkeelRules: what the game tells its rules, passed on to the mutator.
//
// It decides nothing about the game but how much a shot hurts.
//=============================================================================
class EvenkeelRules extends GameRules;

var MutEvenkeel Keeper;

/** Called before the teams' scores change. */
function ScoreKill(Controller Killer, Controller Killed)
{
	Super.ScoreKill(Killer, Killed);
	if ( Keeper != None )
		Keeper.OnKill(Killer, Killed);
}

function ScoreObjective(PlayerReplicationInfo Scorer, int Score)
{
	Super.ScoreObjective(Scorer, Score);
	if ( Keeper != None )
		Keeper.OnScore(Scorer);
}

/** Called whenever a score has changed; who made it change is known here and nowhere later. */
function bool CheckScore(PlayerReplicationInfo Scorer)
{
	if ( Keeper != None )
		Keeper.OnScore(Scorer);
	return Super.CheckScore(Scorer);
}

function int NetDamage( int OriginalDamage, int Damage, pawn injured, pawn instigatedBy, vector HitLocation, out vector Momentum, class<DamageType> DamageType )
{
	Damage = Super.NetDamage(OriginalDamage, Damage, injured, instigatedBy, HitLocation, Momentum, DamageType);
	if ( Keeper != None )
		Damage = Keeper.WeighDamage(Damage, injured, instigatedBy, DamageType);
	return Damage;
}

defaultproperties
{
}
