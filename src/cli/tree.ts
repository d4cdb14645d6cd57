/**
 * Every command of writ, as data: its place, one line about it, and how to load it.
 *
 * Nothing is imported until its command is called. A new command is one line here and one file, which
 * exports `command`; its summary is the `description` that the file declares.
 */
import type { Face, Nodes, Topics } from "./node.ts";

export const FACES: readonly Face[] = [
  {
    title: "A turn and its contract",
    commands: {
      dispatch: {
        summary: "Birth a turn: its row, its draft, and the block it is given",
        load: () => import("./dispatch.ts"),
      },
      run: { summary: "Run a command and record how it went", load: () => import("./run.ts") },
      record: {
        summary: "Record what a harness's hook reports on standard input",
        hook: true,
        load: () => import("./record.ts"),
        commands: {
          verify: { summary: "Recompute the chain of a turn's record", load: () => import("./record/verify.ts") },
        },
      },
      contract: {
        summary: "Edit, check and close the contract of a turn",
        commands: {
          init: {
            summary: "Start a draft for a turn that received no identity",
            load: () => import("./contract/init.ts"),
          },
          set: { summary: "Replace one field of the draft", load: () => import("./contract/set.ts") },
          add: { summary: "Extend a list of the draft by one entry", load: () => import("./contract/add.ts") },
          fill: {
            summary: "Merge a JSON object into the draft, never over a populated list",
            load: () => import("./contract/fill.ts"),
          },
          view: {
            summary: "Print the envelope of a draft, or one field of it",
            load: () => import("./contract/view.ts"),
          },
          validate: {
            summary: "Check the draft as it stands, or its close",
            load: () => import("./contract/validate.ts"),
          },
          finalize: {
            summary: "Close the turn: hold its claims against the record and keep the row",
            load: () => import("./contract/finalize.ts"),
          },
          list: { summary: "List turns, newest first", load: () => import("./contract/list.ts") },
          show: {
            summary: "Print one turn whole: its row, envelope, checks and record",
            load: () => import("./contract/show.ts"),
          },
          chain: {
            summary: "List the links of a continuation chain, oldest first",
            load: () => import("./contract/chain.ts"),
          },
          log: { summary: "List every change of an envelope, newest first", load: () => import("./contract/log.ts") },
          diff: {
            summary: "Show the net change of an envelope between two states",
            load: () => import("./contract/diff.ts"),
          },
          proposals: {
            summary: "Look at what turns proposed to project context",
            commands: {
              list: {
                summary: "List what turns proposed to project context, newest first",
                load: () => import("./contract/proposals/list.ts"),
              },
            },
          },
          undo: { summary: "Take one change of the draft back", load: () => import("./contract/undo.ts") },
          attest: {
            summary: "Export a closed turn and its record as a statement, or check one",
            load: () => import("./contract/attest.ts"),
          },
          prove: {
            summary: "Repeat a closed turn's verification in a fresh copy",
            load: () => import("./contract/prove.ts"),
          },
        },
      },
    },
  },
  {
    title: "What work is held to",
    commands: {
      evidence: {
        summary: "Record and look up citable evidence",
        commands: {
          add: {
            summary: "Record evidence under an acceptance criterion of a brief",
            load: () => import("./evidence/add.ts"),
          },
          list: { summary: "List the evidence of a brief, oldest first", load: () => import("./evidence/list.ts") },
          show: { summary: "Print one row of evidence whole", load: () => import("./evidence/show.ts") },
        },
      },
      approvals: {
        summary: "Ask for consent to commands, give it or refuse it",
        commands: {
          request: {
            summary: "Ask for consent to commands, and print the id of the request",
            load: () => import("./approvals/request.ts"),
          },
          list: {
            summary: "List requests for consent with their commands, newest first",
            load: () => import("./approvals/list.ts"),
          },
          grant: { summary: "Consent to a pending request", load: () => import("./approvals/grant.ts") },
          deny: { summary: "Refuse a pending request", load: () => import("./approvals/deny.ts") },
        },
      },
      context: {
        summary: "Keep project context, and decide on what turns propose to it",
        commands: {
          get: { summary: "Print a stored section of project context", load: () => import("./context/get.ts") },
          set: {
            summary: "Merge a JSON object into a section of project context",
            load: () => import("./context/set.ts"),
          },
          list: {
            summary: "List the sections of a workspace's project context",
            load: () => import("./context/list.ts"),
          },
          accept: {
            summary: "Merge what a turn proposed into project context",
            load: () => import("./context/accept.ts"),
          },
          reject: {
            summary: "Turn down what a turn proposed to project context",
            load: () => import("./context/reject.ts"),
          },
        },
      },
      task: {
        summary: "Keep briefs, their tasks and the gates that verifiers settle",
        commands: {
          brief: {
            summary: "Keep pieces of work with acceptance criteria",
            commands: {
              add: {
                summary: "Make a brief: a piece of work with acceptance criteria",
                load: () => import("./task/brief/add.ts"),
              },
              list: { summary: "List briefs, oldest first", load: () => import("./task/brief/list.ts") },
            },
          },
          add: { summary: "Put a task at the end of a brief's plan", load: () => import("./task/add.ts") },
          list: {
            summary: "List the tasks of a brief's plan and what their gates say",
            load: () => import("./task/list.ts"),
          },
          gate: {
            summary: "Keep and settle what a task is verified by",
            commands: {
              add: { summary: "Add a gate that a verifier settles", load: () => import("./task/gate/add.ts") },
              list: {
                summary: "List the gates of a task and what they say together",
                load: () => import("./task/gate/list.ts"),
              },
              set: { summary: "Settle a gate; its task follows", load: () => import("./task/gate/set.ts") },
            },
          },
          set: { summary: "Set the status of a task by hand", load: () => import("./task/set.ts") },
        },
      },
    },
  },
  {
    title: "Delegation",
    commands: {
      template: {
        summary: "Start delegation contracts from what can be copied",
        commands: {
          list: {
            summary: "List the delegation contracts that can be copied",
            load: () => import("./template/list.ts"),
          },
          show: {
            summary: "Print a delegation contract that can be copied",
            load: () => import("./template/show.ts"),
          },
          new: { summary: "Start a delegation contract from a template", load: () => import("./template/new.ts") },
        },
      },
      lint: {
        summary: "Check delegation contracts, and what their checks would prove",
        load: () => import("./lint.ts"),
      },
      grade: { summary: "Grade a saved answer by the checks of its contract", load: () => import("./grade.ts") },
      delegate: {
        summary: "Send delegation contracts to model seats and grade what comes back",
        load: () => import("./delegate.ts"),
      },
      runs: {
        summary: "Look at what past delegations returned",
        commands: {
          list: { summary: "List past delegations, newest first", load: () => import("./runs/list.ts") },
          show: {
            summary: "Print the result of a past delegation, or a part of it",
            load: () => import("./runs/show.ts"),
          },
          recover: {
            summary: "Collect what a delegation that was cut short left at nodes",
            load: () => import("./runs/recover.ts"),
          },
        },
      },
      node: {
        summary: "Serve this machine's seats to others, and look at nodes",
        commands: {
          serve: {
            summary: "Serve this machine's seats to other machines, as a node",
            load: () => import("./node/serve.ts"),
          },
          status: { summary: "Show how a node is, as it says itself", load: () => import("./node/status.ts") },
          quarantine: {
            summary: "Look at the nodes that this machine passes over",
            commands: {
              list: {
                summary: "List the nodes that answered about other documents",
                load: () => import("./node/quarantine/list.ts"),
              },
              clear: {
                summary: "Forget that nodes answered about other documents",
                load: () => import("./node/quarantine/clear.ts"),
              },
            },
          },
        },
      },
      gate: {
        summary: "Prove fixtures, and what came back",
        commands: {
          apply: {
            summary: "Apply the diff of a result to a folder of yours, all of it or nothing",
            load: () => import("./gate/apply.ts"),
          },
          check: { summary: "Check a gate file, running nothing of it", load: () => import("./gate/check.ts") },
          fixtures: {
            summary: "Prove that contracts kept as fixtures are what they claim",
            load: () => import("./gate/fixtures.ts"),
          },
          parallel: { summary: "Prove that a busy seat is waited for", load: () => import("./gate/parallel.ts") },
          run: { summary: "Run a gate that is written as data", load: () => import("./gate/run.ts") },
          "write-door": {
            summary: "Prove the diffs of a place on fresh copies, task by task",
            load: () => import("./gate/write-door.ts"),
          },
          pin: {
            summary: "Write the present SHA-256 of each digest set into the manifest",
            load: () => import("./gate/pin.ts"),
          },
        },
      },
      seat: {
        summary: "Play model seats without a model",
        commands: {
          serve: {
            summary: "Serve a seat that plays a script instead of a model",
            load: () => import("./seat/serve.ts"),
          },
        },
      },
    },
  },
  {
    title: "Flows and handoffs",
    commands: {
      phase: {
        summary: "Move a flow through its five phases",
        commands: {
          status: {
            summary: "Show the five phases of this worktree's flow",
            load: () => import("./phase/status.ts"),
          },
          start: { summary: "Put a phase in progress", load: () => import("./phase/start.ts") },
          complete: { summary: "Complete a phase", load: () => import("./phase/complete.ts") },
          skip: { summary: "Skip a phase, with the reason why", load: () => import("./phase/skip.ts") },
          substep: { summary: "Say where in a phase the work is", load: () => import("./phase/substep.ts") },
          observe: {
            summary: "Record that an agent was dispatched and how it ended",
            load: () => import("./phase/observe.ts"),
          },
          reset: { summary: "Put every phase back to pending", load: () => import("./phase/reset.ts") },
        },
      },
      plan: {
        summary: "Keep the tasks of a flow, and check the plan that they come from",
        commands: {
          status: { summary: "Show the tasks of this worktree's flow", load: () => import("./plan/status.ts") },
          init: { summary: "Set the task list, in place of what was there", load: () => import("./plan/init.ts") },
          add: { summary: "Add pending tasks at the end of the list", load: () => import("./plan/add.ts") },
          update: { summary: "Set the status of a task", load: () => import("./plan/update.ts") },
          clear: { summary: "Empty the task list", load: () => import("./plan/clear.ts") },
          check: { summary: "Hold a plan against its spec and its checkout", load: () => import("./plan/check.ts") },
          repair: {
            summary: "Repair the anchors, quotes and paths of a plan, and nothing else",
            load: () => import("./plan/repair.ts"),
          },
        },
      },
      brief: {
        summary: "Look at handoff briefs",
        commands: {
          check: {
            summary: "Say everything that is wrong with a handoff brief",
            load: () => import("./brief/check.ts"),
          },
          show: { summary: "Print what a handoff brief says", load: () => import("./brief/show.ts") },
        },
      },
      handoff: {
        summary: "Write a brief by which a fresh session goes on with this flow",
        load: () => import("./handoff.ts"),
      },
      resume: {
        summary: "Go on with a flow from its handoff brief",
        load: () => import("./resume.ts"),
      },
    },
  },
  {
    title: "Looking",
    commands: {
      board: {
        summary: "Show turns, their evidence and their records as a local page",
        load: () => import("./board.ts"),
      },
    },
  },
  {
    title: "writ itself",
    commands: {
      hooks: {
        summary: "Feed writ from the hooks of a harness",
        commands: {
          install: {
            summary: "Put writ's hooks into the settings of a harness",
            load: () => import("./hooks/install.ts"),
          },
          uninstall: {
            summary: "Take writ's hooks out of the settings of a harness",
            load: () => import("./hooks/uninstall.ts"),
          },
          print: {
            summary: "Print the settings that feed writ from a harness",
            load: () => import("./hooks/print.ts"),
          },
        },
      },
      config: {
        summary: "Say where model seats and nodes are, and what delegation may take",
        commands: {
          show: {
            summary: "Show the config in effect, and where each value comes from",
            load: () => import("./config/show.ts"),
          },
          check: {
            summary: "Check the config and the variables that stand for keys of it",
            load: () => import("./config/check.ts"),
          },
          init: {
            summary: "Write a first config, with a seat for each model server that answers",
            load: () => import("./config/init.ts"),
          },
        },
      },
      mcp: {
        summary: "Serve writ's tools to an MCP client over standard input and output",
        load: () => import("./mcp.ts"),
      },
      doctor: { summary: "Say what is set up and what works", load: () => import("./doctor.ts") },
      key: {
        summary: "Make keys that sign statements",
        commands: {
          new: { summary: "Make an Ed25519 key pair", load: () => import("./key/new.ts") },
        },
      },
      docs: {
        summary: "Print a page of the documentation, or list the pages",
        load: () => import("./docs.ts"),
        commands: {
          schema: { summary: "Print a published JSON Schema, or list them", load: () => import("./docs/schema.ts") },
        },
      },
      completions: {
        summary: "Print a completion script for a shell",
        // This one command is about the tree itself.
        load: async () => ({ command: (await import("./completions.ts")).completionsOf(TREE, TOPICS) }),
      },
      version: {
        summary: "Print the versions of writ, Bun and SQLite",
        load: () => import("./version.ts"),
      },
    },
  },
];

