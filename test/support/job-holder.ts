/** Fills the folder of a job, says so, and works in it until it is killed. Arguments: the folder of jobs, the id. */
import { jobFolder } from "../../src/host/job-folder.ts";

const [work = "", jobId = ""] = process.argv.slice(2);
jobFolder(work, jobId).fill([{ name: "a", text: "x" }]);
console.log("filled");
await Bun.stdin.text();
