package timeline

// style is the style sheet of the page. Colours have names, with one value for light and one for dark
// screens, because the page cannot know where it is looked at. The left part of a row, the axis and the
// headings stick to the edges, so that names and times stay in sight while a large chart is scrolled. Groups
// fold by the details element, and print shows everything.
const style markup = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1d2430;--dim:#667085;--line:#e4e7ec;--soft:#f6f7f9;--head:#fff;--grid:#e9ecf1;
--window:#fde8b3;--edge:#dfa520;--call:#6d4c06;--renewal:#0b63ce;--bad:#d1242f;--badsoft:#fdebec;
--plan:#8793a6;--read:#3d8fd1;--create:#2b9a5b;--update:#c77d0a;--delete:#bf4a78;--provision:#8558c8;--configure:#0d8c8c;--other:#5b62d6;--evaluate:#5f6b63;
--wide:23rem;--num:4.9rem}
@media (prefers-color-scheme:dark){:root{--bg:#14171c;--fg:#e4e7ec;--dim:#98a2b3;--line:#2b313b;--soft:#1b1f26;--head:#14171c;--grid:#262b34;
--window:#4a3a12;--edge:#a57a1c;--call:#ecd08a;--renewal:#6cb0ff;--bad:#ff6b6b;--badsoft:#3a1d21;
--plan:#76849a;--read:#3d86c2;--create:#2f9b60;--update:#c0801d;--delete:#c2547f;--provision:#8f66cf;--configure:#179393;--other:#6a71e0;--evaluate:#7b877f}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.25rem 1.5rem 3rem;max-width:120rem;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.35rem;margin:0}
header p{margin:.15rem 0 .9rem;color:var(--dim)}
.defs{position:absolute}
.facts{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 1rem}
.facts div{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:.4rem .8rem;display:flex;flex-direction:column-reverse}
.facts dt{color:var(--dim);font-size:12px}
.facts dd{margin:0;font-size:1.15rem;font-weight:600;font-variant-numeric:tabular-nums}
.facts small{font-weight:400;font-size:12px;color:var(--dim)}
.facts .bad{background:var(--badsoft);border-color:var(--bad)}
.facts .bad dd{color:var(--bad)}
.none{padding:.8rem 1rem;background:var(--soft);border-radius:8px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:0 0 .6rem;padding:0;font-size:12px;color:var(--dim);align-items:center}
.legend li{display:flex;align-items:center;gap:.35rem}
.legend i{width:14px;height:12px;border-radius:2px;background:var(--c)}
.legend .sep{color:var(--fg)}
.legend i.window{background:var(--window);border:1px solid var(--edge)}
.legend i.renewal{width:3px}
.legend i.bad{background:var(--badsoft);border:2px solid var(--bad)}
.chart{overflow:auto;max-height:85vh;border:1px solid var(--line);border-radius:8px}
.plot{position:relative;min-width:62rem;padding-bottom:.5rem}
.grid{position:absolute;z-index:0;top:0;left:calc(var(--wide) + 2*var(--num) + 1.5rem);width:calc(100% - var(--wide) - 2*var(--num) - 2.5rem);height:100%}
.row{position:relative;display:grid;grid-template-columns:calc(var(--wide) + 2*var(--num) + 1.5rem) 1fr 1rem;align-items:center}
.row>svg{width:100%;display:block;overflow:visible;grid-column:2;pointer-events:none}
.row>svg *{pointer-events:auto}
.row:hover,.row:hover>.who{background-color:var(--soft)}
.who{position:sticky;left:0;z-index:2;display:flex;align-items:center;align-self:stretch;gap:.25rem;padding:0 .6rem 0 .75rem;background:var(--bg);border-right:1px solid var(--line);font-size:12.5px}
.name{flex:1;min-width:0;display:flex;white-space:nowrap;unicode-bidi:isolate}
.mod,.loc{overflow:hidden;text-overflow:ellipsis}
.mod{flex:0 50 auto;min-width:2rem;color:var(--dim)}
.loc{flex:0 1 auto}
.num{width:var(--num);text-align:right;font-variant-numeric:tabular-nums;color:var(--dim);white-space:nowrap}
em{font-style:normal;font-weight:400;color:var(--dim);margin-left:.6rem;white-space:nowrap}
.axis{position:sticky;top:0;z-index:4;background:var(--head);border-bottom:1px solid var(--line)}
.axis .who{align-items:end;padding-bottom:3px;color:var(--dim);font-size:12px;background:var(--head);z-index:5}
.axis .who b{font-weight:500}
.axis>svg text{font-size:11px;fill:var(--dim);font-variant-numeric:tabular-nums}
.axis>svg .phase{font-weight:600;fill:var(--fg)}
.axis>svg .bad{fill:var(--bad)}
.total{border-bottom:1px solid var(--line)}
.area{fill:var(--window);stroke:var(--edge);stroke-width:1;vector-effect:non-scaling-stroke}
.plot h2{position:relative;margin:0;font-size:12px;font-weight:600;color:var(--dim);background:var(--soft);border-block:1px solid var(--line)}
.plot h2 span{position:sticky;left:0;display:inline-block;padding:.25rem .75rem}
.plot h2:nth-of-type(n+2){margin-top:.4rem}
.plot summary{cursor:pointer;list-style:none;min-height:22px}
.plot summary .name::before{content:"▾";color:var(--dim);margin-right:.35rem}
.plot details:not([open]) summary .name::before{content:"▸"}
.plot summary .loc{font-weight:600}
.plot details .row:not(summary) .name{padding-left:1.1rem}
.dense .row{font-size:11.5px}
.dense .who{font-size:11.5px;line-height:1.2}
.tick{stroke:var(--grid)}
line.phase{stroke:var(--dim);stroke-dasharray:4 3}
.interrupt{stroke:var(--bad);stroke-dasharray:5 3;stroke-width:1.5}
.cut{fill:url(#hatch)}
.stripe{fill:var(--line)}
.plan{--c:var(--plan)}.read{--c:var(--read)}.create{--c:var(--create)}.update{--c:var(--update)}.delete{--c:var(--delete)}
.provision{--c:var(--provision)}.configure{--c:var(--configure)}.other{--c:var(--other)}.evaluate{--c:var(--evaluate)}
.call{--c:var(--call)}.renewal{--c:var(--renewal)}
rect{fill:var(--c);stroke:var(--c);stroke-width:1;rx:1.5px}
rect.window{fill:var(--window);stroke:var(--edge)}
rect.window.bad{stroke:var(--bad);stroke-dasharray:4 2}
rect.call.bad,rect.renewal.bad{fill:var(--bad);stroke:var(--bad)}
rect.bad:not(.window){stroke:var(--bad);stroke-width:2}
rect.use{stroke:var(--bg);stroke-opacity:.55}
rect.renewal{stroke-width:1.5;fill-opacity:.75}
rect.cut,rect.stripe{stroke:none}
rect:hover{filter:brightness(1.12)}
.in{font-size:10px;fill:#fff;pointer-events:none!important}
.deferred{fill:var(--bg);stroke:var(--fg);stroke-width:1.4}
.failed{fill:var(--bg);stroke:var(--bad);stroke-width:1.8;stroke-linecap:round}
.table{margin-top:1.2rem}
.table summary{cursor:pointer}
.table h2{display:inline;font-size:1rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin-top:.4rem;font-size:12.5px;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.18rem .9rem .18rem 0;border-bottom:1px solid var(--line);white-space:nowrap;font-weight:400}
thead th{color:var(--dim);font-weight:600;position:sticky;top:0;background:var(--bg)}
tbody th{max-width:40rem;overflow-wrap:anywhere;white-space:normal;min-width:16rem}
tr.bad td:last-child{color:var(--bad);font-weight:600}
@media (max-width:60rem){:root{--wide:11rem;--num:4.4rem}body{padding:1rem .75rem}}
@media print{.chart{max-height:none;overflow:visible;border:0}.axis,.who,.plot h2 span{position:static}}
`
