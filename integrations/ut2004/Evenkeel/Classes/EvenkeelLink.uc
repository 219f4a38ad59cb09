//=============================================================================
// EvenkeelLink: one TCP connection to the daemon.
//
// It is spawned for one attempt and thrown away after it; EvenkeelClient
// decides when to try again. It never destroys itself, since its events come
// from native code that still uses it.
//
// Text arrives in pieces that end anywhere, so lines are put together here.
//=============================================================================
class EvenkeelLink extends TcpLink;

/** Characters of a line that has not ended; far more than the daemon ever sends. */
const MOST_PENDING = 8192;

/** Who listens; None once this connection is given up. */
var EvenkeelClient Client;
/** Where the daemon listens. */
var int DaemonPort;
/** What has arrived of a line that has not ended. */
var string Pending;

function Dial(string HostName, int PortNumber)
{
	local IpAddr Addr;

	DaemonPort = PortNumber;
	// These two don't survive as default properties.
	LinkMode = MODE_Text;
	ReceiveMode = RMODE_Event;
	// An address needs no name server, which may be slow or away.
	if ( IsAddress(HostName) && StringToIpAddr(HostName, Addr) )
		OpenTo(Addr);
	else
		Resolve(HostName);
}

/** Whether this is an address in numbers, not a name. */
function bool IsAddress(string HostName)
{
	local int i, Code;

	for ( i = 0; i < Len(HostName); i++ )
	{
		Code = Asc(Mid(HostName, i, 1));
		if ( (Code != 46) && ((Code < 48) || (Code > 57)) )
			return false;
	}
	return (HostName != "");
}

function OpenTo(IpAddr Addr)
{
	if ( Client == None )
		return;
	Addr.Port = DaemonPort;
	if ( BindPort() == 0 )
		Client.LinkLost(self, "no free port here");
	else if ( !Open(Addr) )
		Client.LinkLost(self, "cannot open a connection, error" @ GetLastError());
}

event Resolved(IpAddr Addr)
{
	OpenTo(Addr);
}

event ResolveFailed()
{
	if ( Client != None )
		Client.LinkLost(self, "its name cannot be resolved");
}

event Opened()
{
	if ( Client != None )
		Client.LinkOpened(self);
}

event Closed()
{
	if ( Client != None )
		Client.LinkLost(self, "closed");
}

/** Sends one line to the daemon. In text mode nothing is added to what is sent. */
function SendLine(string Line)
{
	if ( IsConnected() )
		SendText(Line $ Chr(13) $ Chr(10));
}

/** A piece of a line, or several lines. */
event ReceivedText(string Text)
{
	local string Line;
	local int End;

	Pending = Pending $ Text;
	End = InStr(Pending, Chr(10));
	while ( (End >= 0) && (Client != None) )
	{
		Line = Left(Pending, End);
		Pending = Mid(Pending, End + 1);
		PassOn(Line);
		End = InStr(Pending, Chr(10));
	}
	if ( Len(Pending) > MOST_PENDING )
	{
		Pending = "";
		if ( Client != None )
			Client.LinkLost(self, "it sent a line without an end");
	}
}

/** One line without its LF; a CR before that goes, too. */
function PassOn(string Line)
{
	if ( Right(Line, 1) == Chr(13) )
		Line = Left(Line, Len(Line) - 1);
	if ( Line != "" )
		Client.Heard(self, Line);
}

defaultproperties
{
}
