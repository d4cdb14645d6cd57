import Ajv2020 from "ajv/dist/2020";
import fc from "fast-check";
import { lintSchema } from "../../../src/core/schema/lint.ts";
import { judgeText } from "../../../src/core/schema/validate.ts";
import { anyJudgedSchema, smallObject } from "../../support/schemas.ts";
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
const dis:string[]=[]; let n=0, v=0, lintNo=0; const seen=new Map<string,number>();
const end=Date.now()+150000;
const out=fc.check(fc.property(anyJudgedSchema(), smallObject(), (judged, value) => {
  if(Date.now()>end) return;
  const schema:any = { properties: { a: judged, b: {}, c: {} }, $defs: judged.$defs };
  if (lintSchema(schema).length > 0) { lintNo++; return; }
  n++;
  const ok = ajv.compile(schema)(value) === true; ajv.removeSchema();
  if(ok) v++;
  for (const k of Object.keys(judged)) seen.set(k,(seen.get(k)??0)+1);
  const errs=judgeText(JSON.stringify(value), schema);
  if ((errs.length===0)!==ok) { dis.push(JSON.stringify([Object.fromEntries(Object.entries(judged).filter(([k])=>k!=='$defs')),value.a,ok,errs.slice(0,1)])); }
}),{numRuns:40000});
console.log(out.failed, JSON.stringify(out.counterexample), String((out as any).errorInstance).slice(0,300), n,v,lintNo, [...seen].join(" "));

console.log(dis.length); for(const d of dis.sort((a,b)=>a.length-b.length).slice(0,25)) console.log(d);
