CREATE TABLE send_backs (
  contract_id TEXT PRIMARY KEY,
  count INTEGER NOT NULL CHECK (count > 0),
  last_at TEXT NOT NULL
) STRICT;
