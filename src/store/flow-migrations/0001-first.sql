-- One flow: one row of `flow`, five of `phases`, the tasks in their order.
CREATE TABLE flow (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  armed INTEGER NOT NULL CHECK (armed IN (0, 1)),
  reviewed INTEGER NOT NULL CHECK (reviewed IN (0, 1)),
  plan_path TEXT,
  plan_sha256 TEXT,
  spec_path TEXT,
  spec_sha256 TEXT,
  CHECK ((plan_path IS NULL) = (plan_sha256 IS NULL)),
  CHECK ((plan_path IS NULL) = (spec_path IS NULL)),
  CHECK ((plan_path IS NULL) = (spec_sha256 IS NULL))
) STRICT;
CREATE TABLE phases (
  name TEXT PRIMARY KEY CHECK (name IN ('brainstorm', 'plan', 'implement', 'verify', 'ship')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'complete', 'skipped')),
  reason TEXT CHECK (reason IS NULL OR status = 'skipped'),
  substep TEXT CHECK (substep IS NULL OR status = 'in_progress')
) STRICT;
-- At most one phase is in progress.
CREATE UNIQUE INDEX one_in_progress ON phases (status) WHERE status = 'in_progress';
CREATE TABLE tasks (
  place INTEGER PRIMARY KEY CHECK (place >= 0),
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'complete', 'failed', 'skipped'))
) STRICT;
CREATE TABLE mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  state_sha256 TEXT NOT NULL,
  brief_path TEXT,
  block_sha256 TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
-- Former flows, each whole as JSON: they are looked at and never changed.
CREATE TABLE archive (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  brief_path TEXT,
  flow TEXT NOT NULL
) STRICT;
