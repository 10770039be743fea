%% Stands for the store of term and vote; whatever is stored is on disk at once.
-module(ra_log_meta).
-export([fresh/1, fetch/3, fetch/4, store/4, store_sync/4]).

fresh(UId) ->
    put({meta, UId}, #{}).

fetch(Name, UId, Key) ->
    fetch(Name, UId, Key, undefined).

fetch(_Name, UId, Key, Default) ->
    maps:get(Key, get({meta, UId}), Default).

store(_Name, UId, Key, Value) ->
    put({meta, UId}, (get({meta, UId}))#{Key => Value}),
    ok.

store_sync(Name, UId, Key, Value) ->
    store(Name, UId, Key, Value).
