/* Dolev, Klawe and Rodeh's election on a ring of eight processes, each of which may begin,
 * as plugins/election/dolevklawerodeh has it. */
#define N 8
mtype = { one, two, elected };
/* q[i] leads from process i-1 to process i. */
chan q[N] = [8] of { mtype, byte };
/* What is only used within a step is no part of the state. */
hidden mtype m;
hidden byte x;


inline announce(leader) {
  if
  :: leader > told -> told = leader; next!elected(leader)
  :: else
  fi
}

active [N] proctype P() {
  chan before_me = q[_pid];
  chan next = q[(_pid+1)%N];
  xr before_me; xs next;
  bit todo = 1, taken, active_;
  byte value, before, told;
  do
  :: d_step { todo -> todo = 0;
       if
       :: !taken -> taken = 1; active_ = 1; value = _pid+1; next!one(value)
       :: else
       fi }
  :: d_step { before_me?m,x ->
       if
       :: m == elected -> announce(x)
       :: m != elected && !active_ -> taken = 1; next!m(x)
       :: m == one && active_ ->
          if
          :: x == value -> announce(value)
          :: else -> before = x; next!two(x)
          fi
       :: m == two && active_ ->
          active_ = (before > value && before >= x);
          if
          :: active_ -> value = before; next!one(value)
          :: else
          fi
       fi }
  od
}
