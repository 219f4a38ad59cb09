//=============================================================================
// EvenkeelChat: the commands that players say: !why, !rank, and !balance, which
// is a vote. Only the player who asks reads the answer.
//=============================================================================
class EvenkeelChat extends Info;

/** Seconds between two commands of one player. */
const EACH_TIME = 2.0;
/** Commands that may wait for the next beat. */
const MOST_WAITING = 8;
/** Seconds that an answer to RANK may take. */
const RANK_PATIENCE = 5.0;

struct Talker
{
	var PlayerController PC;
	var float HeardAt;
};

struct ChatCommand
{
	var PlayerController PC;
	var string Word;
};

var MutEvenkeel Keeper;
var EvenkeelClient Client;
var EvenkeelMover Mover;
var EvenkeelReasons Reasons;
var EvenkeelRoster Roster;
var EvenkeelVote Vote;

var array<Talker> Talkers;
var array<ChatCommand> Waiting;
var PlayerController RankFor;	// who waits for an answer to RANK
var float RankAt;				// since when

/** A player says something. The game may report one message twice. */
function Hear(PlayerController PC, string Msg)
{
	local int i;

	Msg = Caps(Msg);
	if ( !Keeper.bChat || (Waiting.Length >= MOST_WAITING) || ((Msg != "!WHY") && (Msg != "!RANK") && (Msg != "!BALANCE")) )
		return;
	for ( i = Talkers.Length - 1; i >= 0; i-- )
	{
		if ( (Talkers[i].PC == None) || (Level.TimeSeconds - Talkers[i].HeardAt >= EACH_TIME) )
			Talkers.Remove(i, 1);
		else if ( Talkers[i].PC == PC )
			return;
	}
	i = Talkers.Length;
	Talkers.Length = i + 1;
	Talkers[i].PC = PC;
	Talkers[i].HeardAt = Level.TimeSeconds;
	i = Waiting.Length;
	Waiting.Length = i + 1;
	Waiting[i].PC = PC;
	Waiting[i].Word = Msg;
}

/** Called by the mutator's timer, so that an answer comes after the question. */
function Think()
{
	local PlayerController PC;
	local string Word;

	if ( (RankFor != None) && (Level.TimeSeconds - RankAt > RANK_PATIENCE) )
		EndRank("the daemon did not answer in time.");
	EndVoteIfDue();
	while ( (Waiting.Length > 0) && (RankFor == None) )
	{
		PC = Waiting[0].PC;
		Word = Waiting[0].Word;
		Waiting.Remove(0, 1);
		if ( (PC == None) || PC.bDeleteMe || (PC.PlayerReplicationInfo == None) )
			continue;
		if ( Word == "!WHY" )
			Reasons.TellTo(PC);
		else if ( !Client.IsLive() )
			Answer(PC, "the daemon is away.");
		else if ( Word == "!RANK" )
			AskRank(PC);
		else
			Ballot(PC);
	}
}

function Answer(PlayerController PC, string Text)
{
	if ( (PC != None) && !PC.bDeleteMe )
		PC.ClientMessage("Evenkeel:" @ Text);
}

/** The connection is lost, or a game begins. */
function BeginAnew()
{
	RankFor = None;
	Vote.CloseVote();
}

//-----------------------------------------------------------------------------
// !rank

function AskRank(PlayerController PC)
{
	local int Seat;

	Seat = Roster.Find(PC.PlayerReplicationInfo);
	if ( Seat < 0 )
	{
		Answer(PC, "only players have ranks.");
		return;
	}
	RankFor = PC;
	RankAt = Level.TimeSeconds;
	Client.Ask("RANK" @ class'EvenkeelWords'.static.Quote(Roster.Seats[Seat].Id));
}

/** RANK <id> <division> <progress> <games> [<weight>] */
function HeardRank(string Rest)
{
	local string Division, Progress, Games, Text;

	class'EvenkeelWords'.static.Take(Rest);
	Division = class'EvenkeelWords'.static.Take(Rest);
	Progress = class'EvenkeelWords'.static.Take(Rest);
	Games = class'EvenkeelWords'.static.Take(Rest);
	if ( Division == "-" )
		Text = "you have no division yet";
	else
		Text = "your division is" @ Division $ "," @ class'EvenkeelWords'.static.Percent(float(Progress)) @ "of the way to the next";
	if ( Rest != "" )
		Text = Text $ ", weight" @ class'EvenkeelWords'.static.Shortened(Rest);
	if ( Games == "1" )
		EndRank(Text $ ", 1 rated game.");
	else
		EndRank(Text $ "," @ Games @ "rated games.");
}

/** Whether this error of the daemon's answers RANK. */
function bool HeardError(string Code)
{
	if ( (RankFor == None) || !(Code ~= "not-allowed") )
		return false;
	EndRank("there are no ranks on this server.");
	return true;
}

function EndRank(string Text)
{
	Answer(RankFor, Text);
	RankFor = None;
}

//-----------------------------------------------------------------------------
// !balance

/** A player votes. */
function Ballot(PlayerController PC)
{
	local int Seat, Wait;

	Seat = Roster.Find(PC.PlayerReplicationInfo);
	if ( Keeper.VotePercent <= 0 )
		Answer(PC, "players cannot vote on this server.");
	else if ( !MayBalance() )
		Answer(PC, "there is no game to balance now.");
	else if ( (Seat < 0) || !Vote.IsVoter(Seat) )
		Answer(PC, "only players on a team can vote.");
	else
	{
		if ( !Vote.bOpen )
		{
			Wait = Vote.WaitFor(Roster.Seats[Seat].Id);
			if ( Wait > 0 )
			{
				Answer(PC, "the next vote can begin in" @ Wait @ "seconds.");
				return;
			}
		}
		if ( !Vote.Agree(Roster.Seats[Seat].Id) )
			Answer(PC, "you have agreed already.");
		else if ( !Vote.Passes(Percent()) )
			Level.Game.Broadcast(Keeper, "Evenkeel: vote to balance the teams again:" @ Vote.Agreeing() @ "of" @ Vote.Needed(Percent()) @ "agree; say !balance to agree, too.");
		EndVoteIfDue();
	}
}

function int Percent()
{
	return Clamp(Keeper.VotePercent, 1, 99);
}

/** Whether people can change sides in this game, now. */
function bool MayBalance()
{
	return Keeper.bStarted && !Keeper.bEnded && Mover.CanMoveInPlay();
}

/** Ends the vote if it has passed, also because others left, or if its time is over. */
function EndVoteIfDue()
{
	if ( Vote.Passes(Percent()) && MayBalance() && Client.IsLive() )
	{
		Vote.CloseVote();
		Level.Game.Broadcast(Keeper, "Evenkeel: the vote has passed.");
		Client.Ask("REBALANCE");
		Client.Ask("EXPLAIN");
	}
	else if ( Vote.IsOver() )
	{
		Level.Game.Broadcast(Keeper, "Evenkeel: the vote has failed," @ Vote.Agreeing() @ "of" @ Vote.Needed(Percent()) @ "agreed.");
		Vote.CloseVote();
	}
}

/** REBALANCE asks for so many moves. */
function HeardAdvice(int Moves)
{
	if ( Moves == 0 )
		Level.Game.Broadcast(Keeper, "Evenkeel: the teams are even enough.");
	else if ( Moves == 1 )
		Level.Game.Broadcast(Keeper, "Evenkeel: 1 player changes sides after the next death.");
	else
		Level.Game.Broadcast(Keeper, "Evenkeel:" @ Moves @ "players change sides, each after the next death.");
}

defaultproperties
{
}