/** What `writ help WORD` tells of besides commands. */
export const TOPICS: Topics = {
  envelope: {
    summary: "What a turn writes, and what its close needs",
    load: () => import("./topic/envelope.ts"),
  },
  skill: {
    summary: "The skill file for an agent: a turn, a delegation, a handoff",
    load: () => import("./topic/skill.ts"),
  },
};

/** The command lines that `writ --help` opens with. */
export const EXAMPLES: readonly string[] = [
  'writ dispatch --agent fixer --goal "Fix the login test"',
  'writ contract set conclusion "The login test passes"',
];

/** All faces' commands in one table. */
export const TREE: Nodes = Object.assign({}, ...FACES.map((face) => face.commands));

const RUN_OR_RUNS =
  '"writ run -- CMD" runs a command under capture, for a turn; "writ runs list" shows what delegations returned';
const WHAT_CHECKS =
  '"writ lint FILE" judges a delegation contract, "writ grade FILE --result ANSWER" an answer, "writ contract validate" a draft, "writ gate check FILE" a gate file, "writ config check" the config, "writ plan check" and "writ brief check" plans and briefs';
const TURN_OR_DELEGATION =
  '"writ contract" is the contract of a turn; a delegation contract is a file: "writ lint FILE", "writ template new NAME", "writ delegate --contract FILE"';
