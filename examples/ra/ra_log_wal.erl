%% Stands for Ra's write-ahead log: a write waits until the test says that it is on disk.
-module(ra_log_wal).
-export([write/5, write_batch/2, truncate_write/5, fresh/1, waiting/1, stored/1, lose_waiting/1, flush/1, store/2]).

fresh(UId) ->
    put({waiting, UId}, []),
    put({stored, UId}, []).

write({UId, _Writer}, _Wal, Index, Term, Command) ->
    add(UId, [{Index, Term, Command}]).

truncate_write(Writer, Wal, Index, Term, Command) ->
    write(Writer, Wal, Index, Term, Command).

write_batch(_Wal, [{append, {UId, _Writer}, _, _, _} | _] = Commands) ->
    add(UId, [{Index, Term, Command} || {append, _, Index, Term, Command} <- Commands]).

%% Every log begins with an entry of index 0, for whose write ra_log:init waits.
add(UId, [{0, Term, _} | _] = Entries) ->
    store(UId, Entries),
    self() ! {ra_log_event, {written, {0, 0, Term}}},
    taken();
add(UId, Entries) ->
    put({waiting, UId}, get({waiting, UId}) ++ [Entries]),
    taken().

%% From 2.10 on, ra_log is told which process writes.
taken() ->
    case erlang:function_exported(ra_log, reset_to_last_known_written, 1) of
        true -> {ok, self()};
        false -> ok
    end.

waiting(UId) ->
    get({waiting, UId}).

stored(UId) ->
    get({stored, UId}).

lose_waiting(UId) ->
    put({waiting, UId}, []).

%% The oldest write reaches the disk; the event is what the write-ahead log tells the server.
flush(UId) ->
    [[{First, _, _} | _] = Entries | Rest] = get({waiting, UId}),
    put({waiting, UId}, Rest),
    store(UId, Entries),
    {Last, Term, _} = lists:last(Entries),
    {written, {First, Last, Term}}.

store(UId, [{First, _, _} | _] = Entries) ->
    put({stored, UId}, [Kept || {Index, _, _} = Kept <- get({stored, UId}), Index < First] ++ Entries).
