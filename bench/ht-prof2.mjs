const [mod,name,n='20000',fl='64']=process.argv.slice(2);
const { contenders } = await import(mod);
import { smallInput } from "/work/h/tools/bench/runtime/messages.mjs";
import { mkdtempSync } from "node:fs";
const c = contenders.find((x)=>x.name===name);
const run = await c.start(mkdtempSync("/tmp/ht-prof-"));
const go = async (count, inFlight)=>{let left=count;await Promise.all(Array.from({length:inFlight},async()=>{while(left-->0)await run.call(smallInput)}))};
await go(+n,+fl);
for (let i=0;i<3;i++){
const t=performance.now(); const u=process.cpuUsage(); await go(+n,+fl); const e=process.cpuUsage(u);
console.log(name, ((performance.now()-t)/n*1000).toFixed(1), 'us/call wall; cpu', (e.user/n).toFixed(1), 'user', (e.system/n).toFixed(1),'sys');}
process.exit(0);
