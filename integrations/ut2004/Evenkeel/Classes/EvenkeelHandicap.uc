//=============================================================================
// EvenkeelHandicap: gives the weaker team the advantage that the daemon
// computes.
//
// Three means of its own, each with a key: the weaker team's damage counts for
// more, damage to it for less, and the other team's humans come back later. A
// game type with a better one implements EvenkeelHook.
//=============================================================================
class EvenkeelHandicap extends Info;

/** Seconds; longer waits help nobody. */
const LONGEST_WAIT = 30.0;
/** Seconds between two looks whether those who died may be held. */
const WAIT_BEAT = 0.1;

/** A human who died and is to come back later. */
struct Waiter
{
	var PlayerController PC;
	var float EndsAt;
};

var MutEvenkeel Keeper;
/** The helped team; -1: none. */
var int Helped;
var float Factor;
/** A hook takes care of it. */
var bool bTaken;
var bool bHooksLoaded;
var array<Waiter> Waiters;

/** Gives this team the advantage; -1 ends it. */
function Give(int Team, float NewFactor)
{
	NewFactor = FClamp(NewFactor, 1.0, FMax(Keeper.MaxAdvantage, 1.0));
	if ( (Team < 0) || (Team > 1) || (NewFactor <= 1.0) )
	{
		Team = -1;
		NewFactor = 1.0;
	}
	if ( (Team == Helped) && (NewFactor == Factor) )
		return;
	Helped = Team;
	Factor = NewFactor;
	bTaken = TellHooks();
}

/** Whether a hook takes care of it. Every hook is told. */
function bool TellHooks()
{
	local EvenkeelHook Hook;
	local bool bResult;

	LoadHook();
	foreach DynamicActors(class'EvenkeelHook', Hook)
		if ( Hook.GiveAdvantage(Helped, Factor) )
			bResult = true;
	return bResult;
}

/** Spawns the hook that the configuration names, once. */
function LoadHook()
{
	local class<EvenkeelHook> HookType;

	if ( bHooksLoaded )
		return;
	bHooksLoaded = true;
	if ( Keeper.HookClass == "" )
		return;
	HookType = class<EvenkeelHook>(DynamicLoadObject(Keeper.HookClass, class'Class', true));
	if ( (HookType == None) || (Spawn(HookType) == None) )
		Log("There is no EvenkeelHook" @ Keeper.HookClass, 'Evenkeel');
}

/** The damage that is done, once the advantage is counted. */
function int WeighDamage(int Damage, Pawn Injured, Pawn InstigatedBy, class<DamageType> Kind)
{
	local int Shooter, Victim;
	local float Scale;

	if ( (Helped < 0) || bTaken || (Damage <= 0) || (Injured == None) )
		return Damage;
	if ( InstigatedBy != None )
		Shooter = InstigatedBy.GetTeamNum();
	else if ( (Kind != None) && Kind.default.bDelayedDamage && (Injured.DelayedDamageInstigatorController != None) )
		Shooter = Injured.DelayedDamageInstigatorController.GetTeamNum();
	else
		return Damage;
	Victim = Injured.GetTeamNum();
	// 255 is nobody's team.
	if ( (Shooter == Victim) || (Shooter > 1) || (Victim > 1) )
		return Damage;
	Scale = 1.0;
	if ( Shooter == Helped )
	{
		if ( Keeper.bMoreDamageDealt )
			Scale = Share();
	}
	else if ( Keeper.bLessDamageTaken )
		Scale = 1.0 / Share();
	if ( Scale == 1.0 )
		return Damage;
	// Rounded by chance, so that small damage is changed as much as large on average.
	return int(float(Damage) * Scale + FRand());
}

/** The factor of each means of damage. Both together make up the advantage. */
function float Share()
{
	if ( Keeper.bMoreDamageDealt && Keeper.bLessDamageTaken )
		return Sqrt(Factor);
	return Factor;
}

/** Seconds that a human of the stronger team waits: more, the larger the advantage. */
function float RespawnDelay()
{
	if ( Keeper.MaxAdvantage <= 1.0 )
		return 0.0;
	return FClamp(Keeper.MaxRespawnDelay, 0.0, LONGEST_WAIT) * (Factor - 1.0) / (Keeper.MaxAdvantage - 1.0);
}

/**
 * With few lives, waiting may end the game. Assault lets the dead back together, in waves; who was
 * held here would come back between two of them.
 */
function bool MayDelay()
{
	return (Level.Game.MaxLives <= 0) && !Level.Game.IsA('ASGameInfo');
}

/** Somebody died. Their controller is not yet in the state that it waits in. */
function OnDeath(Controller Victim)
{
	local PlayerController PC;
	local float Delay;
	local int i;

	PC = PlayerController(Victim);
	if ( (Helped < 0) || bTaken || (PC == None) || !MayDelay() )
		return;
	if ( PC.GetTeamNum() != 1 - Helped )
		return;
	Delay = RespawnDelay();
	if ( Delay <= 0.0 )
		return;
	i = Waiters.Length;
	Waiters.Length = i + 1;
	Waiters[i].PC = PC;
	Waiters[i].EndsAt = Level.TimeSeconds + Delay;
	SetTimer(WAIT_BEAT, true);
}

event Timer()
{
	local int i;

	for ( i = Waiters.Length - 1; i >= 0; i-- )
		if ( IsSettled(Waiters[i].PC, Waiters[i].EndsAt) )
			Waiters.Remove(i, 1);
	if ( Waiters.Length == 0 )
		SetTimer(0.0, false);
}

/**
 * Holds a player who is dead by now: the state in which players wait for the start of a game
 * lets nobody in before WaitDelay. True if there is nothing left to do for this one.
 */
function bool IsSettled(PlayerController PC, float EndsAt)
{
	if ( (PC == None) || PC.bDeleteMe || (PC.Pawn != None) || (Level.TimeSeconds >= EndsAt) || Level.Game.bGameEnded )
		return true;
	if ( !PC.IsInState('Dead') )
		return false;
	PC.WaitDelay = EndsAt;
	if ( PC.ViewTarget != None )
		PC.ServerViewSelf();
	PC.GotoState('PlayerWaiting');
	PC.ClientGotoState('PlayerWaiting', '');
	if ( Keeper.bAnnounce )
		PC.ClientMessage("Evenkeel: your team is ahead; you come back in" @ int(EndsAt - Level.TimeSeconds + 0.9) @ "seconds.");
	return true;
}

/** The game is over, or begins anew. */
function ForgetGame()
{
	Give(-1, 1.0);
	Waiters.Length = 0;
}

defaultproperties
{
	Helped=-1
	Factor=1.000000
}
