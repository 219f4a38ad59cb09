// !even moves everybody to even teams. For SourceMod with the extension "REST in Pawn" (ripext).
#include <sourcemod>
#include <sdktools>
#include <ripext>

#define DAEMON "http://127.0.0.1:7998" // the address of the daemon's pages
#define TOKEN "Bearer ..." // the token of a client with the right "ask"
public void OnPluginStart() { RegAdminCmd("sm_even", Even, ADMFLAG_GENERIC, "Moves everybody to even teams"); }

Action Even(int admin, int words) {
    char id[32], text[8192] = "{\"ruleset\":\"ctf\",\"players\":[";
    for (int client = 1; client <= MaxClients; client++) {
        if (!IsClientInGame(client) || GetClientTeam(client) < 2 || !GetClientAuthId(client, AuthId_Steam3, id, sizeof(id))) continue;
        Format(text, sizeof(text), "%s%s{\"id\":\"%s\"}", text, StrContains(text, "}") < 0 ? "" : ",", id);
    }
    StrCat(text, sizeof(text), "]}");
    JSONObject question = JSONObject.FromString(text);
    HTTPClient daemon = new HTTPClient(DAEMON);
    daemon.SetHeader("Authorization", TOKEN);
    daemon.Post("v1/teams", question, OnTeams);
    delete question;
    delete daemon;
    return Plugin_Handled;
}

void OnTeams(HTTPResponse response, any value, const char[] error) {
    char id[32], text[8192];
    if (response.Status != HTTPStatus_OK) { LogError("Evenkeel: status %d %s", response.Status, error); return; }
    JSONArray teams = view_as<JSONArray>(view_as<JSONObject>(response.Data).Get("teams"));
    for (int team = 0; team < teams.Length; team++) {
        JSON side = teams.Get(team);
        side.ToString(text, sizeof(text));
        delete side;
        for (int client = 1; client <= MaxClients; client++)
            if (IsClientInGame(client) && GetClientAuthId(client, AuthId_Steam3, id, sizeof(id)) && StrContains(text, id) >= 0)
                ChangeClientTeam(client, team + 2);
    }
    delete teams;
}
