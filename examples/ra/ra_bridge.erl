%% A cluster of Ra's servers in one process, in which nothing happens by itself.
%%
%% The functions of ra_server and ra_log are Ra's own. What ra_server_proc does with the effects that they return is
%% done here: messages wait on links until the test delivers them, and events that a server tells itself come next.
%% Commands arrive, and what is observed leaves, in the external term format on standard input and output.
-module(ra_bridge).
-export([main/1, log/4]).

%% As in ra.hrl of Ra 2.2.0.
-record(append_entries_rpc, {term, leader_id, leader_commit, prev_log_index, prev_log_term, entries = []}).
-record(append_entries_reply, {term, success, next_index, last_index, last_term}).
-record(request_vote_rpc, {term, candidate_id, last_log_index, last_log_term}).
-record(request_vote_result, {term, vote_granted}).
-record(pre_vote_rpc, {version, machine_version, term, token, candidate_id, last_log_index, last_log_term}).
-record(pre_vote_result, {term, token, vote_granted}).

-record(server, {role, state, reason = none}).
-record(cluster, {folder, names, servers = #{}, links = #{}, replies = []}).

main(Folder) ->
    persistent_term:put('$ra_logger', ?MODULE),
    ets:new(ra_log_metrics, [named_table, public]),
    Port = open_port({fd, 0, 1}, [binary, {packet, 4}, eof]),
    loop(Port, #cluster{folder = Folder}).

%% Ra's logger.
log(_Level, _Format, _Arguments, _Meta) -> ok.

loop(Port, Cluster0) ->
    receive
        {Port, {data, Bytes}} ->
            {Answer, Cluster} = answer(binary_to_term(Bytes), Cluster0),
            port_command(Port, term_to_binary(Answer)),
            loop(Port, Cluster);
        {Port, eof} ->
            halt(0)
    end.

answer({start, Names}, #cluster{folder = Folder}) ->
    Cluster = start(Folder, Names),
    {observed(Cluster), Cluster};
answer({take, Step}, Cluster0) ->
    Cluster = take(Step, Cluster0),
    {observed(Cluster), Cluster};
answer({run, Names, Steps}, #cluster{folder = Folder}) ->
    Cluster = lists:foldl(fun take/2, start(Folder, Names), Steps),
    {observed(Cluster), Cluster}.

start(Folder, Names) ->
    Empty = #cluster{folder = Folder, names = Names, 
                     links = maps:from_list([{{F, T}, []} || F <- Names, T <- Names, F =/= T])},
    lists:foldl(fun fresh/2, Empty, Names).

%% A server with an empty disk. Ra is asked for it once, since it looks for its folder.
fresh(Name, #cluster{names = Names, servers = Servers} = Cluster) ->
    ra_log_wal:fresh(uid(Name)),
    ra_log_meta:fresh(uid(Name)),
    case get({fresh, Name, Names}) of
        undefined ->
            #cluster{servers = #{Name := Server}} = Begun = begin_server(Name, Cluster),
            put({fresh, Name, Names}, {Server, ra_log_wal:stored(uid(Name))}),
            Begun;
        {Server, Stored} ->
            ra_log_wal:store(uid(Name), Stored),
            Cluster#cluster{servers = Servers#{Name => Server}}
    end.

uid(Name) -> atom_to_binary(Name).

id(Name) -> {Name, node()}.

begin_server(Name, #cluster{folder = Folder, names = Names, servers = Servers} = Cluster) ->
    System = #{name => default, data_dir => Folder,
               names => #{wal => ra_log_wal, segment_writer => ra_log_segment_writer, log_meta => ra_log_meta}},
    Config = #{id => id(Name), uid => uid(Name), cluster_name => cluster, has_changed => false,
               initial_members => [id(Each) || Each <- Names], system_config => System,
               log_init_args => #{uid => uid(Name), resend_window => 1 bsl 40},
               machine => {simple, fun(Write, Done) -> Done ++ [Write] end, []}},
    State0 = ra_server:recover(ra_server:init(Config)),
    State = entered(follower, recover, State0),
    Cluster#cluster{servers = Servers#{Name => #server{role = follower, state = State}}}.

%% What can happen.

take({deliver, From, To}, #cluster{links = Links} = Cluster) ->
    [Message | Rest] = maps:get({From, To}, Links),
    event(To, From, Message, Cluster#cluster{links = Links#{{From, To} => Rest}});
take({lose, From, To}, #cluster{links = Links} = Cluster) ->
    [_ | Rest] = maps:get({From, To}, Links),
    Cluster#cluster{links = Links#{{From, To} => Rest}};
take({event, Name, Event}, Cluster) ->
    event(Name, none, Event, Cluster);
take({command, Name, Write}, Cluster) ->
    event(Name, none, {command, command(Write)}, Cluster);
take({join, Name, Other}, Cluster) ->
    event(Name, none, {command, {'$ra_join', #{ts => 0, from => 0}, id(Other), await_consensus}}, Cluster);
take({commands, Name, Writes}, Cluster) ->
    event(Name, none, {commands, [command(Write) || Write <- Writes]}, Cluster);
take({tick, Name}, #cluster{servers = Servers} = Cluster) ->
    #{Name := #server{state = State0} = Server} = Servers,
    try ra_server:make_rpcs(State0) of
        {State, Effects} ->
            effects(Name, none, Effects, Cluster#cluster{servers = Servers#{Name => Server#server{state = State}}})
    catch
        _:Reason -> crash(Name, Reason, Cluster)
    end;
take({status, Name, Peer, Status}, #cluster{servers = Servers} = Cluster) ->
    #{Name := #server{state = State0} = Server} = Servers,
    State = ra_server:update_peer(id(Peer), #{status => Status}, State0),
    Cluster#cluster{servers = Servers#{Name => Server#server{state = State}}};
take({flush, Name}, Cluster) ->
    event(Name, none, {ra_log_event, ra_log_wal:flush(uid(Name))}, Cluster);
take({stop, Name}, Cluster) ->
    crash(Name, stopped, Cluster);
take({restart, Name}, #cluster{links = Links} = Cluster) ->
    ra_log_wal:lose_waiting(uid(Name)),
    Cleared = maps:map(fun({_, To}, _) when To =:= Name -> []; (_, Messages) -> Messages end, Links),
    begin_server(Name, Cluster#cluster{links = Cleared}).

command(Write) -> {'$usr', #{ts => 0, from => Write}, Write, await_consensus}.

event(Name, From, Event, #cluster{servers = Servers} = Cluster) ->
    #{Name := #server{role = Role, state = State0}} = Servers,
    try handled(Role, Event, State0) of
        {NextRole, State1, Effects} ->
            State = case NextRole of
                        Role -> State1;
                        _ -> entered(NextRole, Role, State1)
                    end,
            Next = #server{role = NextRole, state = State},
            effects(Name, From, Effects, Cluster#cluster{servers = Servers#{Name => Next}})
    catch
        _:Reason -> crash(Name, Reason, Cluster)
    end.

%% From 2.11 on, Ra is told of the role before, too.
entered(Role, Before, State) ->
    case erlang:function_exported(ra_server, handle_state_enter, 3) of
        true -> element(1, ra_server:handle_state_enter(Role, Before, State));
        false -> element(1, ra_server:handle_state_enter(Role, State))
    end.

handled(crashed, _, State) -> {crashed, State, []};
handled(leader, Event, State) -> ra_server:handle_leader(Event, State);
handled(candidate, Event, State) -> ra_server:handle_candidate(Event, State);
handled(pre_vote, Event, State) -> ra_server:handle_pre_vote(Event, State);
handled(follower, Event, State) -> ra_server:handle_follower(Event, State);
handled(await_condition, Event, State) -> ra_server:handle_await_condition(Event, State).

crash(Name, Reason, #cluster{servers = Servers} = Cluster) ->
    #{Name := Server} = Servers,
    Shown = list_to_atom(lists:sublist(lists:flatten(io_lib:format("~0p", [Reason])), 200)),
    Cluster#cluster{servers = Servers#{Name => Server#server{role = crashed, reason = Shown}}}.

%% As ra_server_proc does: messages leave first, then the server handles what it told itself.
effects(Name, From, Effects, Cluster0) ->
    {Cluster, Events} = lists:foldl(fun(Effect, Acc) -> effect(Name, From, Effect, Acc) end, {Cluster0, []}, Effects),
    lists:foldl(fun(Event, Acc) -> event(Name, From, Event, Acc) end, Cluster, lists:reverse(Events)).

effect(Name, From, Effects, Acc) when is_list(Effects) ->
    lists:foldl(fun(Effect, Each) -> effect(Name, From, Effect, Each) end, Acc, Effects);
effect(_, _, {next_event, Event}, {Cluster, Events}) -> {Cluster, [Event | Events]};
effect(_, _, {next_event, _Type, Event}, {Cluster, Events}) -> {Cluster, [Event | Events]};
effect(Name, _, {cast, {To, _}, Message}, {Cluster, Events}) -> {send(Name, To, Message, Cluster), Events};
effect(Name, _, {send_rpc, {To, _}, Message}, {Cluster, Events}) -> {send(Name, To, Message, Cluster), Events};
effect(Name, _, {send_vote_requests, Requests}, {Cluster, Events}) ->
    {lists:foldl(fun({{To, _}, Message}, Each) -> send(Name, To, Message, Each) end, Cluster, Requests), Events};
effect(_, _, {reply, {error, _}}, Acc) -> Acc; % a request that later releases do not know in this role
effect(Name, From, {reply, Message}, {Cluster, Events}) -> {send(Name, From, Message, Cluster), Events};
effect(_, _, {reply, 0, _}, Acc) -> Acc; % to who asked for a change of the cluster
effect(_, _, {reply, Write, {wrap_reply, _}}, {#cluster{replies = Replies} = Cluster, Events}) ->
    {Cluster#cluster{replies = Replies ++ [Write]}, Events};
effect(_, _, {record_leader_msg, _}, Acc) -> Acc;
effect(_, _, {aux, _}, Acc) -> Acc;
effect(_, _, start_election_timeout, Acc) -> Acc.

send(From, To, Message, #cluster{links = Links} = Cluster) ->
    case Links of
        #{{From, To} := Messages} -> Cluster#cluster{links = Links#{{From, To} => Messages ++ [Message]}};
        _ -> Cluster
    end.

%% What is observed.

observed(#cluster{names = Names, servers = Servers, links = Links, replies = Replies}) ->
    Tokens = maps:map(fun(_, #server{role = crashed}) -> none;
                         (_, #server{state = State}) -> maps:get(pre_vote_token, State, none)
                      end, Servers),
    {[observed(Name, maps:get(Name, Servers), Names) || Name <- Names],
     [{From, To, [shown(Message, From, To, Tokens) || Message <- Messages]} ||
         {{From, To}, Messages} <- maps:to_list(Links)],
     Replies}.

observed(Name, #server{role = Role, state = State, reason = Reason}, Names) ->
    #{current_term := Term, voted_for := Vote, log := Log, commit_index := Commit, last_applied := Applied,
      cluster := Peers} = State,
    {_, Done} = ra_server:machine_query(fun(Each) -> Each end, State),
    {Role, Term, name(Vote), name(ra_log_meta:fetch(ra_log_meta, uid(Name), voted_for)), maps:get(votes, State, 0),
     name(maps:get(leader_id, State, undefined)), [entry(Entry) || Entry <- entries(Log)], ra_log:last_index_term(Log),
     ra_log:last_written(Log), Commit, Applied, [peer(Each, Peers) || Each <- Names],
     Done, [[positioned(Entry) || Entry <- Batch] || Batch <- ra_log_wal:waiting(uid(Name))],
     [entry(Entry) || {Index, _, _} = Entry <- ra_log_wal:stored(uid(Name)), Index > 0], Reason}.

%% Releases differ in how a log is read.
entries(Log) ->
    {Last, _} = ra_log:last_index_term(Log),
    case erlang:function_exported(ra_log, take, 3) of
        true -> element(1, ra_log:take(1, Last, Log));
        false -> lists:reverse(element(1, ra_log:fold(1, Last, fun(Entry, Before) -> [Entry | Before] end, [], Log)))
    end.

name(undefined) -> none;
name({Name, _Node}) -> Name.

peer(Name, Peers) ->
    case maps:get(id(Name), Peers, none) of
        #{next_index := Next, match_index := Match, commit_index_sent := Sent, status := Status} ->
            {Next, Match, Sent, Status};
        none -> none
    end.

positioned({Index, _, _} = Entry) -> {Index, entry(Entry)}.

%% An entry's term and write; 0 is a noop, -1 a change of the cluster.
entry({_, Term, {'$usr', _, Write, _}}) -> {Term, Write};
entry({_, Term, {'$ra_cluster_change', _, _, _}}) -> {Term, -1};
entry({_, Term, {noop, _, _}}) -> {Term, 0}.

shown(#append_entries_rpc{term = Term, prev_log_index = Previous, prev_log_term = PreviousTerm,
                          leader_commit = Commit, entries = Entries}, _, _, _) ->
    {append_entries_rpc, Term, Previous, PreviousTerm, Commit, [entry(Entry) || Entry <- Entries]};
shown({_, #append_entries_reply{term = Term, success = Success, next_index = Next, last_index = Last,
                                last_term = LastTerm}}, _, _, _) ->
    {append_entries_reply, Term, Success, Next, Last, LastTerm};
shown(#request_vote_rpc{term = Term, last_log_index = Last, last_log_term = LastTerm}, _, _, _) ->
    {request_vote_rpc, Term, Last, LastTerm};
shown(#request_vote_result{term = Term, vote_granted = Granted}, _, _, _) ->
    {request_vote_result, Term, Granted};
shown(#pre_vote_rpc{term = Term, token = Token, last_log_index = Last, last_log_term = LastTerm}, From, _, Tokens) ->
    {pre_vote_rpc, Term, Token =:= maps:get(From, Tokens), Last, LastTerm};
shown(#pre_vote_result{term = Term, token = Token, vote_granted = Granted}, _, To, Tokens) ->
    {pre_vote_result, Term, Token =:= maps:get(To, Tokens), Granted}.
