//=============================================================================
// EvenkeelBots: sets the game's MinPlayers, by which it adds and removes bots.
//
// MinPlayers belongs to the server's ini, so the game's own value is put back
// when play ends, when the level ends, and before the game saves its settings.
// If another part of the server saves them in between, the ini is mended. What an
// administrator sets stays until the next level.
//=============================================================================
class EvenkeelBots extends Info;

/** The most that MinPlayers can be. */
const MOST_PLAYERS = 32;

var MutEvenkeel Keeper;
var EvenkeelRoster Roster;

var bool bNoted;		// the four that follow are known
var bool bOwnBots;		// the game came with bots wanted
var int Own;			// the game's MinPlayers, as the ini and the URL have it
var int Given;			// what we set it to
var int Saved;			// what the ini has
var bool bAside;		// the game's own value is in place for a moment
var bool bYields;		// an administrator has set the number

function UnrealMPGameInfo Game()
{
	return UnrealMPGameInfo(Level.Game);
}

/** Called once the game has read the URL's options, which it does after it has spawned us. */
function NoteGame()
{
	if ( bNoted || (Game() == None) )
		return;
	bNoted = true;
	Own = Game().MinPlayers;
	bOwnBots = (Own > 0);
	Given = Own;
	Saved = class'UnrealMPGameInfo'.default.MinPlayers;
}

function Give(int Players)
{
	NoteGame();
	if ( !bNoted )
		return;
	NoteOthers();
	if ( !bYields )
		SetPlayers(Players);
}

function SetPlayers(int Players)
{
	bAside = false;
	Given = Clamp(Players, 0, MOST_PLAYERS);
	Game().MinPlayers = Given;
}

/** The game's own value once more: play is over, or the level. */
function PutBack()
{
	if ( bNoted )
		Give(Own);
}

/** Looks whether anybody else has changed MinPlayers: with AddBots, KillBots or the web page, say. */
function NoteOthers()
{
	local int Now;

	Now = Game().MinPlayers;
	if ( (Now != Given) && !(bAside && (Now == Own)) )
		Yield(Now);
}

/** An administrator's number stays until the next level. */
function Yield(int Players)
{
	if ( !bYields )
		Log("An administrator has set MinPlayers to" @ Players $ "; it stays for this level.", 'Evenkeel');
	bYields = true;
	bAside = false;
	Own = Players;
	Given = Players;
	Game().MinPlayers = Players;
}

/** Looks whether anybody else has changed or saved MinPlayers. */
function Watch()
{
	local int OnFile;

	NoteGame();
	if ( !bNoted )
		return;
	NoteOthers();
	if ( bAside )
		SetPlayers(Given);
	// Saving reads the class's defaults anew from the file.
	OnFile = class'UnrealMPGameInfo'.default.MinPlayers;
	if ( OnFile == Saved )
		return;
	if ( (OnFile == Given) && (Given != Own) )
	{
		class'UnrealMPGameInfo'.default.MinPlayers = Saved;
		class'UnrealMPGameInfo'.static.StaticSaveConfig();
		return;
	}
	Saved = OnFile;
	if ( OnFile != Own )
		Yield(OnFile);
}

/**
 * A kill is being scored, and the game may save its settings after that: with bAdjustSkill, when
 * the bots' skill has moved by a whole step. Its own MinPlayers stands in until the next Watch.
 */
function BeforeKill(Controller Killer, Controller Killed)
{
	local DeathMatch Match;
	local float Skill;

	Match = DeathMatch(Level.Game);
	if ( !bNoted || (Given == Own) || (Match == None) || !Match.bAdjustSkill || (Killer == None) || (Killed == None) )
		return;
	Skill = Match.AdjustedDifficulty;
	if ( (AIController(Killer) != None) && (PlayerController(Killed) != None) )
		Skill = FMax(0.0, Skill - 2.0 / FMin(float(Match.PlayerKills) + 1.0, 10.0));
	else if ( (PlayerController(Killer) != None) && (AIController(Killed) != None) )
		Skill = FMin(7.0, Skill + 2.0 / FMin(float(Match.PlayerDeaths) + 1.0, 10.0));
	else
		return;
	if ( Abs(Skill - Match.GameDifficulty) < 1.0 )
		return;
	bAside = true;
	Match.MinPlayers = Own;
}

/** Whether the number of bots is ours to set. Where neither key asks for bots, there are none. */
function bool Manages()
{
	NoteGame();
	return Keeper.bManageBots && !bYields && ((Keeper.MinPlayers > 0) || bOwnBots);
}

/**
 * MinPlayers as the daemon would have it, from what is known here, with Largest humans on the
 * larger team. 0: no bots.
 */
function int PlanFor(int Largest)
{
	local int Plan, Low, High;

	if ( !Manages() )
		return Own;
	Plan = Keeper.MinPlayers;
	if ( Plan <= 0 )
		Plan = Own;
	if ( Plan <= 0 )
		return 0;
	Low = Max(Level.IdealPlayerCountMin, 0);
	High = Level.IdealPlayerCountMax;
	if ( High <= 0 )
		High = MOST_PLAYERS;
	Plan = Clamp(Plan, Min(Low, High), High);
	if ( !Keeper.HasTeams() )
		return Plan;
	Plan = 2 * ((Plan + 1) / 2);
	return Min(Max(Plan, 2 * Largest), MOST_PLAYERS);
}

/** Sets MinPlayers without the daemon. */
function GiveOwnPlan()
{
	Give(PlanFor(Roster.LargestTeam()));
}

defaultproperties
{
}
