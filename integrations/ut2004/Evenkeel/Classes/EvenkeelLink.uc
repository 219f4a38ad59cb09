//=============================================================================
// EvenkeelLink: one TCP connection to the daemon.
//
// It is spawned for one attempt and thrown away after it; EvenkeelClient
// decides when to try again. It never destroys itself, since its events come
// from native code that still uses it.
//=============================================================================
class EvenkeelLink extends TcpLink;

/** Who listens; None once this connection is given up. */
var EvenkeelClient Client;
/** Where the daemon listens. */
var int DaemonPort;

function Dial(string HostName, int PortNumber)
{
	DaemonPort = PortNumber;
	// These two don't survive as default properties.
	LinkMode = MODE_Line;
	ReceiveMode = RMODE_Event;
	InLineMode = LMODE_auto;
	OutLineMode = LMODE_DOS;
	Resolve(HostName);
}

event Resolved(IpAddr Addr)
{
	if ( Client == None )
		return;
	Addr.Port = DaemonPort;
	if ( BindPort() == 0 )
		Client.LinkLost(self, "no free port here");
	else if ( !Open(Addr) )
		Client.LinkLost(self, "cannot open a connection, error" @ GetLastError());
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

/** One line to the daemon. In line mode SendText ends it with CRLF. */
function SendLine(string Line)
{
	if ( IsConnected() )
		SendText(Line);
}

/** One line, or several, whatever ends them. */
event ReceivedLine(string Line)
{
	local int i, Start, Code;

	for ( i = 0; i < Len(Line); i++ )
	{
		Code = Asc(Mid(Line, i, 1));
		if ( (Code == 10) || (Code == 13) )
		{
			PassOn(Mid(Line, Start, i - Start));
			Start = i + 1;
		}
	}
	PassOn(Mid(Line, Start));
}

function PassOn(string Line)
{
	if ( (Line != "") && (Client != None) )
		Client.Heard(self, Line);
}

defaultproperties
{
}
