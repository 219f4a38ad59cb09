//=============================================================================
// EvenkeelTeams: chooses teams while the daemon is away, by the weights that
// it reported last.
//
// At the start: all ways to split up to twelve humans, with bots of mean weight
// filling up both sides, and one of the most even splits at random. During
// play: the side on which a late arrival makes the game more even.
//=============================================================================
class EvenkeelTeams extends Info;

/** 2,048 splits; more would be felt as a pause. */
const MOST_HUMANS = 12;
/** The splits to pick from. */
const KEPT_BEST = 5;
/**
 * None is picked whose ratio is that much below the best. Weights are linear in strength: in four
 * against four this is two points, which makes 52 % of 50 %.
 */
const NEAR_BEST = 0.01;
/** Humans that one side may have more than the other, if bots make up for it and so many play. */
const MOST_APART = 2;
const MANY_HUMANS = 6;

/** Bit p of Sides is the team of member p. */
struct TeamSplit
{
	var float Ratio;
	var int Sides;
};

var MutEvenkeel Keeper;
var EvenkeelOrders Orders;
var EvenkeelRoster Roster;
var EvenkeelWeights Weights;
var EvenkeelBots Bots;

var TeamSplit Best[KEPT_BEST];
/** Seats of the humans to split, and their weights. */
var int Members[MOST_HUMANS];
var float Strength[MOST_HUMANS];
var int Count;
/** Of each team: the humans, the bots, and the weights of both. */
var int Humans[2], BotCount[2];
var float HumanSum[2], BotSum[2];

function float WeightOf(int Seat)
{
	if ( Roster.Seats[Seat].bBot )
		return Weights.OfBot(Roster.Seats[Seat].Id);
	return Weights.OfHuman(Roster.Seats[Seat].Id, Keeper.DefaultWeight);
}

/** Wants every human on a team for the game that starts. False if there are too few, or too many. */
function bool Choose()
{
	local int p, Sides, Changes;

	Collect();
	if ( (Count < 2) || (Count > MOST_HUMANS) )
		return false;
	WalkSplits();
	if ( Best[0].Ratio < 0.0 )
		return false;
	Sides = PickSplit();
	// A split and its mirror image are equally even; the one with fewer changes is chosen.
	for ( p = 0; p < Count; p++ )
		if ( Roster.TeamOf(Roster.Seats[Members[p]].PRI) != ((Sides >> p) & 1) )
			Changes++;
	if ( (2 * Changes > Count) || ((2 * Changes == Count) && (FRand() < 0.5)) )
		Sides = ~Sides;
	for ( p = 0; p < Count; p++ )
		Orders.WantSeat(Members[p], (Sides >> p) & 1);
	return true;
}

/** The humans to split. Count is larger than MOST_HUMANS if there are too many. */
function Collect()
{
	local int i;

	Count = 0;
	for ( i = 0; i < Roster.Seats.Length; i++ )
		if ( !Roster.Seats[i].bBot )
		{
			if ( Count < MOST_HUMANS )
			{
				Members[Count] = i;
				Strength[Count] = WeightOf(i);
			}
			Count++;
		}
}

/** Every split once: the last member stays on team 0, since mirror images are the same. */
function WalkSplits()
{
	local int Sides, Splits, p, t, Apart;

	for ( p = 0; p < KEPT_BEST; p++ )
		Best[p].Ratio = -1.0;
	Apart = 1;
	if ( (Count >= MANY_HUMANS) && (Bots.PlanFor(0) > 0) )
		Apart = MOST_APART;
	Splits = 1 << (Count - 1);
	for ( Sides = 0; Sides < Splits; Sides++ )
	{
		for ( t = 0; t < 2; t++ )
		{
			Humans[t] = 0;
			BotCount[t] = 0;
			HumanSum[t] = 0.0;
			BotSum[t] = 0.0;
		}
		for ( p = 0; p < Count; p++ )
		{
			t = (Sides >> p) & 1;
			Humans[t]++;
			HumanSum[t] += Strength[p];
		}
		if ( Max(Humans[0], Humans[1]) - Min(Humans[0], Humans[1]) <= Apart )
			KeepIfGood(Sides, RatioNow(true));
	}
}

