package svg

// style has the colours of both themes. Each colour has one meaning in all pictures: blue changes by itself, red needs a
// person, green and grey need nothing.
const style = `
:root{color-scheme:light dark;--paper:#f3f6f5;--sheet:#fff;--sunk:#e9eeed;--line:#dbe2e1;--edge:#78898e;--ink:#10201f;--ink2:#3c4e54;` +
	`--water:#00648f;--soft:#dceff5;--wet:#2b8fb0;--done:#2c6a48;--fail:#ad1424;--failsoft:#fce8e6;--still:#515a66;--gone:#5a1a4e;--none:#5f6c68;--on:#fff}
@media (prefers-color-scheme:dark){:root{--paper:#0c1315;--sheet:#131c1f;--sunk:#0a1012;--line:#253337;--edge:#66797f;--ink:#e8efee;--ink2:#b9c7c9;` +
	`--water:#5cc2ee;--soft:#10323e;--wet:#3d9dbd;--done:#86cba4;--fail:#f2776e;--failsoft:#3c1a1a;--still:#b3bac4;--gone:#d58ac8;--none:#8b9a96;--on:#0b1214}}
text{font:12px Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif;fill:var(--ink);unicode-bidi:isolate;white-space:pre}
.head{font-size:15px;font-weight:600}.name{font-weight:500}.note{font-size:11px;fill:var(--ink2)}
.code{font:11px ui-monospace,"SF Mono","JetBrains Mono","Cascadia Mono",Menlo,Consolas,"Liberation Mono",monospace}
.paper{fill:var(--paper)}.rule{stroke:var(--line);fill:none}
.frame{stroke:var(--edge);stroke-dasharray:4 3}.f0{fill:var(--sunk)}.f1{fill:var(--paper)}.bed{stroke:none}
.line{fill:none;stroke:var(--edge)}.data{stroke-dasharray:2 3}.made{stroke-dasharray:6 3}.line.wet{stroke:var(--wet);stroke-width:2}
.tip{fill:var(--edge)}.tip.wet{fill:var(--wet)}
.box{fill:var(--sheet);stroke:var(--edge)}.gate .box{stroke:var(--line)}.label .box{fill:var(--paper);stroke:var(--line)}.dot circle{fill:var(--edge)}
.s-running .box{fill:var(--soft);stroke:var(--water);stroke-width:1.5}.s-ready .box{stroke:var(--water);stroke-width:1.5}
.s-failed .box{fill:var(--failsoft);stroke:var(--fail);stroke-width:1.5}
.s-idle .box,.s-pending .box{fill:var(--paper);stroke-dasharray:2 2.5}.s-aborted .box{fill:var(--paper);stroke:var(--gone);stroke-dasharray:5 3}
.s-skipped .box{fill:var(--paper);stroke:var(--line)}
.s-gate .box{stroke-dasharray:5 3}.s-event .box{fill:var(--soft)}.s-effect .box{stroke-dasharray:5 3}
.mark{color:var(--still);fill:none;stroke:currentColor}.solid{fill:currentColor;stroke:none}.cut{stroke:var(--on)}
.m-running,.m-ready{color:var(--water)}.m-completed{color:var(--done)}.m-failed{color:var(--fail)}.m-aborted{color:var(--gone)}.m-idle,.m-pending,.m-skipped{color:var(--none)}
.m-gate,.m-stack,.m-dot{color:var(--edge)}
`

// known has the classes with a look of their own.
var known = map[string]bool{
	"failed": true, "running": true, "ready": true, "waiting": true, "idle": true, "pending": true, "completed": true, "skipped": true,
	"aborted": true, "paused": true, "gate": true, "event": true, "effect": true,
}

// marks has the marks of the statuses and of the legend, in a square of 16 points. Their outlines differ, so that they can be
// recognised without colour.
var marks = map[string]string{
	"idle":    idle,
	"pending": idle,
	"waiting": `<rect x="2.75" y="2.75" width="10.5" height="10.5" rx="2" stroke-width="1.5"/><path class="solid" d="M5 9h6v2H5z"/>`,
	"ready":   `<path d="M2.75 2v9.25a2 2 0 0 0 2 2h6.5a2 2 0 0 0 2-2V2" stroke-width="1.5"/><path class="solid" d="M5 4.5h6V11H5z"/>`,
	"running": `<circle cx="8" cy="8" r="6.25" stroke-width="1.5"/><path class="solid" d="M1.8 8c2-1.6 4.2-1.6 6.2 0s4.2 1.6 6.2 0a6.2 6.2 0 0 1-12.4 0z"/>`,
	"completed": `<circle class="solid" cx="8" cy="8" r="7"/>` +
		`<path class="cut" d="M4.8 8.300l2.2 2.2 4.2-4.6" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/>`,
	"failed": `<path class="solid" d="M8 .2 15.8 8 8 15.8.2 8z"/>` +
		`<path class="cut" d="M6.1 6.100l3.8 3.800M9.9 6.100l-3.8 3.8" stroke-width="1.350" stroke-linecap="round"/>`,
	"aborted": `<circle cx="8" cy="8" r="6.250" stroke-width="1.5"/><path d="M4.8 8h6.4" stroke-width="2.2"/>`,
	"skipped": `<path d="M2 10.500c1.5-5 8-6 10.5-1.2" stroke-width="1.5" stroke-linecap="round"/>` +
		`<path d="M13.4 5.600v4.400H9" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/><circle class="solid" cx="7.5" cy="12" r="1.4"/>`,
	"paused": `<path d="M5.5 3.500v9M10.5 3.500v9" stroke-width="2.5" stroke-linecap="round"/>`,
	"gate":   `<path d="M3 1.500v13M13 1.500v13" stroke-width="2.5"/><path class="solid" d="M4 2.500h8v4.500H4z"/>`,
	"stack":  `<rect x="1.5" y="3.5" width="13" height="7" rx="1.5"/><path d="M3 12.500h10"/>`,
	"dot":    `<circle class="solid" cx="8" cy="8" r="4"/>`,
}

const idle = `<rect x="2.75" y="2.75" width="10.5" height="10.5" rx="2" stroke-width="1.5" stroke-dasharray="2 1.75"/>`
