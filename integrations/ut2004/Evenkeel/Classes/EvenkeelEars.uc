//=============================================================================
// EvenkeelEars: hears what players say, for the commands of EvenkeelChat.
//
// It changes nothing about who reads what. The game asks it about each receiver
// of a message; the sender is one of them.
//=============================================================================
class EvenkeelEars extends BroadcastHandler;

var EvenkeelChat Chat;

function bool AcceptBroadcastText(PlayerController Receiver, PlayerReplicationInfo SenderPRI, out string Msg, optional name Type)
{
	if ( (Chat != None) && (Receiver != None) && (SenderPRI != None) && (Receiver.PlayerReplicationInfo == SenderPRI)
		&& ((Type == 'Say') || (Type == 'TeamSay')) )
		Chat.Hear(Receiver, Msg);
	return Super.AcceptBroadcastText(Receiver, SenderPRI, Msg, Type);
}

/** The stock handler shows its own settings; they are not to be shown twice. */
static function FillPlayInfo(PlayInfo PlayInfo)
{
	PlayInfo.AddClass(default.Class);
}

defaultproperties
{
}
