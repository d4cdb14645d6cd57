CREATE TABLE workspaces (
  name TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE briefs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace TEXT NOT NULL REFERENCES workspaces(name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'open',
  created_at TEXT NOT NULL,
  UNIQUE (workspace, name)
) STRICT;

CREATE TABLE plans (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  brief_id INTEGER NOT NULL UNIQUE REFERENCES briefs(id) ON DELETE CASCADE,
  status TEXT NOT NULL DEFAULT 'draft' CHECK (status IN ('draft','active','closed')),
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id INTEGER NOT NULL REFERENCES plans(id) ON DELETE CASCADE,
  order_num INTEGER NOT NULL,
  goal TEXT,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending','done','skipped')),
  UNIQUE (plan_id, order_num)
) STRICT;

CREATE TABLE task_gates (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  verification_type TEXT NOT NULL CHECK (verification_type IN ('command','code','semantic','self_review')),
  evidence_type TEXT,
  evidence_shape TEXT,
  artifact_path TEXT,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending','pass','fail')),
  settled_by_handoff_id INTEGER REFERENCES handoffs(id),
  settled_at TEXT
) STRICT;

CREATE TABLE handoffs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  contract_id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  agent_name TEXT,
  workspace TEXT NOT NULL REFERENCES workspaces(name) ON DELETE CASCADE,
  session_id TEXT,
  harness_agent_id TEXT,
  kind TEXT,
  brief_id INTEGER REFERENCES briefs(id),
  plan_id INTEGER REFERENCES plans(id),
  plan_task_id INTEGER REFERENCES tasks(id),
  parent_handoff_id INTEGER REFERENCES handoffs(id),
  continues_handoff_id INTEGER REFERENCES handoffs(id),
  goal TEXT,
  role TEXT,
  surface TEXT,
  project TEXT,
  project_path TEXT,
  goal_project_token TEXT,
  can_read TEXT,
  can_write TEXT,
  consolidation INTEGER NOT NULL DEFAULT 0,
  agent_state TEXT NOT NULL CHECK (agent_state IN
    ('DISPATCHED','IN_PROGRESS','APPROVAL_REQUEST','BLOCKED','NEEDS_INPUT','NEEDS_VERIFICATION','COMPLETE')),
  cut_reason TEXT,
  raw_handoff_json TEXT NOT NULL,
  conclusion TEXT,
  content_checks TEXT,
  update_contracts_refused TEXT,
  record_head TEXT,
  record_count INTEGER,
  created_at TEXT NOT NULL,
  closed_at TEXT
) STRICT;
CREATE INDEX handoffs_state   ON handoffs(agent_state);
CREATE INDEX handoffs_cut     ON handoffs(cut_reason) WHERE cut_reason IS NOT NULL;
CREATE INDEX handoffs_session ON handoffs(session_id);
CREATE INDEX handoffs_harness ON handoffs(harness_agent_id);
CREATE INDEX handoffs_task    ON handoffs(plan_task_id);
CREATE INDEX handoffs_parent  ON handoffs(parent_handoff_id);
CREATE UNIQUE INDEX handoffs_continues ON handoffs(continues_handoff_id) WHERE continues_handoff_id IS NOT NULL;

CREATE TABLE tool_bindings (
  contract_id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  bound_at TEXT NOT NULL
) STRICT;

CREATE TABLE tool_records (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  contract_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('run','hook')),
  harness TEXT,
  tool TEXT NOT NULL CHECK (tool IN ('bash','read','edit')),
  tool_use_id TEXT,
  command TEXT,
  argv TEXT,
  path TEXT,
  cwd TEXT,
  exit_code INTEGER,
  signal TEXT,
  failed INTEGER NOT NULL DEFAULT 0,
  exit_note TEXT,
  started_at TEXT,
  ended_at TEXT,
  output TEXT,
  tail TEXT,
  output_bytes INTEGER,
  output_sha256 TEXT,
  truncated INTEGER NOT NULL DEFAULT 0,
  ordered INTEGER NOT NULL DEFAULT 1,
  prev_digest TEXT NOT NULL,
  digest TEXT NOT NULL,
  UNIQUE (contract_id, seq)
) STRICT;
CREATE UNIQUE INDEX tool_records_use ON tool_records(contract_id, tool_use_id) WHERE tool_use_id IS NOT NULL;
CREATE INDEX tool_records_command ON tool_records(contract_id, command);

CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  contract_id TEXT NOT NULL,
  change_id INTEGER NOT NULL,
  at TEXT NOT NULL,
  pid INTEGER NOT NULL,
  verb TEXT NOT NULL,
  path TEXT NOT NULL,
  before TEXT,
  after TEXT,
  draft_sha256 TEXT NOT NULL,
  undoes INTEGER
) STRICT;
CREATE INDEX journal_contract ON journal(contract_id, change_id);

CREATE TABLE evidence (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  brief_id INTEGER NOT NULL REFERENCES briefs(id) ON DELETE CASCADE,
  ac_id TEXT NOT NULL,
  task_id INTEGER REFERENCES tasks(id),
  type TEXT NOT NULL CHECK (type IN ('text','file','command_output','url','screenshot')),
  polarity TEXT NOT NULL DEFAULT 'positive' CHECK (polarity IN ('positive','negative')),
  text TEXT,
  artifact_path TEXT,
  size_bytes INTEGER,
  created_by_agent TEXT,
  source_contract_id TEXT,
  source_entry_hash TEXT,
  created_at TEXT NOT NULL,
  CHECK ((text IS NULL) <> (artifact_path IS NULL)),
  UNIQUE (source_contract_id, source_entry_hash)
) STRICT;
CREATE INDEX evidence_ac ON evidence(brief_id, ac_id);

CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  agent_id TEXT,
  session_id TEXT,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending','approved','rejected','revoked','expired')),
  fingerprint TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at TEXT NOT NULL,
  decided_at TEXT,
  decided_by TEXT,
  reason TEXT
) STRICT;
CREATE UNIQUE INDEX approvals_pending ON approvals(fingerprint) WHERE status = 'pending';

CREATE TABLE context_sections (
  workspace TEXT NOT NULL REFERENCES workspaces(name) ON DELETE CASCADE,
  section TEXT NOT NULL,
  payload TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  updated_by TEXT,
  PRIMARY KEY (workspace, section)
) STRICT;

CREATE TABLE context_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace TEXT NOT NULL,
  section TEXT NOT NULL,
  before TEXT,
  after TEXT NOT NULL,
  proposal_id INTEGER,
  changed_by TEXT,
  changed_at TEXT NOT NULL
) STRICT;

CREATE TABLE proposals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  handoff_id INTEGER NOT NULL REFERENCES handoffs(id) ON DELETE CASCADE,
  contract_id TEXT NOT NULL,
  entry_index INTEGER NOT NULL,
  entry_hash TEXT NOT NULL,
  section TEXT NOT NULL,
  payload TEXT NOT NULL,
  drift TEXT,
  workspace TEXT NOT NULL,
  project TEXT,
  goal_project_token TEXT,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending','accepted','rejected','superseded')),
  failed_guards TEXT,
  decided_by TEXT,
  decided_at TEXT,
  decision_note TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (contract_id, entry_hash)
) STRICT;
CREATE INDEX proposals_status ON proposals(status);
