import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  isAllowlisted,
  isSingleCommand,
  isTierZero,
  LONGEST_COMMAND,
  targetsOf,
} from "../../../src/core/context/read-only-command.ts";

const AT = "--context prod-eu -n shop";

test.each([
  { command: "kubectl get deploy", single: true },
  { command: "kubectl get 'a $b' \"c d\"", single: true },
  { command: "kubectl get 'a`b`'", single: true },
  { command: 'kubectl get "a\\$b"', single: true },
  { command: "helm list", single: true },
  { command: "kubectl get deploy | cat", single: false },
  { command: "kubectl get deploy; true", single: false },
  { command: "kubectl get deploy && true", single: false },
  { command: "kubectl get deploy &", single: false },
  { command: "kubectl get deploy > out", single: false },
  { command: "kubectl get deploy < in", single: false },
  { command: "(kubectl get deploy)", single: false },
  { command: "kubectl get $(echo a)", single: false },
  { command: "kubectl get `echo a`", single: false },
  { command: 'kubectl get "$(echo a)"', single: false },
  { command: 'kubectl get "`echo a`"', single: false },
  { command: 'kubectl get "it\'s $X"', single: false },
  { command: "kubectl get $X", single: false },
  { command: "kubectl get deploy\nrm x", single: false },
  { command: 'kubectl get "a\nb"', single: false },
  { command: "kubectl get 'a\rb'", single: false },
  { command: "kubectl get 'open", single: false },
  { command: "A=b kubectl get deploy", single: false },
  { command: "A+=b kubectl get deploy", single: false },
  ...["sudo", "env", "time", "nohup", "command", "exec", "writ"].map((wrapper) => ({
    command: `${wrapper} kubectl get deploy`,
    single: false,
  })),
  { command: "", single: false },
  { command: "  ", single: false },
])("isSingleCommand($command) is $single", ({ command, single }) => {
  expect(isSingleCommand(command)).toBe(single);
});

test.each([
  { command: "oc get deploy", zero: true },
  { command: "oc get templates", zero: true }, // not the whole word
  { command: "kubectl get template", zero: true }, // exempt
  { command: "  kubectl  get plan", zero: true },
  { command: "kubectl getx plan", zero: false },
  { command: "kubectl describe template", zero: false },
  ...["plan", "template", "diff", "validate", "lint", "check", "fmt"].map((word) => ({
    command: `oc get ${word}`,
    zero: false,
  })),
  { command: "oc get PLAN", zero: false },
  { command: "oc get a-plan-b", zero: false },
  { command: "oc get pl'an'", zero: false }, // as the shell reads it
  { command: "kubectl get deploy --dry-run", zero: false }, // no exemption from this
  { command: "kubectl get deploy --dry-run=server", zero: false },
  { command: "kubectl get deploy --dry'-run'", zero: false },
  { command: "oc get deploy --plan-only", zero: false },
])("isTierZero($command) is $zero", ({ command, zero }) => {
  expect(isTierZero(command)).toBe(zero);
});

const ALLOWED = [
  `kubectl get deploy ${AT}`,
  `kubectl get deploy api ${AT}`,
  `kubectl get deploy/api ${AT}`,
  `kubectl describe deploy api ${AT}`,
  `oc get route api ${AT}`,
  `kubectl get deploy.v1.apps api ${AT}`,
  `kubectl get clusterrole system:node ${AT}`,
  "kubectl get deploy --context=prod-eu --namespace=shop --output=json",
  "kubectl get deploy --namespace shop --output yaml --context arn:aws:eks:eu-west-1:1:cluster/prod",
  ...["json", "yaml", "wide", "name"].map((format) => `kubectl get deploy -o ${format} ${AT}`),
  "'kubectl' get deploy", // quoted, and the same word
  "gcloud run services list --project shop-prod",
  "gcloud run services describe api --project=shop-prod --region eu1",
  "gcloud compute instances describe vm --zone eu1-b --format yaml --project p",
  "gcloud compute --project p instances list",
  "gcloud storage buckets describe gs://shop --project p",
  ...["run", "container", "compute", "sql", "functions", "pubsub", "storage"].map((group) => `gcloud ${group} list`),
];

test.each(ALLOWED)("isAllowlisted(%s)", (command) => {
  expect(isAllowlisted(command)).toBe(true);
});

