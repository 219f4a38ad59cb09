//=============================================================================
// EvenkeelVote: a vote of the humans on teams to balance the teams again.
//
// It passes once more than so many percent of them agree. A vote is open for 30
// seconds; the next one may begin a minute later, and each player may begin one
// in five minutes.
//=============================================================================
class EvenkeelVote extends Info;

/** Seconds. */
const OPEN_TIME = 30.0;
const NEXT_TIME = 60.0;
const OWN_TIME = 300.0;

/** Somebody who has begun a vote, and when they may begin another. */
struct VoteStarter
{
	var string Id;
	var float MayAt;
};

var EvenkeelRoster Roster;
var array<string> Agreed;
var array<VoteStarter> Starters;
var bool bOpen;
var float EndsAt, NextAt;

/** Humans who may vote. */
function int Voters()
{
	local int i, Count;

	for ( i = 0; i < Roster.Seats.Length; i++ )
		if ( IsVoter(i) )
			Count++;
	return Count;
}

function bool IsVoter(int i)
{
	return !Roster.Seats[i].bBot && (Roster.TeamOf(Roster.Seats[i].PRI) >= 0);
}

/** Those who agree and may still vote. */
function int Agreeing()
{
	local int i, Count;

	for ( i = 0; i < Roster.Seats.Length; i++ )
		if ( IsVoter(i) && HasAgreed(Roster.Seats[i].Id) )
			Count++;
	return Count;
}

function bool HasAgreed(string Id)
{
	local int i;

	for ( i = 0; i < Agreed.Length; i++ )
		if ( Agreed[i] == Id )
			return true;
	return false;
}

function int Needed(int Percent)
{
	return Voters() * Percent / 100 + 1;
}

function bool Passes(int Percent)
{
	return bOpen && (Agreeing() >= Needed(Percent));
}

/** Seconds until this player may begin a vote. */
function int WaitFor(string Id)
{
	local float MayAt;
	local int i;

	MayAt = NextAt;
	for ( i = Starters.Length - 1; i >= 0; i-- )
	{
		if ( Starters[i].MayAt <= Level.TimeSeconds )
			Starters.Remove(i, 1);
		else if ( Starters[i].Id == Id )
			MayAt = FMax(MayAt, Starters[i].MayAt);
	}
	return int(FMax(MayAt - Level.TimeSeconds, 0.0) + 0.99);
}

/** This player agrees; the first one begins the vote. False if they had agreed before. */
function bool Agree(string Id)
{
	local int i;

	if ( !bOpen )
	{
		bOpen = true;
		EndsAt = Level.TimeSeconds + OPEN_TIME;
		Agreed.Length = 0;
		i = Starters.Length;
		Starters.Length = i + 1;
		Starters[i].Id = Id;
		Starters[i].MayAt = Level.TimeSeconds + OWN_TIME;
	}
	if ( HasAgreed(Id) )
		return false;
	Agreed[Agreed.Length] = Id;
	return true;
}

/** Whether the time of an open vote is over. */
function bool IsOver()
{
	return bOpen && (Level.TimeSeconds >= EndsAt);
}

/** Ends the vote. */
function CloseVote()
{
	if ( bOpen )
		NextAt = Level.TimeSeconds + NEXT_TIME;
	bOpen = false;
}

defaultproperties
{
}