const SEATS =
  'Seats are configured ("writ config init"), tried ("writ doctor --seat NAME"), or played ("writ seat serve --script FILE")';

/**
 * What is typed for something else that looks like it, and the hint that says which is which. A row counts only where
 * its words are no command; `FILE` stands for a word that names a file, `*` for any word.
 *
 * Source: delegation run, section 1.7
 */
export const MISPLACED: Readonly<Record<string, string>> = {
  "brief add": 'Did you mean "writ task brief add"?',
  "plan create": 'Did you mean "writ task add"?',
  "run list": RUN_OR_RUNS,
  "run show": RUN_OR_RUNS,
  "runs --": RUN_OR_RUNS,
  check: WHAT_CHECKS,
  validate: WHAT_CHECKS,
  "contract FILE": TURN_OR_DELEGATION,
  "contract lint": TURN_OR_DELEGATION,
  "contract check": TURN_OR_DELEGATION,
  "contract delegate": TURN_OR_DELEGATION,
  "contract grade": '"writ grade FILE --result ANSWER" judges a saved answer by a delegation contract',
  "gate FILE": 'Did you mean "writ gate run FILE"?',
  "task gate *": '"writ task gate" keeps the gates of a task in the store; "writ gate" proves diffs and places',
  seat: SEATS,
  "seat *": SEATS,
  seats: SEATS,
  serve: 'Did you mean "writ node serve", "writ seat serve" or "writ mcp"?',
};
