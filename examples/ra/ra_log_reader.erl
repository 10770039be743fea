%% Stands for Ra's reader of entries that are on disk, its memory tables included. Its state is the server's uid.
-module(ra_log_reader).
-export([init/8, close/1, update_segments/2, update_first_index/2, segment_refs/1, num_open_segments/1,
         closed_mem_tables/1, open_mem_table_lookup/1, read/4, fold/5, range_overlap/4, sparse_read/3,
         fetch_term/2]).

init(UId, _Folder, _First, _MaxOpen, _Pattern, _Segments, _Names, _Counter) -> UId.

close(_UId) -> ok.

update_segments(_Segments, UId) -> UId.

update_first_index(_First, UId) -> {UId, []}.

segment_refs(_UId) -> [].

num_open_segments(_UId) -> 0.

closed_mem_tables(_UId) -> [].

open_mem_table_lookup(UId) ->
    case ra_log_wal:stored(UId) of
        [] -> [];
        [{First, _, _} | _] = Entries -> {Last, _, _} = lists:last(Entries), [{UId, First, Last, none}]
    end.

read(From, To, UId, Entries) ->
    Found = [Entry || {Index, _, _} = Entry <- ra_log_wal:stored(UId), Index >= From, Index =< To],
    {Found ++ Entries, length(Found), UId}.

%% From 2.4 on, ra_log reads so, and asks which part of a range its cache has.
fold(From, To, Function, Before, UId) ->
    {Found, _, _} = read(From, To, UId, []),
    {UId, lists:foldl(Function, Before, Found)}.

range_overlap(From, To, First, Last) when First =< To, From =< Last ->
    Begin = max(From, First),
    {Begin, min(To, Last), From, Begin - 1};
range_overlap(From, To, _First, _Last) ->
    {undefined, From, To}.

sparse_read(UId, Indexes, Entries) ->
    Found = [Entry || Wanted <- Indexes, {Index, _, _} = Entry <- ra_log_wal:stored(UId), Index =:= Wanted],
    {lists:foldl(fun(Entry, Others) -> [Entry | Others] end, Entries, Found), UId}.

fetch_term(Wanted, UId) ->
    case lists:keyfind(Wanted, 1, ra_log_wal:stored(UId)) of
        {_, Term, _} -> {Term, UId};
        false -> {undefined, UId}
    end.
