%% There are no snapshots.
-module(ra_snapshot).
-export([init/3, current/1, pending/1, recover/1]).

init(_UId, _Module, _Folder) -> none.

current(none) -> undefined.

pending(none) -> undefined.

recover(none) -> {error, no_current_snapshot}.
