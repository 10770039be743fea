%% There are no snapshots.
-module(ra_snapshot).
-export([init/3, init/6, current/1, latest_checkpoint/1, pending/1, recover/1]).

init(_UId, _Module, _Folder) -> none.

init(_UId, _Module, _Snapshots, _Checkpoints, _Counter, _Most) -> none.

current(none) -> undefined.

latest_checkpoint(none) -> undefined.

pending(none) -> undefined.

recover(none) -> {error, no_current_snapshot}.
