//=============================================================================
// EvenkeelWords: a protocol line's words, written and read.
//
// Nothing that a player chose may end a line or an argument: what comes from
// outside goes through Quote on its way out.
//=============================================================================
class EvenkeelWords extends Object
	abstract;

const QUOTATION = 34;
const BACKSLASH = 92;

/** Text with no character in it that a line of Windows-1252 cannot hold. */
static final function string Clean(string Text)
{
	local string Result;
	local int i, Code;

	for ( i = 0; i < Len(Text); i++ )
	{
		Code = Asc(Mid(Text, i, 1));
		if ( (Code < 32) || (Code == 127) )
			Result = Result $ "_";
		else if ( Code > 255 )
			Result = Result $ "?";
		else
			Result = Result $ Mid(Text, i, 1);
	}
	return Result;
}

/** Whether the daemon takes this for the id of nobody: nothing but zeros, dashes and spaces. */
static final function bool IsNobody(string Text)
{
	local int i, Code;

	for ( i = 0; i < Len(Text); i++ )
	{
		Code = Asc(Mid(Text, i, 1));
		if ( (Code != 48) && (Code != 45) && (Code != 32) )
			return false;
	}
	return true;
}

/** Whether this is 16 or more hexadecimal digits, as a hash is. */
static final function bool IsHex(string Text)
{
	local int i, Code;

	if ( Len(Text) < 16 )
		return false;
	Text = Caps(Text);
	for ( i = 0; i < Len(Text); i++ )
	{
		Code = Asc(Mid(Text, i, 1));
		if ( ((Code < 48) || (Code > 57)) && ((Code < 65) || (Code > 70)) )
			return false;
	}
	return true;
}

/** Text as one argument: bare where that is safe, otherwise in quotes. */
static final function string Quote(string Text)
{
	local string Result, Letter;
	local int i, Code;
	local bool bBare;

	Text = Clean(Text);
	bBare = (Text != "");
	for ( i = 0; i < Len(Text); i++ )
	{
		Letter = Mid(Text, i, 1);
		Code = Asc(Letter);
		if ( !IsPlain(Code) )
			bBare = false;
		if ( (Code == QUOTATION) || (Code == BACKSLASH) )
			Result = Result $ Chr(BACKSLASH);
		Result = Result $ Letter;
	}
	if ( bBare )
		return Result;
	return Chr(QUOTATION) $ Result $ Chr(QUOTATION);
}

/** Letters, digits, and - . _ */
static final function bool IsPlain(int Code)
{
	if ( (Code >= 48) && (Code <= 57) )
		return true;
	if ( (Code >= 65) && (Code <= 90) )
		return true;
	if ( (Code >= 97) && (Code <= 122) )
		return true;
	return (Code == 45) || (Code == 46) || (Code == 95);
}

/** Takes the next word off Rest, quoted or not. False when there is none. */
static final function bool NextWord(out string Rest, out string Word)
{
	local int i, Code;

	Word = "";
	Rest = WithoutBlanks(Rest);
	if ( Rest == "" )
		return false;
	if ( Asc(Rest) == QUOTATION )
		return NextQuoted(Rest, Word);
	for ( i = 0; i < Len(Rest); i++ )
	{
		Code = Asc(Mid(Rest, i, 1));
		if ( Code <= 32 )
			break;
	}
	Word = Left(Rest, i);
	Rest = WithoutBlanks(Mid(Rest, i));
	return true;
}

/** Text from its first letter on. */
static final function string WithoutBlanks(string Text)
{
	while ( (Text != "") && (Asc(Text) <= 32) )
		Text = Mid(Text, 1);
	return Text;
}

/** NextWord, where Rest begins with a quotation mark. */
static final function bool NextQuoted(out string Rest, out string Word)
{
	local string Letter;
	local int i, Code;

	for ( i = 1; i < Len(Rest); i++ )
	{
		Letter = Mid(Rest, i, 1);
		Code = Asc(Letter);
		if ( Code == QUOTATION )
			break;
		if ( (Code == BACKSLASH) && (i + 1 < Len(Rest)) )
		{
			i++;
			Letter = Mid(Rest, i, 1);
		}
		Word = Word $ Letter;
	}
	Rest = WithoutBlanks(Mid(Rest, i + 1));
	return true;
}

/** The next word of Rest, or nothing. */
static final function string Take(out string Rest)
{
	local string Word;

	NextWord(Rest, Word);
	return Word;
}

/** A share of one as people read it. */
static final function string Percent(float Share)
{
	return int(FClamp(Share, 0.0, 9.99) * 100.0 + 0.5) @ "%";
}

/** Where a word stands in a text, and not within a longer word; -1: nowhere. */
static final function int WordAt(string Text, string Word)
{
	local int At, From;

	if ( Word == "" )
		return -1;
	At = InStr(Text, Word);
	while ( At >= 0 )
	{
		At += From;
		if ( !IsWithin(Text, At - 1) && !IsWithin(Text, At + Len(Word)) )
			return At;
		From = At + 1;
		At = InStr(Mid(Text, From), Word);
	}
	return -1;
}

/** Whether a letter or digit stands there. */
static final function bool IsWithin(string Text, int At)
{
	local int Code;

	if ( (At < 0) || (At >= Len(Text)) )
		return false;
	Code = Asc(Mid(Text, At, 1));
	return IsDigit(Code) || ((Code >= 65) && (Code <= 90)) || ((Code >= 97) && (Code <= 122)) || (Code > 191);
}

static final function bool IsDigit(int Code)
{
	return (Code >= 48) && (Code <= 57);
}

/** Text with each word Old replaced. */
static final function string Swapped(string Text, string Old, string With)
{
	local string Result;
	local int At;

	At = WordAt(Text, Old);
	while ( At >= 0 )
	{
		Result = Result $ Left(Text, At) $ With;
		Text = Mid(Text, At + Len(Old));
		At = WordAt(Text, Old);
	}
	return Result $ Text;
}

/** Text whose decimals have two places at most. */
static final function string Shortened(string Text)
{
	local string Result;
	local int i, Code, Places;
	local bool bDecimal;

	// Cut, not rounded: no chance is told as larger than it is.
	for ( i = 0; i < Len(Text); i++ )
	{
		Code = Asc(Mid(Text, i, 1));
		if ( IsDigit(Code) )
		{
			if ( bDecimal )
				Places++;
		}
		else
		{
			bDecimal = (Code == 46) && !bDecimal && (i > 0) && IsDigit(Asc(Mid(Text, i - 1, 1)));
			Places = 0;
		}
		if ( Places <= 2 )
			Result = Result $ Mid(Text, i, 1);
	}
	return Result;
}

defaultproperties
{
}