test.each([
  ["no resource", `kubectl get ${AT}`],
  ["three words", `kubectl get deploy api web ${AT}`],
  ["two resources", `kubectl get deploy/api deploy/web ${AT}`],
  ["a name twice", `kubectl get deploy/api web ${AT}`],
  ["a comma", `kubectl get deploy,svc ${AT}`],
  ["braces, which a shell expands", `kubectl get deploy api{1..2} ${AT}`],
  ["an option before the verb", "kubectl --context prod-eu get deploy -n shop"],
  ["another verb", `kubectl logs api ${AT}`],
  ["another program", `helm list ${AT}`],
  ["a path to the program", `/usr/bin/kubectl get deploy ${AT}`],
  ["a short option with its value glued on", "kubectl get deploy --context prod-eu -nshop"],
  ["a short option with an equals sign", "kubectl get deploy --context prod-eu -n=shop"],
  ["-ojson", `kubectl get deploy -ojson ${AT}`],
  ["another output", `kubectl get deploy -o jsonpath={.x} ${AT}`],
  ["another option", `kubectl get deploy -A ${AT}`],
  ["the end of options", `kubectl get deploy -- api ${AT}`],
  ["an option given twice", `kubectl get deploy ${AT} --context prod-us`],
  ["an option given twice in two spellings", `kubectl get deploy ${AT} --namespace shop`],
  ["an option without value", "kubectl get deploy -n shop --context"],
  ["an option with an empty value", "kubectl get deploy -n shop --context="],
  ["an option for a value", "kubectl get deploy --context -n shop"],
  ["gcloud alone", "gcloud"],
  ...["config", "auth", "projects", "alpha", "beta", "iam"].map((group) => [group, `gcloud ${group} list`] as const),
  ["an option before the group", "gcloud --project p run services list"],
  ["another verb of gcloud", "gcloud run services delete api --project p"],
  ["a verb whose name is list", "gcloud run services delete list --project p"],
  ["a shell on a machine named list", "gcloud compute ssh list --project p"],
  ["a verb of two words", "gcloud compute instances set-machine-type describe --project p"],
  ["a name behind list", "gcloud sql instances list db --project p"],
  ["two names behind describe", "gcloud sql instances describe db1 db2 --project p"],
  ["a name of another project", "gcloud compute instances describe projects/other/zones/z/instances/vm --project p"],
  ["a zone of another project", "gcloud compute instances describe vm --zone projects/other/zones/z --project p"],
  ["a path word with a digit", "gcloud run v2 list --project p"],
  ["another format", "gcloud run services list --project p --format value(name)"],
  ["another option of gcloud", "gcloud run services list --project p --quiet"],
  ["kubectl's option", "gcloud run services list --project p -n shop"],
  ["a command that is too long", `kubectl get deploy --context ${"a".repeat(LONGEST_COMMAND)} -n shop`],
  ["nothing", ""],
])("isAllowlisted() refuses %s", (_, command) => {
  expect(isAllowlisted(command)).toBe(false);
});

test.each([
  { command: `kubectl get deploy ${AT}`, targets: ["prod-eu", "shop"] },
  { command: "oc logs x --namespace=shop --context=prod-eu", targets: ["prod-eu", "shop"] },
  { command: `kubectl get deploy -l a=b ${AT} -A`, targets: ["prod-eu", "shop"] }, // whatever stands beside them
  { command: "gcloud beta run list --quiet --project shop-prod", targets: ["shop-prod"] },
  { command: "kubectl get deploy -n shop", targets: null },
  { command: "kubectl get deploy --context prod-eu", targets: null },
  { command: `kubectl get deploy ${AT} --context prod-us`, targets: null },
  { command: `kubectl get deploy ${AT} --context=prod-eu`, targets: null }, // twice the same is not once
  { command: `kubectl get deploy ${AT} --namespace shop`, targets: null },
  { command: `kubectl get deploy ${AT} -nother`, targets: null },
  { command: "kubectl get deploy --context prod-eu -nshop", targets: null },
  { command: "kubectl get deploy -n shop --context", targets: null },
  { command: "kubectl get deploy -n shop --context=", targets: null },
  { command: "kubectl get deploy -n --context prod-eu", targets: null },
  { command: "gcloud run services list", targets: null },
  { command: "gcloud run services list --project a --project b", targets: null },
  { command: `helm list ${AT}`, targets: null },
  { command: `sudo kubectl get deploy ${AT}`, targets: null },
  { command: `kubectl get deploy ${AT}; true`, targets: null },
  { command: "", targets: null },
])("targetsOf($command) is $targets", ({ command, targets }) => {
  expect(targetsOf(command)).toEqual(targets);
});

const word = fc.constantFrom(
  ..."kubectl oc gcloud get describe list run services deploy api --context --context=a -n shop -o json --project".split(
    " ",
  ),
  ..."'a b' \"$X\" $X | ; sudo A=b delete plan --dry-run -nshop {a,b} \\".split(" "),
);
const anyCommand = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(word, { maxLength: 10 }).map((words) => words.join(" ")),
);

test("the four questions answer for any text, and what is allowlisted is a single command", () => {
  fc.assert(
    fc.property(anyCommand, (command) => {
      expect(isTierZero(command)).toBeBoolean();
      expect(targetsOf(command)).not.toEqual([]);
      if (isAllowlisted(command)) expect(isSingleCommand(command)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
