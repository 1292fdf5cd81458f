package diagram

// style is what a diagram looks like. Everything stands below the class st, so that a
// page may hold several; colours are variables, which a page may set. The kinds of
// messages differ in dash as well: colour alone does not reach everybody.
const style = `
.st{--bg:#ffffff;--fg:#1f2328;--dim:#6e7781;--line:#8c959f;--grid:#eaeef2;--bad:#cf222e;--hot:#bc4c00;
--wait:#bf8700;--cs:#1a7f37;--band:#fff1e5;
--k0:#0a5fb4;--k1:#b8430b;--k2:#147a4b;--k3:#8250df;--k4:#8a6100;--k5:#0b7285;--k6:#bf2b78;--k7:#57606a;
--l0:#cfe3fa;--l1:#fbdcc4;--l2:#cbeed8;--l3:#e8dafc;--l4:#f5e5ae;--l5:#c9edf2;
--g0:#e6f0fb;--g1:#fdeee2;--g2:#e6f6ec;--g3:#f3ecfd;
font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif}
@media (prefers-color-scheme:dark){
.st{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#767e88;--grid:#20262e;--bad:#ff7b72;--hot:#ffa657;
--wait:#d29922;--cs:#3fb950;--band:#2b2118;
--k0:#6cb0ff;--k1:#ff9d66;--k2:#56d08f;--k3:#c8a4ff;--k4:#e0b84d;--k5:#4fd0dd;--k6:#ff8fc2;--k7:#a9b4c0;
--l0:#1b436e;--l1:#693a1c;--l2:#1c5637;--l3:#4c347c;--l4:#5a4a12;--l5:#15545d;
--g0:#14233a;--g1:#2e2018;--g2:#14281d;--g3:#251d38}}
.st text{fill:var(--fg);font-size:11px}
.st .bg{fill:var(--bg)}
.st .t{font-size:15px;font-weight:600}
.st .p{font-size:12px;font-weight:600;text-anchor:end}
.st .dim,.st .tick{fill:var(--dim)}
.st .tick{font-size:10px;text-anchor:middle}
.st .grid{stroke:var(--grid);fill:none}
.st .lane{stroke:var(--line);stroke-width:1.4;fill:none}
.st .off{stroke:var(--line);stroke-width:1.2;stroke-dasharray:1 5;opacity:.7;fill:none}
.st .gap{stroke:var(--dim);stroke-width:1.2;fill:none}
.st .hole{fill:var(--bg)}
.st .m{stroke:currentColor;stroke-width:1.5;fill:none}
.st .again .m{stroke-width:.9}
.st .open{opacity:.45}
.st .h{fill:currentColor}
.st .ring{fill:var(--bg);stroke:currentColor;stroke-width:1.5}
.st .x{stroke:var(--bad);stroke-width:2.2;fill:none}
.st .l{font-size:10px;text-anchor:middle;fill:currentColor;stroke:var(--bg);stroke-width:3px;
stroke-linejoin:round;paint-order:stroke}
.st .n{font-size:9.5px;fill:var(--dim);stroke:var(--bg);stroke-width:3px;stroke-linejoin:round;
paint-order:stroke}
.st .b{font-size:9.5px;text-anchor:middle}
.st .self{stroke:var(--fg);stroke-width:1.3}
.st .wait{stroke:var(--wait);stroke-width:5;stroke-dasharray:2 2}
.st .cs{fill:var(--cs)}
.st .two{fill:none;stroke:var(--bad);stroke-width:2}
.st .pause{stroke:var(--hot);stroke-width:13;stroke-dasharray:1.5 3}
.st .slow{stroke:var(--hot);stroke-width:7;stroke-dasharray:1 5}
.st .fault{stroke:var(--hot);stroke-width:7;stroke-dasharray:5 1}
.st .late{stroke:var(--hot);stroke-width:4}
.st .mark{fill:var(--fg)}
.st .tri{fill:var(--dim)}
.st .hollow{fill:var(--bg);stroke:var(--fg);stroke-width:1.4}
.st .hot{fill:none;stroke:var(--hot);stroke-width:2.2}
.st .band{fill:var(--band)}
.st .edge{stroke:var(--hot);stroke-width:1;stroke-dasharray:3 3;fill:none}
`

// dashes tell the kinds of messages apart beside their colours. Their number and that
// of the colours have no common divisor.
var dashes = []string{"", "7 3", "2 2.5", "9 3 2 3", "4 2"}

const (
	kindColours   = 8
	leaderColours = 6
	groupColours  = 4
)
