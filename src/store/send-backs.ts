/** The table `send_backs`: how often the stop gate has sent a turn back. */
import type { Database } from "bun:sqlite";
import type { SendBackTable } from "../core/contract/repository.ts";

export function sendBackTable(db: Database): SendBackTable {
  return {
    count: (contractId) =>
      db
        .query<{ count: number }, { id: string }>("SELECT count FROM send_backs WHERE contract_id = $id")
        .get({ id: contractId })?.count ?? 0,
    add: (contractId, at) => {
      db.query<never, { id: string; at: string }>(
        `INSERT INTO send_backs (contract_id, count, last_at) VALUES ($id, 1, $at)
         ON CONFLICT (contract_id) DO UPDATE SET count = count + 1, last_at = $at`,
      ).run({ id: contractId, at });
    },
  };
}