/** Keeps the best splits in order, the most even one first. */
function KeepIfGood(int Sides, float Ratio)
{
	local int i, j;

	for ( i = 0; i < KEPT_BEST; i++ )
		if ( Ratio > Best[i].Ratio )
		{
			for ( j = KEPT_BEST - 1; j > i; j-- )
				Best[j] = Best[j - 1];
			Best[i].Ratio = Ratio;
			Best[i].Sides = Sides;
			return;
		}
}

/** One of the best splits, the more even ones with the greater probability. */
function int PickSplit()
{
	local float Sum, Pick;
	local int i, Candidates;

	for ( i = 0; i < KEPT_BEST; i++ )
		if ( (Best[i].Ratio >= 0.0) && (Best[i].Ratio >= Best[0].Ratio - NEAR_BEST) )
		{
			Candidates = i + 1;
			Sum += Best[i].Ratio;
		}
	Pick = FRand() * Sum;
	for ( i = 0; i < Candidates - 1; i++ )
	{
		Pick -= Best[i].Ratio;
		if ( Pick < 0.0 )
			break;
	}
	return Best[i].Sides;
}

/**
 * The weight of the weaker team divided by that of the stronger one, once bots have come and gone.
 * bAllNew: the bots of the game to come are not known yet.
 */
function float RatioNow(bool bAllNew)
{
	local float Sum[2];
	local int t, Size, Missing;

	Size = Bots.PlanFor(Max(Humans[0], Humans[1])) / 2;
	for ( t = 0; t < 2; t++ )
	{
		Missing = Max(Size - Humans[t], 0);
		Sum[t] = HumanSum[t];
		if ( !Bots.Manages() && !bAllNew )
			Sum[t] += BotSum[t];
		else if ( Missing <= BotCount[t] )
		{
			// Which ones go isn't known; the mean of those on the team counts.
			if ( BotCount[t] > 0 )
				Sum[t] += BotSum[t] * float(Missing) / float(BotCount[t]);
		}
		else
			Sum[t] += BotSum[t] + float(Missing - BotCount[t]) * Weights.OfAnyBot();
	}
	if ( FMax(Sum[0], Sum[1]) <= 0.0 )
		return 1.0;
	return FMin(Sum[0], Sum[1]) / FMax(Sum[0], Sum[1]);
}

/** The side for a late arrival: the one with fewer humans, or else the one that evens the game. */
function int SideFor(int Seat)
{
	local float Ratio[2], Own;
	local int t;

	CountTeams(Seat);
	if ( Humans[0] != Humans[1] )
	{
		if ( Humans[0] < Humans[1] )
			return 0;
		return 1;
	}
	Own = WeightOf(Seat);
	for ( t = 0; t < 2; t++ )
	{
		Humans[t]++;
		HumanSum[t] += Own;
		Ratio[t] = RatioNow(false);
		Humans[t]--;
		HumanSum[t] -= Own;
	}
	// Equally even: they stay where they are.
	if ( Ratio[0] == Ratio[1] )
		return Max(Roster.TeamOf(Roster.Seats[Seat].PRI), 0);
	if ( Ratio[0] > Ratio[1] )
		return 0;
	return 1;
}

/** Counts and weighs both teams, without this seat. */
function CountTeams(int Seat)
{
	local int i, t;

	for ( t = 0; t < 2; t++ )
	{
		Humans[t] = 0;
		BotCount[t] = 0;
		HumanSum[t] = 0.0;
		BotSum[t] = 0.0;
	}
	for ( i = 0; i < Roster.Seats.Length; i++ )
	{
		t = Roster.TeamOf(Roster.Seats[i].PRI);
		if ( (i == Seat) || (t < 0) || (t > 1) )
			continue;
		if ( Roster.Seats[i].bBot )
		{
			BotCount[t]++;
			BotSum[t] += WeightOf(i);
		}
		else
		{
			Humans[t]++;
			HumanSum[t] += WeightOf(i);
		}
	}
}

defaultproperties
{
}
