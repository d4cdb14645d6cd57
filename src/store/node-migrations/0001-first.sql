CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL UNIQUE,
  contract_sha256 TEXT NOT NULL,
  seat TEXT NOT NULL,
  label TEXT NOT NULL,
  origin TEXT NOT NULL,
  deadline_sec INTEGER NOT NULL CHECK (deadline_sec >= 0),
  wall_sec INTEGER NOT NULL CHECK (wall_sec > 0),
  estimate_tokens INTEGER NOT NULL CHECK (estimate_tokens >= 0),
  state TEXT NOT NULL DEFAULT 'accepted' CHECK (state IN ('accepted', 'running', 'done', 'error', 'canceled')),
  rev INTEGER NOT NULL DEFAULT 1,
  restarts INTEGER NOT NULL DEFAULT 0,
  reaped INTEGER NOT NULL DEFAULT 0 CHECK (reaped IN (0, 1)),
  -- Runs again: before everything that was accepted and never ran.
  at_head INTEGER NOT NULL DEFAULT 0 CHECK (at_head IN (0, 1)),
  -- Of the time that the node has served, in milliseconds.
  accepted_ms INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  queued_ms INTEGER NOT NULL DEFAULT 0,
  running_ms INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  CHECK ((state = 'error') = (error IS NOT NULL))
) STRICT;
-- Apart from their jobs: a row is rewritten whole when a state changes, and these are large. The result comes first: where
-- there is none yet, nothing of the contract is read to see that.
CREATE TABLE job_texts (
  seq INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
  result TEXT,
  contract TEXT
) STRICT;
CREATE INDEX jobs_waiting ON jobs (state, at_head DESC, seq);
-- How long the node has served, over all its starts.
CREATE TABLE served (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  ms INTEGER NOT NULL
) STRICT;
INSERT INTO served (id, ms) VALUES (1, 0);
