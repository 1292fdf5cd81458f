/* Raymond's algorithm on a binary tree of five processes with three requests each, as
 * plugins/mutex/raymond has it. Links keep no order: a channel holds what is on its way
 * sorted (!!), and any of it may come next (??). */
#define N 5
#define R 3
mtype = { request, privilege };
/* up[i-2] leads from process i to its parent i/2, down[i-2] back. */
chan up[N-1] = [2] of { mtype };
chan down[N-1] = [2] of { mtype };
bit inside;

#define me (_pid+1)
#define parent (me/2)
#define left (2*me)
#define right (2*me+1)

inline send(to, m) {
  if
  :: to == parent -> up[me-2]!!m
  :: else -> down[to-2]!!m
  fi
}

inline enqueue(who) { queue[size] = who; size++ }

inline proceed() {
  if
  :: holder == me && !using && size > 0 ->
     holder = queue[0]; queue[0] = queue[1]; queue[1] = queue[2]; queue[2] = queue[3]; queue[3] = 0;
     size--; asked = 0;
     if
     :: holder == me -> assert(!inside); inside = 1; using = 1; waiting = 0
     :: else -> send(holder, privilege)
     fi
  :: else
  fi;
  if
  :: holder != me && size > 0 && !asked -> asked = 1; send(holder, request)
  :: else
  fi
}

active [N] proctype P() {
  byte holder = (_pid == 0 -> 1 : parent);
  bit using, asked, waiting;
  byte todo = R;
  byte queue[4];
  byte size;
  do
  :: d_step { todo > 0 && !waiting && !using -> todo--; waiting = 1; enqueue(me); proceed() }
  :: d_step { using -> using = 0; inside = 0; proceed() }
  :: d_step { me > 1 && down[me-2]??[request] -> down[me-2]??request; enqueue(parent); proceed() }
  :: d_step { me > 1 && down[me-2]??[privilege] -> down[me-2]??privilege; holder = me; proceed() }
  :: d_step { left <= N && up[left-2]??[request] -> up[left-2]??request; enqueue(left); proceed() }
  :: d_step { left <= N && up[left-2]??[privilege] -> up[left-2]??privilege; holder = me; proceed() }
  :: d_step { right <= N && up[right-2]??[request] -> up[right-2]??request; enqueue(right); proceed() }
  :: d_step { right <= N && up[right-2]??[privilege] -> up[right-2]??privilege; holder = me; proceed() }
  od
}
